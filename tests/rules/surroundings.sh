#!/bin/bash
# Programs of tests in surroundings other than those they were written in:  surroundings.sh PROGRAM[=CASES]...
# with another font, another locale, a time zone half an hour off, no screen, a user without rights, and every processor busy, all
# of it at once. CASES are patterns of Catch, separated by commas. What cannot be had here is said and left out. Ends within two
# minutes, whatever happens.
set -euo pipefail
[[ $# -gt 0 ]] || { sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
deadline=115  # seconds
failed=0

# A font that is not the one everybody gets: that one cannot be had.
surroundings=(TZ=Asia/Kolkata)
cat >fonts.conf <<END
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include>/etc/fonts/fonts.conf</include>
  <cachedir>$PWD/fonts</cachedir>
  <selectfont><rejectfont>
    <pattern><patelt name="family"><string>$(fc-match -f '%{family[0]}' sans 2>/dev/null || true)</string></patelt></pattern>
  </rejectfont></selectfont>
</fontconfig>
END
mkdir -p fonts
other=$(FONTCONFIG_FILE=$PWD/fonts.conf fc-match -f '%{file}' sans 2>/dev/null || true)
if [[ -n $other ]]; then
    surroundings+=("FONTCONFIG_FILE=$PWD/fonts.conf")
    echo "font: ${other##*/}"
else
    echo "font: the usual one, there is no other here"
fi

# One that writes 1,5 if there is one; else at least another set of characters.
locale=$(locale -a 2>/dev/null | grep -m 1 -E '^(de|fr|es|it|nl|pl|ru)_' || true)
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

loops=()
trap '[[ ${#loops[@]} -eq 0 ]] || kill "${loops[@]}" 2>/dev/null || true' EXIT
for ((each = 0; each < $(nproc); ++each)); do
    (while :; do :; done) &
    loops+=($!)
done
echo "load: a busy loop on each of ${#loops[@]} processors"

for each in "$@"; do
    program=${each%%=*}
    log=${program##*/}.log
    cases=()
    [[ $each == "$program" ]] || cases=("${each#*=}")
    code=0
    began=$SECONDS
    env -u DISPLAY -u WAYLAND_DISPLAY -u COLUMNS "${surroundings[@]}" timeout --kill-after=3 "$((deadline > SECONDS ? deadline - SECONDS : 1))" \
        "${user[@]}" "$program" "${cases[@]}" >"$log" 2>&1 </dev/null || code=$?
    if [[ $code == 0 ]]; then
        echo "${program##*/}: $(tail -n 2 "$log" | tr -s '\n' ' ')in $((SECONDS - began)) s"
    else
        failed=1
        tail -n 60 "$log"
        [[ $code != 124 ]] || echo "it was ended: two minutes are over"
        echo "FAILED: ${program##*/} ended with $code; all it said is in $PWD/$log"
    fi
done
exit $failed
