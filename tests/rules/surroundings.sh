#!/bin/bash
# Programs of tests in surroundings other than those they were written in:  surroundings.sh [--together] PROGRAM[=CASES]...
# with a wide font, another locale, a time zone 5:45 off, no screen, a user without rights, and every processor busy, all of it at
# once. CASES are patterns of Catch, separated by commas. What cannot be had here is said and left out. The processors are busy with
# loops; with --together, which is for whole suites, with the programs: they run at the same time. Ends within two minutes, with --together
# four, whatever happens.
set -euo pipefail
together=''
[[ ${1:-} != --together ]] || { together=yes; shift; }
[[ $# -gt 0 ]] || { sed -n '2,6s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
deadline=115  # seconds
[[ -z $together ]] || deadline=235

# Every letter is as wide as the widest: tests/fonts.conf with its other family.
surroundings=(TZ=Asia/Kathmandu)
sed 's/DejaVu Sans</DejaVu Sans Mono</; s|<cachedir prefix="xdg">.*|<cachedir>'"$PWD"'/fonts</cachedir>|' \
    "$(dirname "${BASH_SOURCE[0]}")/../fonts.conf" >fonts.conf
mkdir -p fonts
font=$(FONTCONFIG_FILE=$PWD/fonts.conf fc-match -f '%{file}' sans 2>/dev/null || true)
surroundings+=("FONTCONFIG_FILE=$PWD/fonts.conf")
echo "font: ${font##*/}"

# One that writes 1,5: as it is installed, else made here; else at least another set of characters.
locale=$(locale -a 2>/dev/null | grep -m 1 -E '^(de|fr|es|it|nl|pl|ru)_' || true)
if [[ -z $locale ]]; then
    [[ -d de_DE.UTF-8 ]] || localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" >/dev/null 2>&1 || rm -rf "$PWD/de_DE.UTF-8"
    [[ ! -d de_DE.UTF-8 ]] || { locale=de_DE.UTF-8 && surroundings+=("LOCPATH=$PWD"); }
fi
surroundings+=("LC_ALL=${locale:-C}" LANGUAGE=)
echo "locale: ${locale:-C}"

# Nobody, where we are root and nobody may read what the tests read.
home=$PWD/home
mkdir -p "$home"
user=()
if [[ $(id -u) != 0 ]]; then
    echo "user: $(id -un)"
elif ! command -v setpriv >/dev/null; then
    echo "user: root, there is no setpriv"
else
    user=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
    chmod 777 "$home" .
    chmod 777 fonts
    if "${user[@]}" test -x "${1%%=*}" -a -r "${BASH_SOURCE[0]}" -a -w "$home"; then
        echo "user: nobody"
    else
        echo "user: root, nobody else may read this folder"
        user=()
    fi
fi
surroundings+=("HOME=$home" "XDG_CONFIG_HOME=$home" "XDG_RUNTIME_DIR=$home" TMPDIR=/tmp)

started=()
trap '[[ ${#started[@]} -eq 0 ]] || kill "${started[@]}" 2>/dev/null || true' EXIT
if [[ -n $together ]]; then
    echo "load: $# programs at once"
else
    for ((each = 0; each < $(nproc); ++each)); do
        (while :; do :; done) &
        started+=($!)
    done
    echo "load: a busy loop on each of ${#started[@]} processors"
fi

# run PROGRAM[=CASES]: says how it went.
run() {
    local program=${1%%=*} log cases=() code=0 began=$SECONDS
    log=${program##*/}.log
    [[ $1 == "$program" ]] || cases=("${1#*=}")
    env -u DISPLAY -u WAYLAND_DISPLAY -u COLUMNS "${surroundings[@]}" timeout --kill-after=3 "$((deadline > SECONDS ? deadline - SECONDS : 1))" \
        "${user[@]}" "$program" "${cases[@]}" >"$log" 2>&1 </dev/null || code=$?
    if [[ $code == 0 ]]; then
        echo "${program##*/}: $(tail -n 2 "$log" | tr -s '\n' ' ')in $((SECONDS - began)) s"
        return
    fi
    tail -n 60 "$log"
    [[ $code != 124 ]] || echo "it was ended: $deadline seconds are over"
    echo "FAILED: ${program##*/} ended with $code; all it said is in $PWD/$log"
    return 1
}

failed=0
if [[ -n $together ]]; then
    for each in "$@"; do
        run "$each" &
        started+=($!)
    done
    for each in "${started[@]}"; do wait "$each" || failed=1; done
    started=()
else
    for each in "$@"; do run "$each" || failed=1; done
fi
exit $failed
