#!/bin/bash
# Counts instructions a packet, in one thread (docs/dev/packet_path.md):
#
#   bench/slope.sh QPSCOPE DIRECTORY [CASE...]    CASE: 1KiB, headers, many, nvme, check; default all
#
# DIRECTORY has bench_generate and bench_generate_nvme. Each case runs under callgrind over 20,000 and over 60,000 packets; the
# slope between the two leaves out the start of the program. Captures and profiles stay in ${TMPDIR:-/tmp}/qpscope-slope.
set -euo pipefail
if (($# < 2)); then
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
qpscope=$1 bin=$2
shift 2
cases=("$@")
((${#cases[@]})) || cases=(1KiB headers many nvme check)
data=${TMPDIR:-/tmp}/qpscope-slope
mkdir -p "$data"
few=20000 many=60000

make_captures() {  # PACKETS
    [[ -e $data/1KiB-$1.pcap ]] || "$bin/bench_generate" "$data/1KiB-$1.pcap" "$1" 1024 64 1000 >/dev/null
    [[ -e $data/headers-$1.pcap ]] || "$bin/bench_generate" "$data/headers-$1.pcap" "$1" 1024 64 1000 128 >/dev/null
    [[ -e $data/many-$1.pcap ]] || "$bin/bench_generate" "$data/many-$1.pcap" "$1" 1024 $(($1 / 9)) 1000 128 >/dev/null
    [[ -e $data/nvme-$1.pcap ]] || "$bin/bench_generate_nvme" "$data/nvme-$1.pcap" $(($1 / 8)) >/dev/null
}
instructions() {  # CASE PACKETS
    local command=analyze capture=$1
    if [[ $1 == check ]]; then command=check capture=1KiB; fi
    valgrind --tool=callgrind --callgrind-out-file="$data/$1-$2.callgrind" "$qpscope" "$command" -j 1 "$data/$capture-$2.pcap" \
        2>&1 >/dev/null | sed -n 's/.*Collected : *//p'
}

make_captures $few
make_captures $many
for case in "${cases[@]}"; do
    printf '%-8s %d\n' "$case" $((($(instructions "$case" $many) - $(instructions "$case" $few)) / (many - few)))
done
