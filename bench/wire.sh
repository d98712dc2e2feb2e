#!/bin/bash
# Devices and replay on a wire: a veth in a network namespace made here, MTU 9000:  wire.sh BIN CAPTURE
# In turns: what bench_devices says, and the capture sent as fast as it goes by `qpscope replay`, the same with rewriting, and by
# tcpreplay where it is installed. Wall and processor time a frame; medians over BENCH_ROUNDS (default 5).
# Then endpoint to endpoint, between this namespace and another (bench_endpoint), with the goals beside what came of it; rate controls on a bottleneck.
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
# A veth runs XDP programs itself up to an MTU of some 3500.
ip link add da type veth peer name db
ip link set da mtu 3400 up
ip link set db mtu 3400 up
sleep 0.5
"$bin/bench_devices" da db 1082 500000

# Where others work on the machine too: the processor time of a packet says how many a processor could do.
unshare --net sleep infinity &
other=$!
trap 'kill $other; rm -rf "$samples"' EXIT
for attempt in {1..50}; do [[ $(readlink /proc/$other/ns/net) != $(readlink /proc/self/ns/net) ]] && break; sleep 0.1; done
for mtu in 9000 3400; do
    echo "-- endpoint to endpoint, MTU $mtu"
    ip link add ea type veth peer name eb
    ip link set eb netns $other
    ip link set ea mtu $mtu up
    nsenter -t $other -n ip link set eb mtu $mtu up
    sleep 0.5
    "$bin/bench_endpoint" ea eb /proc/$other/ns/net 2>/dev/null | awk '
        function value(name,    i, pair) { for (i = 2; i <= NF; ++i) { split($i, pair, "="); if (pair[1] == name) return pair[2] } }
        function least(a, b) { return a < b ? a : b }
        function most(a, b) { return a > b ? a : b }
        { print }
        $1 == "write" && value("device") == "ring" && value("mtu") != 2048 {
            busiest = most(value("sender_cpu_ns"), value("responder_cpu_ns"))
            if (value("mtu") == 4096) goal = sprintf("%.2f Gb/s of 4, %.2f if it had a processor to itself", value("gbit_per_s"), 4096 * 8 / busiest)
            else goal = sprintf("%.0f packets/s of 350000, %.0f if it had a processor to itself", value("packets_per_s"), 1e9 / busiest)
            print "    goal: " goal
        }
        $1 == "round_trip" { mode = value("mode"); best[mode] = best[mode] ? least(best[mode], value("ring_ratio")) : value("ring_ratio") }
        END {
            for (mode in best)
                printf "    goal: %s %.2f times as long as there and back by raw sockets, of at most %s\n", mode, best[mode], mode ~ /^send/ ? "2.0" : "2.2"
        }'
    ip link del ea
done
echo
"$bin/bench_rate_control"
echo
bash "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/bottleneck.sh" "$bin/qpscope"
