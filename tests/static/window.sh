#!/bin/bash
# The folder of the window (packaging/static/window) where nothing of it is: in the oldest Debian that can be had here, without a font,
# a library of Qt or X, as a user without rights, driven by keys on a screen outside of it. What it shows, writes and maps is looked at.
#
#   window.sh [ARCHIVE [FOLDER]]    without ARCHIVE it is made; FOLDER keeps the empty Debian and the pictures (default: build/static/window)
#
# Needs root. Exits with 77 where it cannot be done.
set -euo pipefail
me=$(readlink -f "${BASH_SOURCE[0]}")
here=$(dirname "$me")
checkout=$(readlink -f "$here/../..")
fail() { echo "FAILED: $*"; exit 1; }

# On the screen that xvfb-run made.
kPatience=600  # looks, ten a second: the first start reads every font
until_true() {  # COMMAND...
    for ((look = 0; look < kPatience; ++look)); do "$@" >/dev/null 2>&1 && return; kill -0 "$pid" 2>/dev/null || fail "the window ended: $(cat "$place/said")"; sleep 0.1; done
    picture failed
    fail "never true: $*; $(cat "$place/said")"
}
# Commands in front of which this stands run as nobody, with nothing of this machine's but the screen.
set_inside() {
    inside=(chroot --userspec=65534:65534 "$root" /usr/bin/env -i HOME=/srv/home XDG_RUNTIME_DIR=/srv/home/run PATH=/usr/bin:/bin
        DISPLAY="${DISPLAY:-}" XAUTHORITY=/srv/home/authority)
}
find_window() { xdotool search --onlyvisible --name "$1"; }
shut() { ! find_window . | grep -qx "$1"; }
focus() {  # TITLE; sets window
    until_true find_window "$1"
    window=$(find_window "$1" | tail -n 1)
    xdotool windowfocus --sync "$window"
    sleep 0.5
}
press() { xdotool key --clearmodifiers --delay 60 "$@"; sleep 0.3; }
answer() { focus "$1"; xdotool type --clearmodifiers --delay 20 "$2"; press Return; until_true shut "$window"; focus "$title"; }  # TITLE TEXT
picture() { python3 "$here/screen.py" picture "$place/screen/Xvfb_screen0" "$place/$1.png"; }
exported() {  # FIRST-LETTER FILE EXPECTED: which packets, where to, what screen.py says of them
    press ctrl+shift+e
    answer 'Export packets' "$1"
    answer 'Export packets' "/srv/home/$2"
    until_true python3 "$here/screen.py" same "$checkout/captures/loss_write/capture.pcap" "$root/srv/home/$2" "$3"
}
drawn() { [[ $(python3 "$here/screen.py" colours "$1") -ge 8 ]]; }
on_screen() {
    place=$1 root=$2 program=$3
    install -o 65534 -g 65534 -m 600 "$XAUTHORITY" "$root/srv/home/authority"
    set_inside
    "${inside[@]}" "$program" --theme light --view packets /srv/capture.pcap >"$place/said" 2>&1 & pid=$!
    # shellcheck disable=SC2064  # the process of now
    trap "kill $pid 2>/dev/null || true" EXIT
    title='capture.pcap .*- qpscope'
    focus "$title"
    xdotool windowsize --sync "$window" 1280 900 windowmove --sync "$window" 0 0
    sleep 2
    picture packets

    echo '-- rows: a packet by its number, exported, is that packet; a filter leaves as many as there are'
    press ctrl+g
    answer 'Go to packet' 84
    picture packet-84
    exported S one.pcapng 84
    press alt+2 ctrl+shift+slash
    xdotool type --clearmodifiers --delay 20 'infiniband.aeth'
    press Return
    sleep 1
    exported D some.pcapng acknowledges
    picture filtered

    echo '-- text is drawn'
    rows=$(python3 "$here/screen.py" lines "$place/screen/Xvfb_screen0")
    [[ $rows -ge 20 ]] || fail "$rows lines of text are seen"

    echo '-- a picture is drawn and saved'
    press alt+8
    sleep 1
    picture psn
    press ctrl+p
    answer '^Save ' /srv/home/psn.png
    until_true drawn "$root/srv/home/psn.png"

    echo '-- fonts of the folder are in use, no library of the system, no driver'
    sed -nE 's|^([^ ]+ +){5}/|/|p' "/proc/$pid/maps" | sort -u >"$place/maps"
    grep -qF libQt6XcbQpa.so "$place/maps" || fail "no library of X is mapped"
    for font in DejaVuSans.ttf DejaVuSansMono.ttf; do grep -qF "/share/fonts/$font" "$place/maps" || fail "$font of the folder is not in use"; done
    ! grep -E '\.so(\.|$)|/ld-linux' "$place/maps" | grep -vF "$root${program%/*}/" || fail "these are not of the folder"
    ! grep -iE 'mesa|_dri|swrast|gallium' "$place/maps" || fail "a driver of OpenGL is mapped"

    press ctrl+q
    code=0; wait "$pid" || code=$?
    [[ $code == 0 ]] || fail "ended with $code: $(cat "$place/said")"
    [[ ! -s $place/said ]] || fail "it said: $(cat "$place/said")"

    [[ -x $root${program%/*}/libexec/qpscope-capture ]] || return 0
    echo '-- the recorder of the folder captures, once it has the right'
    command -v setcap >/dev/null || { echo "not tested: there is no setcap (Debian package libcap2-bin)"; return 0; }
    setcap cap_net_raw+ep "$root${program%/*}/libexec/qpscope-capture"
    "${inside[@]}" "$program" -i lo -f 'udp port 4791' >"$place/said" 2>&1 & pid=$!
    title='lo .udp port 4791. - qpscope'
    focus "$title"
    [[ $(readlink "/proc/$(pgrep -P "$pid")/exe") == "$root${program%/*}/libexec/qpscope-capture" ]] || fail "nobody captures"
    for each in 1 2 3; do printf '\x04\x00\xff\xff\x00\x00\x00\x11\x00\x00\x00\x01hello---\xde\xad\xbe\xef' >/dev/udp/127.0.0.1/4791 2>/dev/null || true; done
    sleep 1
    press ctrl+e
    until_true eval "! pgrep -P $pid"
    press ctrl+s
    answer '^Save capture' /srv/home/live.pcapng
    until_true test -s "$root/srv/home/live.pcapng"
    grep -qF hello--- "$root/srv/home/live.pcapng" || fail "not what was sent"
    press ctrl+q
    wait "$pid" || fail "ended with $?"
}
if [[ ${1:-} == on_screen ]]; then on_screen "${@:2}"; exit; fi

version=$(sed -n 's/^project(qpscope VERSION \([0-9.]*\).*/\1/p' "$checkout/CMakeLists.txt")
archive=$(readlink -f "${1:-$checkout/build/static/files/qpscope-gui-$version-$(uname -m).tar.zst}")
place=$(readlink -m "${2:-$checkout/build/static/window}")
[[ $(id -u) == 0 ]] || { echo "SKIPPED: an empty Debian to try the window in needs root"; exit 77; }
for each in xvfb-run:xvfb xauth:xauth xdotool:xdotool debootstrap:debootstrap zstd:zstd python3:python3; do
    command -v "${each%:*}" >/dev/null || { echo "SKIPPED: there is no ${each%:*} (Debian package ${each#*:})"; exit 77; }
done
[[ $# -gt 0 ]] || "$checkout/packaging/static/window" "$(dirname "$archive")"
. "$checkout/packaging/root.sh"
mkdir -p "$place/screen"
for release in buster bullseye bookworm ''; do
    [[ -n $release ]] || { echo "SKIPPED: no empty Debian can be made here"; exit 77; }
    if (make_base "$place/$release" "$release") >"$place/$release.log"; then break; fi
done
echo "-- in an empty Debian $release"
root=$(mktemp -d)
leave() {
    [[ -n $root ]] || return 0
    umount -l "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root"
}
trap leave EXIT
tar -C "$root" -xf "$place/$release/base.tar"
chmod 755 "$root"
mount -t proc proc "$root/proc"
[[ -e $root/dev/null ]] || mknod -m 666 "$root/dev/null" c 1 3
[[ -e $root/dev/urandom ]] || mknod -m 666 "$root/dev/urandom" c 1 9
for each in /usr/lib/x86_64-linux-gnu/libX11.so.6 /usr/lib/x86_64-linux-gnu/libfontconfig.so.1 /usr/share/fonts /etc/fonts; do
    [[ ! -e $root$each ]] || fail "$each is there: that Debian is not empty"
done
mkdir -p "$root/opt/a folder" "$root/srv"
zstd -dcq "$archive" | tar -C "$root/opt/a folder" -xf -
install -d -o 65534 -g 65534 -m 700 "$root/srv/home" "$root/srv/home/run"
cp "$checkout/captures/loss_write/capture.pcap" "$root/srv/"
program=$(echo "$root"/opt/*/qpscope-gui-*/qpscope-gui)
program=${program#"$root"}

echo '-- without a screen'
set_inside
said=$("${inside[@]}" "$program" --version)
[[ $said == "qpscope-gui $version"* ]] || fail "--version: $said"
"${inside[@]}" ln -s "$program" /srv/home/link
[[ $("${inside[@]}" /srv/home/link --version) == "$said" ]] || fail "it does not run by a link"
code=0; "${inside[@]}" "$program" --colour red >"$place/said" 2>&1 || code=$?
[[ $code == 2 ]] || fail "a wrong option ended with $code: $(cat "$place/said")"
if [[ -e $root${program%/*}/libexec/qpscope-capture ]]; then
    "${inside[@]}" "${program%/*}/libexec/qpscope-capture" --list | head -n 1 | grep -q '"type":"rights"' || fail "the recorder lists no interfaces"
    ! readelf -lW "$root${program%/*}/libexec/qpscope-capture" | grep -q INTERP || fail "the recorder needs libraries"
else
    echo "not tested: the recorder is not in this folder"
fi
# LGPL and GPL ask for their text, and for where the sources are.
for each in texts/LGPL-3 texts/LGPL-2.1 libqt6core6 libc6; do [[ -s $root${program%/*}/licences/$each ]] || fail "licences/$each is not there"; done
grep -q '^libqt6core6 .*, source qt6-base ' "$root${program%/*}/README" || fail "README does not name the source of Qt"

xvfb-run -a -s "-screen 0 1280x900x24 -noreset -fbdir $place/screen" bash -euo pipefail "$me" on_screen "$place" "$root" "$program"
echo "ok: $(basename "$archive") in an empty Debian $release; pictures are in $place"
