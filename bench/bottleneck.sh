#!/bin/bash
# Rate control on a real bottleneck:  bottleneck.sh QPSCOPE
# A sender and a receiver in network namespaces of their own and a router between them, whose way to the receiver is 200 Mbit/s with room
# for 50 ms (tbf). Four queue pairs write as fast as they may, without rate control, with DCQCN (nothing marks: nothing to react to) and by
# round trips. What comes of it is read from the capture that the sender took. 25 seconds; needs root and tbf.
set -euo pipefail
export LC_ALL=C
qpscope=$1
seconds=${BENCH_BOTTLENECK_SECONDS:-5}
[[ $(id -u) == 0 ]] || { echo "bottleneck.sh: not measured: network namespaces need root"; exit 0; }
if [[ -z ${BOTTLENECK_INSIDE:-} ]]; then BOTTLENECK_INSIDE=1 exec unshare --net bash "${BASH_SOURCE[0]}" "$@"; fi
folder=$(mktemp -d)
ends=()
finish() {
    ((${#ends[@]})) && kill "${ends[@]}" 2>/dev/null
    rm -rf "$folder"
}
trap finish EXIT

namespace() {  # into $made
    unshare --net sleep infinity &
    made=$!
    ends+=("$made")
    local attempt
    for attempt in {1..50}; do [[ $(readlink "/proc/$made/ns/net") != $(readlink /proc/self/ns/net) ]] && return; sleep 0.1; done
}
namespace
sender=$made
namespace
receiver=$made
sysctl -qw net.ipv6.conf.default.disable_ipv6=1 2>/dev/null || true
sysctl -qw net.ipv4.ip_forward=1
link() {  # NAMESPACE INTERFACE ROUTER'S_INTERFACE ROUTER'S_ADDRESS
    ip link add "$3" type veth peer name "$2"
    ip link set "$2" netns "$1"
    ip addr add "$4" dev "$3"
    ip link set "$3" mtu 4500 up
    nsenter -t "$1" -n ip link set "$2" mtu 4500 up
}
link "$sender" eth-s to-s 10.9.1.254/24
link "$receiver" eth-r to-r 10.9.2.254/24
if ! tc qdisc add dev to-r root tbf rate 200mbit burst 32kb latency 50ms 2>/dev/null; then
    echo "bottleneck.sh: not measured: no tbf here (tc, sch_tbf)"
    exit 0
fi
sleep 1

dropped() { tc -s qdisc show dev to-r | sed -nE 's/.*dropped ([0-9]+).*/\1/p'; }
echo "Four queue pairs through 200 Mbit/s with room for 50 ms, $seconds s each:"
printf '%-8s%16s%16s%10s%16s  %s\n' control "goodput Mbit/s" "round trip us" dropped "resent packets" "rate follows"
for control in none dcqcn rtt; do
    wish=()
    [[ $control == none ]] || wish=(--rate-control "$control")
    nsenter -t "$receiver" -n "$qpscope" peer -q -i eth-r -a 10.9.2.2/24 --gateway 10.9.2.254 --mtu 4096 sink >/dev/null 2>&1 &
    serves=$!
    ends+=("$serves")
    sleep 1.5
    before=$(dropped)
    nsenter -t "$sender" -n "$qpscope" peer -q -i eth-s -a 10.9.1.1/24 --gateway 10.9.1.254 --mtu 4096 -w "$folder/capture.pcapng" "${wish[@]}" \
        --connections 4 --no-verify -s 65536 -n 100000000 --depth 8 --for "${seconds}s" source-write 10.9.2.2 >/dev/null 2>&1 || true
    lost=$(($(dropped) - before))
    kill "$serves"
    wait "$serves" 2>/dev/null || true
    "$qpscope" connections -q -f csv "$folder/capture.pcapng" >"$folder/connections.csv" || true
    "$qpscope" timeline -q -f csv "$folder/capture.pcapng" >"$folder/timeline.csv" || true
    awk -F, -v control="$control" -v lost="$lost" -v timeline="$folder/timeline.csv" '
        NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
        {
            goodput += $column["goodput_bits_per_second"]
            resent += $column["retransmitted_packets"]
            said = $column["rate_follows"]
            ++follows[said == "" ? "undecided" : said]
        }
        END {
            while ((getline line < timeline) > 0) {
                split(line, part, ",")
                if (!at) { for (i in part) if (part[i] == "round_trip_mean_ns") at = i }
                else if (part[at] != "") { ++buckets; sum += part[at] }
            }
            for (word in follows) words = words (words == "" ? "" : ", ") follows[word] " " word
            printf "%-8s%16.1f%16s%10d%16d  %s\n", control, goodput / 1e6, buckets ? sprintf("%.0f", sum / buckets / 1000) : "-", lost, resent, words
        }' "$folder/connections.csv"
done
