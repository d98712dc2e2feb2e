# `send`: a packet by hand, and what comes back; into a capture; from a capture, changed; what is wrong is said in a sentence.
fail() { echo "FAILED: $*"; exit 1; }
refused() {  # SENTENCE ARGUMENTS
    local sentence=$1 code=0
    shift
    "$QPSCOPE" send "$@" >out.txt 2>err.txt || code=$?
    [[ $code == 2 ]] || fail "send $*: exit code $code: $(cat err.txt)"
    grep -qF -- "$sentence" err.txt || fail "send $*: $(cat err.txt)"
}
fields() { "$QPSCOPE" packets -f tsv -e infiniband.bth.opcode -e infiniband.bth.destqp -e infiniband.bth.psn -e infiniband.bth.a -e ip.dst -e rdma.icrc.status "$1" | tail -n 1; }

# Into a capture: what no word says is right.
"$QPSCOPE" send -q -a 10.0.0.1 -w one.pcapng 'RC_SEND_ONLY to 10.0.0.2 qp=17 psn=512 ackreq payload=hex:0011' >sent.txt
grep -q '^->   RC_SEND_ONLY qp=17 psn=512 ackreq len=2' sent.txt || fail "$(cat sent.txt)"
[[ $(fields one.pcapng) == $'4\t17\t512\t1\t10.0.0.2\t1' ]] || fail "$(fields one.pcapng)"
"$QPSCOPE" packets -f tsv -e infiniband.payload one.pcapng | grep -qi '0011' || fail "payload"

# The same packet again, changed in a field, and damaged.
"$QPSCOPE" send -q -a 10.0.0.1 -w two.pcapng --from one.pcapng 'psn=513 bad_icrc' >/dev/null
[[ $(fields two.pcapng) == $'4\t17\t513\t1\t10.0.0.2\t2' ]] || fail "$(fields two.pcapng)"
"$QPSCOPE" send -q -a 10.77.0.11 -w three.pcapng --from "$SOURCE/captures/rping_v4/capture.pcap" --frame 6 'rkey=0x1234 to 10.9.9.9' >sent.txt
grep -q 'RC_RDMA_READ_REQUEST qp=18 psn=10274727 ackreq va=0x0000563e3e0528f0 rkey=0x00001234 dmalen=9000' sent.txt || fail "$(cat sent.txt)"
[[ $("$QPSCOPE" send -q -a 10.0.0.1 -w many.pcapng -n 5 'CNP to 10.0.0.2 qp=17' | grep -c CNP) == 5 ]] || fail "five times"

# Onto a wire, which is the loopback: a REQ to nobody is rejected, and what does not come is said.
rm -f peer.txt  # of an earlier run: it says "serving" before this peer has begun
"$QPSCOPE" peer --via udp -a 127.0.0.7 --for 20s echo >peer.txt 2>&1 &
peer=$!
trap 'kill $peer 2>/dev/null' EXIT
for ((i = 0; i < 100; ++i)); do ! grep -qs serving peer.txt || break; sleep 0.1; done
"$QPSCOPE" send --via udp -a 127.0.0.8 'REQ to 127.0.0.7 service=0x0000000001060009' --expect 'REJ reason=8' --within 5s >out.txt 2>err.txt || fail "$(cat err.txt)"
grep -q '^<- .*attr=REJ' out.txt || fail "$(cat out.txt)"
code=0
"$QPSCOPE" send --via udp -a 127.0.0.8 'RC_SEND_ONLY to 127.0.0.7 qp=77 psn=1' --expect 'RC_ACKNOWLEDGE psn=1' --within 50ms >out.txt 2>err.txt || code=$?
[[ $code == 1 ]] || fail "exit code $code"
grep -q 'RC_ACKNOWLEDGE psn=1' err.txt || fail "$(cat err.txt)"

code=0
"$QPSCOPE" send -i nosuch 'RC_SEND_ONLY to 10.0.0.2 qp=17' 2>err.txt || code=$?
[[ $code == 3 && $(wc -l <err.txt) == 1 ]] || fail "no interface: exit code $code: $(cat err.txt)"

refused "missing packet" -a 10.0.0.1 -w x.pcapng
refused "where to? Add 'to ADDRESS'" -a 10.0.0.1 -w x.pcapng 'RC_SEND_ONLY qp=17'
refused "to which queue pair? Add qp=N" -a 10.0.0.1 -w x.pcapng 'RC_SEND_ONLY to 10.0.0.2'
refused "packets to several hosts" -a 10.0.0.1 -w x.pcapng 'RC_SEND_ONLY to 10.0.0.2 qp=1' 'RC_SEND_ONLY to 10.0.0.3 qp=1'
refused "missing --address" -w x.pcapng 'RC_SEND_ONLY to 10.0.0.2 qp=17'
refused "missing interface" 'RC_SEND_ONLY to 10.0.0.2 qp=17'
refused "RC_SEND_OMLY" -a 10.0.0.1 -w x.pcapng 'RC_SEND_OMLY to 10.0.0.2 qp=17'
refused "nonsense" -a 10.0.0.1 -w x.pcapng 'RC_SEND_ONLY to 10.0.0.2 qp=17 nonsense=1'
refused "no frame 7" -a 10.0.0.1 -w x.pcapng --from one.pcapng --frame 7
[[ ! -e x.pcapng ]] || fail "a capture was left behind"
