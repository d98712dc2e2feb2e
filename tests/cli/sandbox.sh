# The kernel says who is in the sandbox: a filter (2) from the first byte of a capture on, none where the user asked for none.
if grep -qa __asan_init "$QPSCOPE"; then echo "SKIPPED: built with sanitizers, so there is no sandbox"; exit 77; fi
rm -f ./*

state_of() {  # ARGUMENT...: the seccomp mode of qpscope while it waits for its input
    local pid state
    mkfifo pipe
    exec 7<>pipe
    "$QPSCOPE" "$@" <pipe >out.txt 2>err.txt 7>&- &
    pid=$!
    for _ in {1..100}; do
        state=$(sed -n 's/^Seccomp:\t//p' /proc/$pid/status)
        [[ $state == 2 ]] && break
        sleep 0.02
    done
    echo "$state"
    kill $pid
    exec 7>&-
    wait $pid || true
    rm pipe
}
if grep -q 'reading without a sandbox' < <("$QPSCOPE" info "$SOURCE/captures/atomic_cas/capture.pcap" 2>&1); then
    echo "SKIPPED: this system lets nobody install a seccomp filter"; exit 77
fi
outside=$(sed -n 's/^Seccomp:\t//p' /proc/self/status)  # perhaps a filter of the process that runs the tests
[[ $(state_of info -) == 2 ]]
[[ $(state_of analyze -) == 2 ]]
[[ $(state_of check - -o report.txt) == 2 ]]
[[ $(state_of replay --fast -w out.pcap -) == 2 ]]
[[ $(state_of conform --script-of -) == 2 ]]
[[ $(state_of send --from - -a 10.0.0.1 -w out.pcap) == 2 ]]
[[ $(state_of analyze --nccl-log /dev/stdin "$SOURCE/captures/atomic_cas/capture.pcap") == 2 ]]  # it waits for the log
[[ $(state_of info --no-sandbox -) == "$outside" ]]

# A named pipe that is written later, behind a file; many files.
capture=$SOURCE/captures/atomic_cas/capture.pcap
mkfifo late.pcap
"$QPSCOPE" info -f json "$capture" late.pcap >late.json & pid=$!
sleep 0.2
cat "$capture" >late.pcap
wait $pid
grep -q '"late.pcap"' late.json
for i in {1..90}; do cp "$capture" many_$i.pcap; done
"$QPSCOPE" info many_*.pcap >inside.txt
(ulimit -n 40; "$QPSCOPE" info many_*.pcap >few.txt)
(ulimit -S -n 40; "$QPSCOPE" info many_*.pcap >raised.txt)
"$QPSCOPE" info --no-sandbox many_*.pcap >outside.txt
cmp inside.txt outside.txt
cmp few.txt outside.txt
cmp raised.txt outside.txt

# Those that write captures come to an end in it, and write what is right.
"$QPSCOPE" replay --fast -q -w copy.pcap "$capture"
cmp <("$QPSCOPE" packets "$capture") <("$QPSCOPE" packets copy.pcap)
"$QPSCOPE" replay --fast --loop 2 -q -w twice.pcap "$capture"
(($("$QPSCOPE" packets -f tsv -e frame.number twice.pcap | wc -l) == 2 * $("$QPSCOPE" packets -f tsv -e frame.number "$capture" | wc -l) - 1))
"$QPSCOPE" conform --script-of "$capture" -o again.script
grep -q '^> ' again.script
"$QPSCOPE" send --from "$capture" qp=17 -a 10.0.0.1 -w sent.pcap >sent.txt
(($("$QPSCOPE" packets -f tsv -e frame.number sent.pcap | wc -l) == 2))
[[ ! -e sent.pcap.part ]]
