#!/bin/bash
# Measures qpscope against the floor (map the file, walk it, take the CRC of every frame) and against tshark.
#
#   ./bench.sh [PACKETS]    default one million; BENCH_ROUNDS (default 5) rounds, in turns
#
# The captures are made once and kept in ${TMPDIR:-/tmp}/qpscope-bench (about 3 GB for a million packets). BENCH_LONG=1 adds the
# memory of a capture ten times as long (1.4 GB of headers). BENCH_WIRE=1 measures devices and `qpscope replay` on a veth
# instead (root).
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
. "$here/packaging/packages.sh"
. "$here/packaging/build.sh"

packets=${1:-1000000}
if [[ ! $packets =~ ^[1-9][0-9]*$ ]]; then
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
need_packages build window bench
build_preset bench 6 all benches

data=${TMPDIR:-/tmp}/qpscope-bench
bin=$here/build/bench/bin
mkdir -p "$data"
make_capture() {  # NAME PACKETS PAYLOAD [QUEUE_PAIRS [LOST_PER_MILLION [SNAP]]]
    [[ -e $data/$1 ]] && return
    echo "qpscope: making $data/$1" >&2
    "$bin/bench_generate" "$data/$1" "${@:2}" >"$data/$1.truth"
}
large=lossy-1024-$packets.pcap
make_capture "$large" "$packets" 1024 64 1000
make_capture "rc-64-$packets.pcap" "$packets" 64
make_capture "headers-64-$packets.pcap" "$packets" 1024 64 1000 128
make_capture "headers-100000-$packets.pcap" $((4 * packets)) 1024 100000 1000 128
nvme=$data/nvme-$packets.pcap
if [[ ! -e $nvme ]]; then
    echo "qpscope: making $nvme" >&2
    "$bin/bench_generate_nvme" "$nvme" $((packets / 8)) >"$nvme.truth"
fi
if [[ -n ${BENCH_LONG:-} ]]; then make_capture "headers-long-$packets.pcap" $((10 * packets)) 1024 64 1000 128; fi
if [[ ! -e $data/$large.zst ]]; then zstd -q -1 "$data/$large" -o "$data/$large.zst.part" && mv "$data/$large.zst.part" "$data/$large.zst"; fi

if [[ -n ${BENCH_WIRE:-} ]]; then exec bash "$here/bench/wire.sh" "$bin" "$data/$large"; fi
exec bash "$here/bench/compare.sh" "$bin" "$data" "$packets"
