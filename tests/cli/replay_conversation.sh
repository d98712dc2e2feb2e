# A recorded connection between two processes, each playing one end, by unprivileged UDP on the loopback of a network namespace made here.
[[ $(id -u) == 0 ]] || { echo "SKIPPED: a network namespace needs root"; exit 77; }
command -v ip >/dev/null || { echo "SKIPPED: there is no ip (Debian package iproute2)"; exit 77; }
unshare --net true 2>/dev/null || { echo "SKIPPED: no network namespace can be made here"; exit 77; }

# What cannot be meant is said before anything is opened.
refused() {
    local words=$1 code=0
    shift
    "$QPSCOPE" replay "$@" >out.txt 2>err.txt || code=$?
    [[ $code == 2 ]] || { echo "exit code $code of $*"; cat err.txt; exit 1; }
    grep -q -- "$words" err.txt || { echo "not said: $words"; cat err.txt; exit 1; }
}
rping=$SOURCE/captures/rping_v4/capture.pcap
refused 'missing connection' --as requester "$rping"
refused 'the requester connects' --as requester -C 1 "$rping"
refused 'applies to --as requester only' --as responder -C 1 --connect 127.0.0.2 "$rping"
refused 'no such connection 7' --as responder -C 7 "$rping"
refused 'only RC and UC' --as responder -C 1 "$SOURCE/captures/ud_pingpong/capture.pcap"
refused 'port unknown' --as responder -C 1 "$SOURCE/captures/write_8k/capture.pcap"
refused -- '--as requester or --as responder' -C 1 -i lo "$rping"
refused 'invalid peer' --as requester -C 1 --connect nowhere "$rping"
refused 'invalid R_Key mapping' --as requester -C 1 --connect 127.0.0.2 --map-key 5 "$rping"

# Both ends of rping, at the pace of the recording.
cat >inside.sh <<'INSIDE'
ip link set lo up
"$QPSCOPE" replay --as responder -C 1 --for 60s --via udp -a 127.0.0.2 -f json -o responder.json "$1" 2>responder.err &
responder=$!
for attempt in {1..100}; do grep -qs "waiting for a peer" responder.err && break; sleep 0.1; done
code=0
"$QPSCOPE" replay --as requester -C 1 --via udp -a 127.0.0.1 --connect 127.0.0.2 -w wire.pcapng "$1" >requester.txt 2>requester.err || code=$?
cat requester.txt requester.err
[[ $code == 0 ]]
wait $responder
INSIDE
unshare --net bash -euo pipefail inside.sh "$rping"
grep -q 'as the requester: complete; 2[0-9] of 24 messages, no differences' requester.txt
grep -q '"differences": 0' responder.json
grep -q '"end": "complete"' responder.json
"$QPSCOPE" messages -f csv wire.pcapng | grep -c READ | grep -qx 4

# A key that no message tells: as recorded it is refused, and that is a difference; told by the user it is none.
cat >inside.sh <<'INSIDE'
ip link set lo up
play() {
    rm -f responder.err  # or that of the play before is waited for
    "$QPSCOPE" replay --as responder -C 1 -p 7471 --for 60s --via udp -a 127.0.0.2 --fast "$1" >responder.txt 2>responder.err &
    responder=$!
    for attempt in {1..100}; do grep -qs "waiting for a peer" responder.err && break; sleep 0.1; done
    live=$(sed -n 's/.*has key \(0x[0-9a-f]*\) here.*/\1/p' responder.err)
    code=0
    "$QPSCOPE" replay --as requester -C 1 --via udp -a 127.0.0.1 --connect 127.0.0.2:7471 --fast ${2:+--map-key $2=$live} "$1" >requester.txt 2>requester.err || code=$?
    other=0; wait $responder || other=$?
    cat requester.txt requester.err
}
play "$1" ''
[[ $code == 1 ]]
grep -q 'outcome: recorded completed, live remote access error' requester.txt
grep -q 'was used as recorded' requester.txt
key=$(sed -n 's/.*--map-key \(0x[0-9a-f]*\)=LIVE.*/\1/p' requester.txt)
play "$1" "$key"
[[ $code == 0 && $other == 0 ]]
grep -q '20 of 20 messages, no differences' requester.txt
INSIDE
unshare --net bash -euo pipefail inside.sh "$SOURCE/captures/write_8k/capture.pcap"
