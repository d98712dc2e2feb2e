# Live capture: frames from the loopback of a network namespace made here, through libpcap, with a BPF filter.
[[ $(id -u) == 0 ]] || { echo "SKIPPED: capturing needs root"; exit 77; }
command -v ip >/dev/null || { echo "SKIPPED: there is no ip (Debian package iproute2)"; exit 77; }
unshare --net true 2>/dev/null || { echo "SKIPPED: no network namespace can be made here"; exit 77; }

# An RC SEND Only to QP 17 with PSN 1..5 and 8 bytes of payload; its ICRC is wrong, which must be seen too.
cat >inside.sh <<'INSIDE'
ip link set lo up
"$QPSCOPE" packets -i lo -F 'udp port 4791' -c 3 -f tsv -e infiniband.bth.destqp -e infiniband.bth.psn -e rdma.icrc.status >out.tsv 2>err.txt &
listener=$!
for attempt in {1..100}; do
    kill -0 $listener 2>/dev/null || break
    printf 'not RDMA' >/dev/udp/127.0.0.1/9
    printf '\x04\x00\xff\xff\x00\x00\x00\x11\x00\x00\x00\x01\x01\x02\x03\x04\x05\x06\x07\x08\xde\xad\xbe\xef' >/dev/udp/127.0.0.1/4791
    sleep 0.1
done
wait $listener
INSIDE
unshare --net bash inside.sh
cat out.tsv
[[ $(head -n 1 out.tsv) == $'infiniband.bth.destqp\tinfiniband.bth.psn\trdma.icrc.status' ]]
[[ $(sed 1d out.tsv | sort -u) == $'17\t1\t2' ]]
[[ $(sed 1d out.tsv | wc -l) == 3 ]]

# Ctrl-C ends a live capture, what was seen is reported, and the exit code says so.
cat >inside.sh <<'INSIDE'
ip link set lo up
"$QPSCOPE" info -i lo -f json >info.json 2>err.txt &
listener=$!
sleep 0.5
printf '\x04\x00\xff\xff\x00\x00\x00\x11\x00\x00\x00\x01\x01\x02\x03\x04\x05\x06\x07\x08\xde\xad\xbe\xef' >/dev/udp/127.0.0.1/4791
sleep 0.5
kill -INT $listener
code=0; wait $listener || code=$?
[[ $code == 130 ]]
INSIDE
unshare --net bash inside.sh
grep -q '"RC_SEND_ONLY": 1' info.json

# What cannot be captured from says why.
code=0; "$QPSCOPE" packets -i no-such-interface 2>err.txt >out.txt || code=$?
[[ $code == 3 && ! -s out.txt ]]
grep -q 'no-such-interface' err.txt
