# The way of an operator of an AI cluster: from a line of NCCL's log to the connection, to what went wrong, to the packets
# that prove it: all that the vendor's ticket needs.
capture=$SOURCE/captures/loss_write/capture.pcap
other=$SOURCE/captures/rping_v4/capture.pcap
line='host7:812:930 [0] NCCL WARN NET/IB : Got completion from peer 10.77.0.12<34543> with status=12 opcode=0 len=0 vendor err 129'

# The connection with the timeouts comes first, although another one is between the same hosts.
"$QPSCOPE" connections --match "$line" -f tsv "$other" "$capture" >candidates.tsv 2>explained.txt
column() { head -n 1 "$1" | tr '\t' '\n' | grep -nx "$2" | cut -d: -f1; }
field() { sed -n "$2p" "$1" | cut -f "$(column "$1" "$3")"; }
uid=$(field candidates.tsv 2 uid)
[[ $(field candidates.tsv 2 a_address) == 10.77.0.11 && $(field candidates.tsv 2 b_qpn) == 52 ]]
[[ $(field candidates.tsv 2 match) == *'host 10.77.0.12'*timeout* ]]
[[ $(field candidates.tsv 2 timeouts) -gt 0 && $(wc -l <candidates.tsv) == 3 ]]

# What went wrong on it, and whose fault it is; a finding decides the exit code.
code=0; "$QPSCOPE" findings -C "$uid" --fail-on warning "$other" "$capture" >note.txt || code=$?
[[ $code == 1 ]]
grep -q '^warning  ack-timeout .* fabric' note.txt
grep -q '^ *-> ' note.txt

# The path: service class and source port; and the packets before and behind the first loss.
"$QPSCOPE" analyze -C "$uid" -f json "$other" "$capture" >report.json
grep -q '"dscps": \[{"value": 0,' report.json
grep -q '"udp_source_ports": \[{"value": ' report.json
frame=$(sed -n 's/^ *frames \([0-9]*\),.*/\1/p' note.txt | sed -n 1p)
"$QPSCOPE" packets -f tsv -e frame.number -e rdma.connection -e rdma.retransmission -e infiniband.bth.psn \
    -Y "rdma.connection == $uid" "$other" "$capture" >packets.tsv
cut -f 1 packets.tsv | grep -x "$frame" >found.txt
[[ $(cut -f 3 packets.tsv | grep -c .) -gt 200 ]]
