#!/bin/bash
# Devices and replay on a wire: a veth in a network namespace made here, MTU 9000:  wire.sh BIN CAPTURE
# In turns: what bench_devices says, and the capture sent as fast as it goes by `qpscope replay`, the same with rewriting, and by
# tcpreplay where it is installed. Wall and processor time a frame; medians over BENCH_ROUNDS (default 5).
set -euo pipefail
export LC_ALL=C
[[ $(id -u) == 0 ]] || { echo "wire.sh: a network namespace and raw sockets need root" >&2; exit 1; }
if [[ -z ${WIRE_INSIDE:-} ]]; then WIRE_INSIDE=1 exec unshare --net bash "${BASH_SOURCE[0]}" "$@"; fi
bin=$1 capture=$2
rounds=${BENCH_ROUNDS:-5}
samples=$(mktemp -d)
trap 'rm -rf "$samples"' EXIT

sysctl -qw net.ipv6.conf.default.disable_ipv6=1 2>/dev/null || true
ip link add va type veth peer name vb
ip link set va mtu 9000 up
ip link set vb mtu 9000 up
sleep 0.5
cat "$capture" >/dev/null  # into the page cache
frames=$("$bin/qpscope" replay -f json --fast -i va "$capture" | sed -nE 's/^ *"frames": ([0-9]+).*/\1/p')

clock() {  # NAME COMMAND...
    local name=$1 TIMEFORMAT='%R %U %S'
    shift
    { time "$@" >/dev/null 2>&1; } 2>>"$samples/$name"
}
for ((round = 1; round <= rounds; ++round)); do
    echo "round $round of $rounds" >&2
    clock "qpscope-replay" "$bin/qpscope" replay -q --fast -i va "$capture"
    clock "qpscope-replay-rewriting" "$bin/qpscope" replay -q --fast --rewrite 'ip *=192.168.9.1' --rewrite 'qpn *=0x42' -i va "$capture"
    if command -v tcpreplay >/dev/null; then
        clock "tcpreplay" tcpreplay --topspeed -i va "$capture"
        clock "tcpreplay-preloading" tcpreplay --topspeed --preload-pcap -i va "$capture"
    fi
done

median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
echo "$frames frames by $(basename "$capture")"
for file in "$samples"/*; do
    wall=$(awk '{ print $1 }' "$file" | median) work=$(awk '{ print $2 + $3 }' "$file" | median)
    awk -v name="$(basename "$file")" -v wall="$wall" -v work="$work" -v n="$frames" \
        'BEGIN { printf "%-26s %8.0f frames/s   %5.2f us wall, %5.2f us of a processor a frame\n", name, n / wall, wall / n * 1e6, work / n * 1e6 }'
done
for bytes in 1082 4154; do "$bin/bench_devices" va vb "$bytes" 500000; done
