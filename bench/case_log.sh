#!/bin/bash
# How fast `qpscope case` reads: a log of NCCL of one GiB, and the counters of 1,000 hosts. Prints MB/s and seconds, the
# best of three runs, and checks that the failure at the end of the log is found.
#   bench/case_log.sh QPSCOPE [FOLDER]      FOLDER: where 1.2 GiB fit (default: a new one below TMPDIR, removed after)
set -euo pipefail
program=$(realpath "${1:?usage: case_log.sh QPSCOPE [FOLDER]}")
if [ $# -gt 1 ]; then folder=$(realpath "$2"); else
    folder=$(mktemp -d)
    trap 'rm -rf -- "$folder"' EXIT
fi
python3 - "$folder" <<'PYTHON'
import pathlib
import random
import sys

random.seed(7)
folder = pathlib.Path(sys.argv[1])
log = folder / "nccl.log"
if not log.exists():
    head, body = [], []
    for rank in range(64):
        prefix = f"node-{rank // 8:02}:{4000 + rank}:{4100 + rank} [{rank % 8}] NCCL INFO "
        head += [prefix + f"Bootstrap : Using eth0:10.1.0.{rank // 8 + 1}<0>",
                 prefix + f"NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.1.0.{rank // 8 + 1}<0>",
                 prefix + "NCCL_IB_GID_INDEX set by environment to 3.",
                 prefix + f"comm 0x55{rank:06x} rank {rank} nranks 64 cudaDev {rank % 8} nvmlDev {rank % 8} busId 7000 commId 0xabc - Init START"]
    for channel in range(32):
        for rank in range(64):
            prefix = f"node-{rank // 8:02}:{4000 + rank}:{4200 + rank} [{rank % 8}] NCCL INFO "
            to = (rank + 1) % 64
            way = "via P2P/CUMEM/read" if to // 8 == rank // 8 else f"[send] via NET/IB/{rank % 8}/GDRDMA"
            body += [prefix + f"Channel {channel:02}/0 : {rank}[{rank % 8}] -> {to}[{to % 8}] {way}",
                     prefix + f"Ring {channel:02} : {(rank - 1) % 64} -> {rank} -> {to}",
                     prefix + f"AllReduce: opCount {channel:x} sendbuff 0x7f{random.randrange(1 << 40):x} count 1048576 datatype 7 op 0 root 0 comm 0x55{rank:06x}"]
            if random.random() < 0.05:
                body.append(prefix + f"NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn {random.randrange(1 << 20)} mtu 5 GID 3 (0/100000AFFFF0000) fifoRkey=0x12 fifoLkey=0x12")
    text = "\n".join(body) + "\n"
    with log.open("w") as file:
        file.write("\n".join(head) + "\n")
        while file.tell() < 1 << 30:
            file.write(text)
        file.write("node-03:4025:4300 [1] net_ib.cc:1 NCCL WARN NET/IB: Got completion from peer 10.1.0.5<41234> with status=12 opcode=0 len=0 vendor err 129 (Recv) hca mlx5_1\n")
counters = folder / "counters"
if not counters.exists():
    counters.mkdir()
    names = ["duplicate_request", "implied_nak_seq_err", "local_ack_timeout_err", "np_cnp_sent", "np_ecn_marked_roce_packets", "out_of_buffer",
             "out_of_sequence", "packet_seq_err", "req_cqe_error", "req_cqe_flush_error", "rnr_nak_retry_err", "rx_write_requests"]
    for host in range(1000):
        for phase, growth in (("before", 0), ("after", host % 7)):
            for device in range(2):
                with (counters / f"h{host:04}.hw_counters.{phase}").open("a") as file:
                    for name in names:
                        file.write(f"/sys/class/infiniband/mlx5_{device}/ports/1/hw_counters/{name}:{host + (growth if name == 'out_of_sequence' else 0)}\n")
PYTHON
best() { # best NAME COMMAND...: the fewest seconds of three runs
    local name=$1 fewest= seconds
    shift
    for _ in 1 2 3; do
        seconds=$( { TIMEFORMAT=%R; time "$@" >"$folder/out" 2>/dev/null; } 2>&1 )
        fewest=$(printf '%s\n' $fewest "$seconds" | sort -n | head -1)
    done
    printf '%-28s %6.2f s\n' "$name" "$fewest"
    last=$fewest
}
best "log of 1 GiB" "$program" case -f json "$folder/nccl.log"
grep -q '"case-completion-error"' "$folder/out" || { echo "the failure at its end was not found" >&2; exit 1; }
awk -v seconds="$last" -v bytes="$(stat -Lc %s "$folder/nccl.log")" 'BEGIN { printf "%-28s %6.0f MB/s\n", "", bytes / 1e6 / seconds }'
best "counters of 1,000 hosts" "$program" case -f json "$folder/counters"
grep -q '"case-packets-lost"' "$folder/out" || { echo "the losses were not found" >&2; exit 1; }
