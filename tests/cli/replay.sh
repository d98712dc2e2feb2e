# Replay onto a wire: frames arrive as they were recorded, at their times or as fast as they go; Ctrl-C ends it with a summary.
[[ $(id -u) == 0 ]] || { echo "SKIPPED: raw frames need root"; exit 77; }
command -v ip >/dev/null || { echo "SKIPPED: there is no ip (Debian package iproute2)"; exit 77; }
unshare --net true 2>/dev/null || { echo "SKIPPED: no network namespace can be made here"; exit 77; }
capture=$SOURCE/captures/rping_v4/capture.pcap

cat >inside.sh <<'INSIDE'
sysctl -qw net.ipv6.conf.default.disable_ipv6=1 || true
ip link add va type veth peer name vb
ip link set va mtu 9000 up; ip link set vb mtu 9000 up
for attempt in {1..100}; do [[ $(ip -o link show va) == *"state UP"* ]] && break; sleep 0.1; done
replayed() {  # OUT OPTIONS...: what the other end sees of a replay of 71 frames
    timeout 30 "$QPSCOPE" packets -i vb -c 71 -f tsv -e frame.time_relative -e eth.src -e line >"$1" 2>err.txt &
    local listener=$!
    # Until a socket is bound to the interface and runs.
    for attempt in {1..100}; do awk '$5 > 0 && $6 == 1 { found = 1 } END { exit !found }' /proc/net/packet && break; sleep 0.1; done
    sleep 0.2
    "$QPSCOPE" replay -i va "${@:2}" >"$1.summary"
    wait $listener
}
replayed timed.tsv "$CAPTURE"
replayed fast.tsv --fast "$CAPTURE"
replayed pcap.tsv --via pcap --fast "$CAPTURE"
replayed written.tsv --fast -w sent.pcapng --rewrite 'psn *+1' "$CAPTURE"

# Both are under way before anything happens to them, however slowly they begin.
received() { awk '$1 == "vb:" { print $3 }' /proc/net/dev; }
under_way() { for attempt in {1..200}; do [[ $(received) == "$1" ]] || return 0; sleep 0.1; done; }
code=0
before=$(received)
"$QPSCOPE" replay -i va --loop 0 "$CAPTURE" >endless.txt & replay=$!
under_way "$before"
kill -INT $replay
wait $replay || code=$?
echo "$code" >code.txt
code=0
before=$(received)
"$QPSCOPE" replay -i va --speed 1 --loop 1000 "$CAPTURE" >gone.txt 2>gone.err & replay=$!
under_way "$before"
ip link del va
wait $replay || code=$?
echo "$code" >gone.code
INSIDE
CAPTURE=$capture unshare --net bash inside.sh

"$QPSCOPE" packets -f tsv -e eth.src -e line "$capture" >recorded.tsv
for way in timed fast pcap; do cut -f 2- $way.tsv | diff - recorded.tsv; done
# About a third of a second in the recording; no replay is shorter, and a busy machine may make it longer.
awk -v last="$("$QPSCOPE" packets -f tsv -e frame.time_relative "$capture" | tail -n 1)" \
    'END { if ($1 > last * 0.95 && $1 < last * 3 + 10) exit 0; print "replayed in " $1 " s, recorded in " last " s"; exit 1 }' timed.tsv
grep -q '^71 frames with .* sent by va in .* frames/s' fast.tsv.summary
# What is written is what was sent.
"$QPSCOPE" packets -f tsv -e line sent.pcapng | diff - <(cut -f 3 written.tsv)
! diff -q <(cut -f 3 written.tsv) <(cut -f 2 recorded.tsv) >/dev/null

[[ $(cat code.txt) == 130 ]] || { echo "interrupted: exit code $(cat code.txt)"; exit 1; }
grep -qE '^[0-9]+ frames? with .* sent by va' endless.txt  # the first may be the only one
[[ $(cat gone.code) == 5 ]] || { echo "interface gone: exit code $(cat gone.code): $(cat gone.err)"; exit 1; }
grep -q 'the interface is gone' gone.err
