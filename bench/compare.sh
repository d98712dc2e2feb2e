#!/bin/bash
# Runs what is compared in turns and prints times, ratios and memory:  compare.sh BIN DATA PACKETS
# DATA has the captures that bench.sh makes: 1 KiB of payload a packet with losses (LARGE; LARGE.zst), 64 bytes, headers only of 64
# and of 100,000 queue pairs, and perhaps a long one. Times are medians with their spread, ratios are taken within each round and
# then their median, so that a slow minute of the machine hits both sides. Targets are reported as met or missed, never enforced.
set -euo pipefail
export LC_ALL=C
bin=$1 data=$2 packets=$3
large=$data/lossy-1024-$packets.pcap small=$data/rc-64-$packets.pcap
nvme=$data/nvme-$packets.pcap
headers=$data/headers-64-$packets.pcap many=$data/headers-100000-$packets.pcap long=$data/headers-long-$packets.pcap
rounds=${BENCH_ROUNDS:-5}
rival_rounds=${BENCH_RIVAL_ROUNDS:-2}  # the rival takes most of a minute for a round
samples=$(mktemp -d)
trap 'rm -rf "$samples"' EXIT

field() { sed -nE "s/(^|.* )$1=([^ ]*).*/\2/p"; }  # NAME < "a=1 b=2"

# take NAME COMMAND...: one sample of a program that measures itself
take() {
    local name=$1 line
    shift
    line=$("$@") || { echo "compare.sh: failed: $*" >&2; exit 1; }
    awk -v s="$(field median <<<"$line")" -v n="$(field packets <<<"$line")" 'BEGIN { print 1e9 * s / n }' >>"$samples/$name.ns"
    field median <<<"$line" >>"$samples/$name"
}
# clock NAME COMMAND...: one sample of any program, and its memory
clock() {
    local name=$1 line
    shift
    line=$("$bin/bench_measure" "$@" 2>"$samples/stderr")
    # 6, not everything could be judged, is a result: collectives are not looked for among 100,000 queue pairs.
    if [[ ! $(field exit <<<"$line") =~ ^[06]$ ]]; then
        echo "compare.sh: failed: $*" >&2
        cat "$samples/stderr" >&2
        exit 1
    fi
    field seconds <<<"$line" >>"$samples/$name"
    field anon <<<"$line" >>"$samples/$name.anon"
}

cat "$large" "$small" "$headers" "$many" "$nvme" "$large.zst" >/dev/null  # into the page cache
for ((round = 1; round <= rounds; ++round)); do
    echo "round $round of $rounds" >&2
    take floor-large "$bin/bench_floor" "$large"
    take decode-large "$bin/bench_decode" "$large" 1
    take decode-all-large "$bin/bench_decode" "$large" 0
    take floor-small "$bin/bench_floor" "$small"
    take decode-small "$bin/bench_decode" "$small" 1
    take decode-all-small "$bin/bench_decode" "$small" 0
    clock info-large "$bin/qpscope" info "$large"
    clock info-small "$bin/qpscope" info "$small"
    clock analyze-large "$bin/qpscope" analyze "$large"
    clock analyze-one "$bin/qpscope" analyze -j 1 "$large"
    clock analyze-two "$bin/qpscope" analyze -j 2 "$large"
    "$bin/bench_lanes" "$large" 2 >"$samples/lanes.$round"
    for figure in serial_percent amdahl_16 amdahl_64; do field "$figure" <"$samples/lanes.$round" >>"$samples/$figure"; done
    clock check-large "$bin/qpscope" check --fail-on never "$large"
    "$bin/bench_window" "$large" 2>/dev/null >"$samples/window.$round"
    field all_s <"$samples/window.$round" >>"$samples/window-large"
    take headers "$bin/bench_analyze" "$headers"
    take many "$bin/bench_analyze" "$many"
    "$bin/bench_ulp" "$nvme" nvme 1 | field ratio >>"$samples/ulp"
    clock analyze-many "$bin/qpscope" analyze "$many"
    clock check-many "$bin/qpscope" check --fail-on never "$many"
    if ((round <= rival_rounds)); then
        clock tshark-large tshark -r "$large" -T fields -e frame.number
        clock expert-large tshark -q -z expert -r "$large"
    fi
done
if [[ -e $long ]]; then
    clock analyze-long "$bin/qpscope" analyze "$long"
    "$bin/bench_window" "$long" 2>/dev/null >"$samples/window-long"
fi
clock info-zst "$bin/qpscope" info "$large.zst"
clock info-stdin "$bin/qpscope" info - <"$large"
clock info-pipe "$bin/qpscope" info - < <(zstd -dcq "$large.zst")

median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
most() { sort -g "$1" | tail -n 1; }
ratio() { paste "$samples/$1" "$samples/$2" | awk 'NF == 2 { print $1 / $2 }' >"$samples/ratio"; median "$samples/ratio"; }
times() {  # NAME WORDS
    awk -v m="$(median "$samples/$1")" -v n="$packets" -v words="$2" '
        NR == 1 { low = high = $1 } { if ($1 < low) low = $1; if ($1 > high) high = $1 }
        END { printf "%-42s %9.4f s  (%.4f .. %.4f, %d runs) %8.2f M packets/s\n", words, m, low, high, NR, n / m / 1e6 }' "$samples/$1"
}
target() {  # WORDS VALUE UNIT RELATION LIMIT
    awk -v words="$1" -v value="$2" -v unit="$3" -v relation="$4" -v limit="$5" 'BEGIN {
        met = relation == "<=" ? value <= limit : value >= limit
        printf "%-42s %9.2f %-13s target %s %-5s %s\n", words, value, unit, relation, limit, met ? "met" : "missed" }'
}

cpus=$(nproc)
echo
echo "$packets packets, 1 KiB of payload; $cpus processors"
times floor-large "floor: map, walk, CRC of each frame"
times decode-large "decode, one thread"
times decode-all-large "decode, all threads"
times info-large "qpscope info"
times info-zst "qpscope info, zstd file"
times tshark-large "tshark -T fields -e frame.number"
times analyze-large "qpscope analyze"
times check-large "qpscope check"
times expert-large "tshark -q -z expert"
times window-large "the window: opened, all read and analysed"
echo "$packets packets, 64 bytes of payload"
times floor-small "floor: map, walk, CRC of each frame"
times decode-small "decode, one thread"
times decode-all-small "decode, all threads"
times info-small "qpscope info"
echo "$packets packets of 64 queue pairs, headers only"
times headers "decode and analyse, one thread"
echo
target "decode, one thread / floor, 1 KiB" "$(ratio decode-large floor-large)" "" "<=" 2.0
target "decode, one thread, 64 bytes" "$(median "$samples/decode-small" | awk -v n="$packets" '{ print n / $1 / 1e6 }')" "M packets/s" ">=" 10
target "decode, all threads / one thread, 1 KiB" "$(ratio decode-large decode-all-large)" "times faster" ">=" "$(awk -v n="$cpus" 'BEGIN { print 0.75 * n }')"
target "tshark / qpscope info, 1 KiB" "$(ratio tshark-large info-large)" "" ">=" 60
for input in large:mapped zst:zstd stdin:'standard input' pipe:'zstd -dc |'; do
    target "own memory of qpscope info, ${input#*:}" "$(most "$samples/info-${input%%:*}.anon" | awk '{ print $1 / 1024 }')" "MiB" "<=" 50
done
target "qpscope analyze / floor, 1 KiB" "$(ratio analyze-large floor-large)" "" "<=" 1.5
target "analyze, two threads / one, 1 KiB" "$(ratio analyze-one analyze-two)" "times faster" ">=" 1.75
target "serial share of analyze, 1 KiB" "$(median "$samples/serial_percent")" "%" "<=" 5
target "what that leaves of 16 processors" "$(median "$samples/amdahl_16")" "times faster" ">=" 9
target "what that leaves of 64 processors" "$(median "$samples/amdahl_64")" "times faster" ">=" 15
target "tshark -z expert / qpscope analyze" "$(ratio expert-large analyze-large)" "" ">=" 60
target "analyse, one thread, headers only" "$(median "$samples/headers" | awk -v n="$packets" '{ print n / $1 / 1e6 }')" "M packets/s" ">=" 5
target "a packet of 100,000 queue pairs / of 64" "$(ratio many.ns headers.ns)" "" "<=" 1.5
target "own memory of analyze, 100,000 queue pairs" "$(most "$samples/analyze-many.anon" | awk '{ print $1 / 1024 }')" "MiB" "<=" 300
target "analyse with NVMe / without, 4 KiB reads" "$(median "$samples/ulp")" "" "<=" 1.25
target "qpscope check / qpscope analyze, 1 KiB" "$(ratio check-large analyze-large)" "" "<=" 1.5
target "check / analyze, 100,000 queue pairs" "$(ratio check-many analyze-many)" "" "<=" 1.5
target "the window / qpscope analyze, 1 KiB" "$(ratio window-large analyze-large)" "" "<=" 1.3
# NAME: the worst of all rounds of the window over the large capture
window() { cat "$samples"/window.* | field "$1" | sort -g | tail -n 1; }
target "first packets of the window" "$(window first_packets_ms)" "ms" "<=" 500
target "own memory of the window" "$(window own_mib)" "MiB" "<=" 100
target "a page of 100 million packets, worst" "$(window far_worst_ms)" "ms" "<=" 16
target "repainting a picture, median of the worst" "$(window repaint_ms)" "ms" "<=" 16
if [[ -e $long ]]; then
    target "a filter over $((10 * packets)) packets, by the index" "$(field filter_index_s <"$samples/window-long")" "s" "<=" 1
    target "own memory of the window for one of them" "$(field bytes_a_packet <"$samples/window-long")" "bytes" "<=" 40
    target "own memory of analyze, $((10 * packets)) packets" "$(most "$samples/analyze-long.anon" | awk '{ print $1 / 1024 }')" "MiB" "<=" 200
fi
