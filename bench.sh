#!/bin/bash
# Measures qpscope against the floor (map the file, walk it, take the CRC of every frame) and against tshark.
#
#   ./bench.sh [PACKETS]    default one million; BENCH_ROUNDS (default 5) rounds, in turns
#
# The captures are made once and kept in ${TMPDIR:-/tmp}/qpscope-bench (about 2.5 GB for a million packets).
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
. "$here/packaging/packages.sh"
. "$here/packaging/build.sh"

packets=${1:-1000000}
if [[ ! $packets =~ ^[1-9][0-9]*$ ]]; then
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
need_packages build bench
build_preset bench 2

data=${TMPDIR:-/tmp}/qpscope-bench
bin=$here/build/bench/bin
mkdir -p "$data"
for payload in 1024 64; do
    file=$data/rc-$payload-$packets.pcap
    if [[ ! -e $file ]]; then
        echo "qpscope: making $file" >&2
        "$bin/bench_generate" "$file" "$packets" "$payload"
    fi
done
large=$data/rc-1024-$packets.pcap
small=$data/rc-64-$packets.pcap
if [[ ! -e $large.zst ]]; then zstd -q -1 "$large" -o "$large.zst.part" && mv "$large.zst.part" "$large.zst"; fi

exec bash "$here/bench/compare.sh" "$bin" "$large" "$small"
