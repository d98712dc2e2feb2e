# The real window on a screen of its own (Xvfb), driven by keys as a user presses them (xdotool): files, filter, pictures, export and
# quitting; then a live capture between two ends of a cable in a network namespace made here.
#   GUI, QPSCOPE   the programs       SOURCE   the root of the checkout
for each in xvfb-run:xvfb xauth:xauth xdotool:xdotool; do
    command -v "${each%:*}" >/dev/null || { echo "SKIPPED: there is no ${each%:*} (Debian package ${each#*:})"; exit 77; }
done
kPatience=200  # looks, ten a second

fail() {
    echo "FAILED: $*; these windows are seen:"
    for each in $(xdotool search --onlyvisible --name . 2>/dev/null); do echo "  $(xdotool getwindowname "$each")"; done
    cat gui.err 2>/dev/null
    exit 1
}
until_true() {  # COMMAND...
    for ((look = 0; look < kPatience; ++look)); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
    fail "never true: $*"
}
begin() {  # OPTION...: the window; sets pid
    "$GUI" "$@" 2>gui.err & pid=$!
    trap 'kill "$pid" 2>/dev/null || true' EXIT
}
find_window() { xdotool search --onlyvisible --name "$1"; }
gone() { ! find_window "$1"; }
shut() { ! find_window . | grep -qx "$1"; }
# Nobody manages windows here, so the keyboard is given to the one that is meant.
focus() {  # TITLE; sets window
    until_true find_window "$1"
    window=$(find_window "$1" | tail -n 1)
    xdotool windowfocus --sync "$window"
    sleep 0.3
}
press() { xdotool key --clearmodifiers --delay 60 "$@"; }
say() { xdotool type --clearmodifiers --delay 20 "$1"; }
answer() { focus "$1"; say "$2"; press Return; until_true shut "$window"; }  # TITLE TEXT: a dialog
quits() {  # with 0
    code=0; wait "$pid" || code=$?
    [[ $code == 0 ]] || fail "ended with $code"
}
remembers() { grep -q -- "$1" config/qpscope/qpscope.conf; }

without_screen() {
    unset DISPLAY WAYLAND_DISPLAY QT_QPA_PLATFORM
    "$GUI" --help | grep -q -- '--filter' || fail "no help"
    [[ $("$GUI" --version) == qpscope-gui\ [0-9]* ]] || fail "no version"
    code=0; "$GUI" --colour red >out.txt 2>err.txt || code=$?
    [[ $code == 2 && ! -s out.txt && $(cat err.txt) == *--colour* ]] || fail "a wrong option ended with $code: $(cat err.txt)"
}

exports_packet() {  # NUMBER: that one is selected
    press ctrl+shift+e
    answer 'Export packets' 'S'  # the selected one
    answer 'Export packets' "$PWD/$1.pcapng"
    until_true test -s "$1.pcapng"
    local columns=(-q -f tsv -e frame.time_epoch -e infiniband.bth.psn)
    [[ $("$QPSCOPE" packets "${columns[@]}" "$1.pcapng" | sed 1d) == "$("$QPSCOPE" packets "${columns[@]}" "$sample" | sed -n "$(($1 + 1))p")" ]] ||
        fail "that is not packet $1"
    focus "$title"
}

# Where the selected row of the field tree is, below the list: the first pixel of the colour that selected rows have.
selected_field() {  # WINDOW
    import -window "$1" -crop 300x330+200+420 +repage -depth 8 txt:- | sed -n 's/^\([0-9]*\),\([0-9]*\): .*#1F66B0.*/\1 \2/p' |
        { read -r x y && cat >/dev/null && echo $((x + 230)) $((y + 425)); }
}

drags_field() {
    echo '-- a field of the tree is dragged to the filter line by the mouse'
    ! remembers 'infiniband\.[a-z.]* == 0x60' || fail "that filter was there before"
    focus "$title"
    press alt+2 ctrl+shift+slash ctrl+g
    answer 'Go to packet' 84
    focus "$title"
    press Tab End Up Up  # the syndrome of its NAK
    sleep 0.5
    read -r left top < <(selected_field "$window")
    xdotool mousemove --window "$window" "$left" "$top" mousedown 1
    for step in {1..12}; do
        xdotool mousemove --window "$window" $((left + 20 * step)) $((top - (top - 64) * step / 12))
        sleep 0.1
    done
    sleep 0.3
    xdotool mouseup 1
    until_true remembers 'infiniband\.aeth\.syndrome == '
}

files() {
    local sample=$SOURCE/captures/loss_write/capture.pcap title='capture.pcap .*- qpscope'
    begin --theme light "$sample"
    focus "$title"

    echo '-- typing begins a filter, wherever and whatever letter it begins with; Enter applies it'
    press alt+2
    say 'rdma.connection == 1'
    press Return
    until_true remembers 'rdma.connection == 1'
    press alt+2 ctrl+shift+slash alt+2
    say 'infiniband.bth.psn == 12164730'
    press Return
    until_true remembers 'infiniband.bth.psn == 12164730'

    echo '-- a packet by its number, and out with it'
    press ctrl+g
    answer 'Go to packet' 1234
    focus "$title"
    exports_packet 1234

    echo '-- the first packet that proves the first finding'
    press ctrl+shift+period
    exports_packet 69

    if command -v import >/dev/null; then drags_field; fi

    echo '-- views by Alt and a digit: only a picture can be saved as one'
    focus "$title"
    press alt+1 ctrl+p
    sleep 0.5
    gone '^Save ' || fail "the summary was taken for a picture"
    press alt+8
    sleep 0.5
    press ctrl+p
    answer '^Save ' "$PWD/psn.png"
    until_true test -s psn.png
    [[ $(head -c 4 psn.png | tail -c 3) == PNG ]] || fail "no picture"

    echo '-- the end'
    focus "$title"
    press ctrl+q
    quits
    remembers '^geometry=' || fail "the window does not remember its place"

    echo '-- a file that is not there is said, and the window stays'
    begin /no/such/capture.pcap
    answer 'Read error' ''
    focus 'capture.pcap .*- qpscope'
    press ctrl+q
    quits
}

live() {
    ip link set lo up
    ip link add wire0 type veth peer name wire1
    for end in wire0 wire1; do
        echo 1 >/proc/sys/net/ipv6/conf/$end/disable_ipv6 2>/dev/null || true
        ip link set $end up
    done
    ip address add 10.9.0.1/24 dev wire0
    ip neighbour add 10.9.0.2 lladdr 02:00:00:00:00:02 dev wire0
    # An RC SEND Only to QP 17 with a wrong ICRC.
    send() { for _ in $(seq "$1"); do printf '\x04\x00\xff\xff\x00\x00\x00\x11\x00\x00\x00\x01hello---\xde\xad\xbe\xef' >/dev/udp/10.9.0.2/4791; done; }

    local title='wire1 .udp port 4791. - qpscope'
    echo '-- a live capture from the command line'
    begin -i wire1 -f 'udp port 4791'
    focus "$title"
    recorder=$(pgrep -P "$pid" qpscope-capture) || fail "nobody captures"
    send 7
    sleep 1
    press ctrl+e
    until_true eval "! kill -0 $recorder"  # the recorder has ended
    send 3                                 # too late

    echo '-- it is not lost unasked'
    press ctrl+q
    focus 'Not saved'
    press Escape
    until_true shut "$window"
    focus "$title"
    press ctrl+s
    answer 'Save capture' "$PWD/live.pcapng"
    until_true test -s live.pcapng
    [[ $("$QPSCOPE" packets -q -f tsv -e infiniband.bth.destqp live.pcapng | sed 1d | uniq -c) == *' 7 17' ]] || fail "not the 7 packets"

    echo '-- once saved it needs no question'
    focus "$title"
    press ctrl+q
    quits

    echo '-- the window goes while it captures: so does the recorder'
    begin -i wire1
    focus 'wire1 - qpscope'
    recorder=$(pgrep -P "$pid" qpscope-capture)
    press ctrl+q  # nothing was captured: nothing to ask
    quits
    until_true eval "! kill -0 $recorder"

    echo '-- an interface that is not there is a sentence'
    begin -i no-such-interface
    answer '^Capture' ''
    focus '^qpscope$'
    press ctrl+q
    quits
}

case ${1:-} in
    '')
        find . -mindepth 1 -delete
        export XDG_CONFIG_HOME=$PWD/config XDG_RUNTIME_DIR=$PWD/runtime QT_QPA_PLATFORM=xcb
        mkdir -m 700 config runtime
        (without_screen)
        xvfb-run -a -s '-screen 0 1280x900x24 -noreset' bash -euo pipefail "$0" files
        [[ $(id -u) == 0 ]] || { echo "not tested: capturing needs root"; exit; }
        command -v ip >/dev/null || { echo "not tested: capturing; there is no ip (Debian package iproute2)"; exit; }
        unshare --net true 2>/dev/null || { echo "not tested: capturing; no network namespace can be made here"; exit; }
        unshare --net xvfb-run -a -s '-screen 0 1280x900x24 -noreset' bash -euo pipefail "$0" live
        ;;
    *) "$1" ;;
esac
