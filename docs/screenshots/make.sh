#!/bin/bash
# Makes the pictures of this folder anew from the real window, on a screen of its own, with the bundled captures:
#   docs/screenshots/make.sh [NAME...]
#   docs/screenshots/make.sh --all FOLDER [NAME...]     every view in both themes at scale 1 and 2, into a folder, to be looked at
# Settings, language and time zone are fixed, so that the same program makes the same pictures. BIN is the window to take.
set -euo pipefail
pictures_folder=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
here=$(dirname "$(dirname "$pictures_folder")")
all=''
if [[ ${1:-} == --all ]]; then
    all=${2:?make.sh: --all needs a folder}
    mkdir -p "$all"
    pictures_folder=$(readlink -f "$all")
    shift 2
fi
. "$here/packaging/packages.sh"
. "$here/packaging/build.sh"

need_packages screenshots </dev/null || true
for program in Xvfb xdotool import; do
    if ! command -v $program >/dev/null; then
        echo "make.sh: there is no $program, so no pictures are made; packaging/packages.sh lists what is needed (screenshots)" >&2
        exit 0
    fi
done
if [[ -z ${BIN:-} ]]; then
    need_packages build </dev/null
    build_preset release 2
    BIN=$here/build/release/bin/qpscope-gui
fi
BIN=$(readlink -f "$BIN")

# name  theme  scale  keys (- for none; pressed one after the other)  capture  arguments
pictures='
summary           light  1  -                       err_mixed        --view summary
packets           light  1  Tab,End,Up,Up               loss_write       --view packets -g 84
findings          light  1  -                       loss_write       --view findings
connections       light  1  -                       multi_qp         --view connections
messages          light  1  -                       err_mixed        --view messages
operations        light  1  -                       nvme_rdma        --view operations
set-up            light  1  -                       ucmatose         --view cm
psn               light  1  -                       loss_write       --view psn -g 84
ladder            light  1  Return                  loss_write       --view ladder -g 22
waterfall         light  1  -                       loss_write       --view waterfall
losses            light  1  Down                    loss_write       --view losses
operation-latency light  1  -                       nvme_rdma        --view operation-latency
incast            light  1  -                       incast           --view incast
throughput        light  1  -                       loss_write       --view throughput
latency           light  1  -                       multi_qp         --view latency
congestion        light  1  -                       congestion       --view congestion
hosts             light  1  Home,Right                  multi_qp         --view hosts congestion/capture.pcap err_rnr/capture.pcap rping_v6/capture.pcap
heat-map          light  1  -                       incast           --view heat-map
logs              light  1  Q,P,space,6,8,space,s,t,a,t,u,s,space,1,3 err_rnr          --view logs
case              light  1  -                       ../tests/case/cases/two-flaps-in-syslog --view case
logs-dark         dark   1  Q,P,space,6,8,space,s,t,a,t,u,s,space,1,3 err_rnr          --view logs
statistics        light  1  Left,Left,Left,Left,Left,Right,Right,Right,Right,Right  multi_qp  --view statistics congestion/capture.pcap err_rnr/capture.pcap rping_v6/capture.pcap
statistics-dark   dark   1  Left,Left,Left,Left,Left,Right,Right  err_mixed  --view statistics
follow            light  1  Down                    nvme_rdma        --view follow -g 60
follow-dark       dark   1  Down                    nvme_rdma        --view follow -g 60
fabric            light  1  Home                    fabric_sweep     --view fabric
fabric-dark       dark   1  Down                    fabric_sweep     --view fabric
checks            light  1  Down                    err_mixed        --view checks
checks-dark       dark   1  Down                    err_mixed        --view checks
compare           light  1  space,period,period,slash,w,r,i,t,e,underscore,8,k,slash,c,a,p,t,u,r,e,period,p,c,a,p,Return loss_write --view compare
compare-dark      dark   1  space,period,period,slash,w,r,i,t,e,underscore,8,k,slash,c,a,p,t,u,r,e,period,p,c,a,p,Return loss_write --view compare
io                light  1  -                       loss_write       --view io
io-dark           dark   1  -                       loss_write       --view io
hosts-dark        dark   1  Home,Right                  multi_qp         --view hosts congestion/capture.pcap err_rnr/capture.pcap rping_v6/capture.pcap
connections-dark  dark   1  -                       multi_qp         --view connections
summary-dark      dark   1  -                       err_mixed        --view summary
packets-dark      dark   1  Tab,End,Up,Up               loss_write       --view packets -g 84
psn-dark          dark   1  -                       loss_write       --view psn -g 84
packets-200       light  2  Tab,End,Up,Up               loss_write       --view packets -g 84
psn-200           light  2  -                       loss_write       --view psn -g 84
'
# By scale; what is large has less room, so that the files stay small.
widths=(0 1200 900)
heights=(0 760 600)
screen=1800x1200
colours=128   # enough for flat ground, thin lines and smooth letters
patience=20   # looks, half a second apart, until the window stands still

scratch=$(mktemp -d)
server=''
gui=''
finish() {
    [[ -z $gui ]] || kill "$gui" 2>/dev/null || true
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    rm -rf "$scratch"
}
trap finish EXIT
mkdir -m 700 "$scratch/run"
export LC_ALL=C.UTF-8 TZ=UTC QT_QPA_PLATFORM=xcb XDG_RUNTIME_DIR=$scratch/run

# Prints what the command prints as soon as it prints something; fails when it does not.
patiently() {
    local try said
    for ((try = 0; try < 100; ++try)); do
        said=$("$@" 2>/dev/null | tail -n 1) || true
        [[ -n $said ]] && echo "$said" && return
        sleep 0.1
    done
    echo "make.sh: nothing came of: $*" >&2
    return 1
}

# take WINDOW: the window when it no longer changes, as $scratch/new.png.
take() {
    local look
    rm -f "$scratch/old.png"
    for ((look = 0; look < patience; ++look)); do
        timeout 20 import -window "$1" -strip +dither -colors $colours -define png:compression-level=9 "PNG8:$scratch/new.png"
        cmp -s "$scratch/old.png" "$scratch/new.png" && return
        mv "$scratch/new.png" "$scratch/old.png"
        sleep 0.5
    done
    mv "$scratch/old.png" "$scratch/new.png"
}

picture() {
    local name=$1 theme=$2 scale=$3 keys=$4 capture=$5 window key
    shift 5
    local files=("$capture"/capture.pcap*)
    [[ $capture != */* ]] || files=("$capture")  # the folder of a case
    rm -rf "$scratch/settings"
    env XDG_CONFIG_HOME="$scratch/settings" QT_SCALE_FACTOR="$scale" "$BIN" --theme "$theme" "$@" "${files[@]}" &
    gui=$!
    window=$(patiently xdotool search --onlyvisible --pid $gui)
    xdotool windowmove "$window" 0 0 windowsize "$window" $((widths[scale] * scale)) $((heights[scale] * scale)) windowfocus "$window"
    sleep 1
    take "$window"
    if [[ $keys != - ]]; then
        for key in ${keys//,/ }; do xdotool key --clearmodifiers "$key" && sleep 0.2; done
        take "$window"
    fi
    kill $gui
    wait $gui 2>/dev/null || true
    gui=''
    cp "$scratch/new.png" "$pictures_folder/$name.png"
    echo "$name.png  $((($(stat -c %s "$scratch/new.png") + 1023) / 1024)) KiB"
}

Xvfb -displayfd 3 -screen 0 ${screen}x24 -dpi 96 -nolisten tcp -noreset 3>"$scratch/display" 2>/dev/null &
server=$!
DISPLAY=:$(patiently cat "$scratch/display")
export DISPLAY
cd "$here/captures"
while read -r name theme scale keys capture arguments; do
    [[ -n $name && ($# -eq 0 || " $* " == *" $name "*) ]] || continue
    if [[ -n $all ]]; then
        [[ $theme == light && $scale == 1 ]] || continue
        for theme in light dark; do
            for scale in 1 2; do
                # shellcheck disable=SC2086  # arguments are words
                picture "$name-$theme-$scale" "$theme" "$scale" "$keys" "$capture" $arguments </dev/null
            done
        done
        continue
    fi
    # shellcheck disable=SC2086  # arguments are words
    picture "$name" "$theme" "$scale" "$keys" "$capture" $arguments </dev/null
done <<<"$pictures"
