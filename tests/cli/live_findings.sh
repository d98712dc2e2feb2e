# Findings of a live capture are printed while it goes on, once each; the report of `analyze` comes at Ctrl-C.
[[ $(id -u) == 0 ]] || { echo "SKIPPED: capturing needs root"; exit 77; }
command -v ip >/dev/null || { echo "SKIPPED: there is no ip (Debian package iproute2)"; exit 77; }
unshare --net true 2>/dev/null || { echo "SKIPPED: no network namespace can be made here"; exit 77; }

# RC SENDs Only to QP 17 whose ICRC is wrong, until the finding is there; more of them afterwards.
cat >inside.sh <<'INSIDE'
ip link set lo up
send() { printf '\x04\x00\xff\xff\x00\x00\x00\x11\x00\x00\x00\x01\x01\x02\x03\x04\x05\x06\x07\x08\xde\xad\xbe\xef' >/dev/udp/127.0.0.1/4791; }
"$QPSCOPE" findings -i lo -F 'udp port 4791' -f ndjson >findings.ndjson 2>err.txt &
listener=$!
for attempt in {1..100}; do
    send
    sleep 0.1
    grep -q '"id": "icrc-wrong"' findings.ndjson && break
done
kill -0 $listener  # it was printed while the capture went on
for attempt in {1..15}; do
    send
    sleep 0.1
done
kill -INT $listener
code=0; wait $listener || code=$?
[[ $code == 130 ]]
[[ $(grep -c '"id": "icrc-wrong"' findings.ndjson) == 1 ]]

"$QPSCOPE" analyze -i lo -F 'udp port 4791' >report.txt 2>err.txt &
listener=$!
sleep 1
send
sleep 0.5
[[ ! -s report.txt ]]
kill -INT $listener
code=0; wait $listener || code=$?
[[ $code == 130 ]]
INSIDE
unshare --net bash -euo pipefail inside.sh
head -n 1 report.txt | grep -q '^lo$'
grep -q 'packets .* RDMA' report.txt
