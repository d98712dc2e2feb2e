# Capturing for the window: frames from a pair of virtual interfaces in a network namespace made here.
[[ $(id -u) == 0 ]] || { echo "SKIPPED: capturing needs root"; exit 77; }
command -v ip >/dev/null || { echo "SKIPPED: there is no ip (Debian package iproute2)"; exit 77; }
unshare --net true 2>/dev/null || { echo "SKIPPED: no network namespace can be made here"; exit 77; }
if [[ ${1:-} != inside ]]; then
    rm -f ./*
    unshare --net bash -euo pipefail "$0" inside
    exit
fi

fail() { echo "$*"; cat err.txt; exit 1; }
until_true() {  # COMMAND...: asks for five seconds
    for _ in {1..100}; do "$@" && return; sleep 0.05; done
    fail "never true: $*"
}
begun() { [[ -s $1 ]]; }  # the header of the capture is there: it listens
packets() { "$QPSCOPE" packets -q -f tsv -e ip.src -e udp.dstport -e udp.length "$1" | sed 1d; }

# Two ends of one cable. Frames to an address that nobody has, so nothing answers; no IPv6, so nothing else is said.
ip link set lo up
ip link add wire0 type veth peer name wire1
for end in wire0 wire1; do
    echo 1 >/proc/sys/net/ipv6/conf/$end/disable_ipv6 2>/dev/null || true
    ip link set $end up
done
ip address add 10.9.0.1/24 dev wire0
ip neighbour add 10.9.0.2 lladdr 02:00:00:00:00:02 dev wire0
send() { for _ in $(seq "$2"); do printf 'hello' >"/dev/udp/10.9.0.2/$1"; done; }

echo '-- list'
"$RECORDER" --list >list.ndjson
head -n 1 list.ndjson | grep -q '"may_capture":true'
grep '"name":"wire0"' list.ndjson | grep '"up":true' | grep '"loopback":false' | grep '"10.9.0.1"' | grep -q '"link":1'

echo '-- a filter, and a signal that ends it; no capability is left, for every user'
"$RECORDER" -i wire1 -f 'udp port 4791' >signal.pcapng 2>err.txt </dev/null &
pid=$!
until_true begun signal.pcapng
grep -q '^CapEff:\s*0000000000000000$' /proc/$pid/status
grep -q '^CapPrm:\s*0000000000000000$' /proc/$pid/status
grep -q '^CapInh:\s*0000000000000000$' /proc/$pid/status
grep -q '^NoNewPrivs:\s*1$' /proc/$pid/status
send 9 3
send 4791 4
sees() { [[ $(packets "$1" 2>/dev/null | wc -l) == "$2" ]]; }
until_true sees signal.pcapng 4  # while it runs: what is seen is handed on at once
kill -TERM $pid
code=0; wait $pid || code=$?
[[ $code == 130 ]] || fail "ended with $code"
[[ $(packets signal.pcapng | sort -u) == $'10.9.0.1\t4791\t13' && $(packets signal.pcapng | wc -l) == 4 ]] || fail "wrong packets"
grep -aq wire1 signal.pcapng || fail "the interface has no name"
"$QPSCOPE" info -q -f json signal.pcapng | tr -d ' \n' | grep -q '"dropped":{"interface":0,"system":0}' || fail "it does not say what was lost"

echo '-- a number of packets, cut'
"$RECORDER" -i wire1 -c 2 -s 40 -f udp >count.pcapng 2>err.txt </dev/null &
pid=$!
until_true begun count.pcapng
send 4791 5
wait $pid
[[ $("$QPSCOPE" packets -q -f tsv -e frame.cap_len -e frame.len count.pcapng | sed 1d) == $'40\t47\n40\t47' ]] || fail "not cut at 40"

echo '-- a time'
start=$SECONDS
"$RECORDER" -i wire1 -a 1 >time.pcapng 2>err.txt </dev/null
(( SECONDS - start <= 5 ))
"$QPSCOPE" info -q time.pcapng >/dev/null  # without a packet it is a capture too

echo '-- a reader that goes away, with packets and without'
send_for_ever() { while sleep 0.05; do send 4791 1; done; }
send_for_ever &
sender=$!
code=0; timeout 10 "$RECORDER" -i wire1 2>err.txt </dev/null | head -c 200 >/dev/null || code=$?
kill $sender
[[ $code == 0 && ! -s err.txt ]] || fail "ended with $code"
code=0; timeout 10 "$RECORDER" -i wire1 -f 'tcp port 1' 2>err.txt </dev/null | head -c 20 >/dev/null || code=$?
[[ $code == 0 && ! -s err.txt ]] || fail "without packets: ended with $code"

echo '-- who started it dies: its standard input ends'
mkfifo input
"$RECORDER" -i wire1 <input >input.pcapng 2>err.txt &
pid=$!
exec 8>input
until_true begun input.pcapng
sleep 0.5
kill -0 $pid || fail "it ended although its input is open"
exec 8>&-
code=0; wait $pid || code=$?
[[ $code == 0 ]] || fail "ended with $code"
"$QPSCOPE" info -q input.pcapng >/dev/null

echo '-- a file beside standard output, with the same packets; another one is never written over'
"$RECORDER" -i wire1 -c 3 -f udp -w one.pcapng >both.pcapng 2>err.txt </dev/null &
pid=$!
until_true begun one.pcapng
send 4791 3
wait $pid
[[ $(packets one.pcapng) == "$(packets both.pcapng)" ]] || fail "files and output differ"
[[ $(packets one.pcapng | wc -l) == 3 && $(stat -c %a one.pcapng) == 640 ]] || fail "not 3 packets for its user"
before=$(sha256sum one.pcapng)
code=0; "$RECORDER" -i wire1 -w one.pcapng >out.txt 2>err.txt </dev/null || code=$?
[[ $code == 5 && $(sha256sum one.pcapng) == "$before" ]] || fail "written over, or ended with $code"
grep -q 'one.pcapng: File exists' err.txt
ln -s elsewhere link.pcapng
code=0; "$RECORDER" -i wire1 -w link.pcapng >out.txt 2>err.txt </dev/null || code=$?
[[ $code == 5 && ! -e elsewhere ]] || fail "a link was followed"

echo '-- a ring by size: each file a capture of about that size, of which the last ones stay, with all packets in order'
head -c 1400 /dev/zero >block
send_large() { for _ in $(seq "$1"); do cat block >"/dev/udp/10.9.0.2/4791"; done; }
"$RECORDER" -i wire1 -c 3000 -f udp -w ring.pcapng -C 1 -W 3 >all.pcapng 2>err.txt </dev/null &
pid=$!
until_true begun ring_00001.pcapng
grep -q '^CapEff:\s*0000000000000000$' /proc/$pid/status
send_large 3000
wait $pid
[[ $(ls ring_*) == $'ring_00003.pcapng\nring_00004.pcapng\nring_00005.pcapng' ]] || fail "other files: $(ls ring_*)"
for file in ring_0000[34].pcapng; do
    size=$(stat -c %s "$file")
    (( size >= 1000000 && size < 1004000 )) || fail "$file has $size bytes"
done
frames() { "$QPSCOPE" packets -q -f tsv -e ip.id -e frame.time_epoch "$@" | sed 1d; }
frames all.pcapng >all.txt
frames ring_*.pcapng >kept.txt
[[ $(wc -l <all.txt) == 3000 && -s kept.txt ]] || fail "not all packets"
tail -n "$(wc -l <kept.txt)" all.txt | cmp - kept.txt || fail "the files are not the end of all"
"$QPSCOPE" info -q -f json ring_00003.pcapng | tr -d ' \n' | grep -q '"dropped":{"interface":0,"system":0}' || fail "a file does not say what was lost"

echo '-- a ring by time, as pcap; without packets there is one file'
"$RECORDER" -i wire1 -c 4 -f udp -w time.pcap -G 1 >/dev/null 2>err.txt </dev/null &
pid=$!
until_true begun time_00001.pcap
sleep 1.2
[[ $(ls time_*.pcap) == time_00001.pcap ]] || fail "files without packets"
send 4791 2
sleep 1.2
send 4791 2
wait $pid
[[ $(ls time_*.pcap) == $'time_00001.pcap\ntime_00002.pcap' ]] || fail "other files: $(ls time_*)"
for file in time_*.pcap; do [[ $(packets $file | wc -l) == 2 ]] || fail "$file has not 2 packets"; done

echo '-- what cannot be'

code=0; "$RECORDER" -i no-such-interface >out.txt 2>err.txt </dev/null || code=$?
[[ $code == 3 && ! -s out.txt ]] || fail "ended with $code"
grep -q 'no-such-interface' err.txt
code=0; "$RECORDER" -i wire1 -f 'udp prot 4791' >out.txt 2>err.txt </dev/null || code=$?
[[ $code == 2 && ! -s out.txt ]] || fail "ended with $code"
grep -q "capture filter 'udp prot 4791'" err.txt
"$RECORDER" -i wire1 >gone.pcapng 2>err.txt </dev/null &
pid=$!
until_true begun gone.pcapng
ip link delete wire0
code=0; wait $pid || code=$?
[[ $code == 3 ]] || fail "the interface is gone, and it ended with $code"
grep -q 'wire1' err.txt
