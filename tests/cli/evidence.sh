# An input is never overwritten, and a command that waits for one can be ended.
cp "$SOURCE/captures/rds/capture.pcap" own.pcap
before=$(cksum <own.pcap)
code=0; "$QPSCOPE" packets -o own.pcap own.pcap 2>err.txt || code=$?
[[ $code == 2 ]]
grep -q 'also an input' err.txt
[[ $(cksum <own.pcap) == "$before" ]]
ln -sf own.pcap link.pcap
code=0; "$QPSCOPE" packets -o own.pcap link.pcap 2>err.txt || code=$?
[[ $code == 2 && $(cksum <own.pcap) == "$before" ]]
"$QPSCOPE" packets -o rows.txt own.pcap
[[ $(wc -l <rows.txt) == 44 ]]

# A pipe whose writer is idle: what came is reported, and the first signal ends it.
rm -f pipe; mkfifo pipe
"$QPSCOPE" info -f json pipe >info.json 2>err.txt &
reader=$!
exec 3>pipe
# However busy the machine: it has read all of it, and then some time to count it.
have_read() { awk '$1 == "rchar:" { print $2 }' /proc/$reader/io; }
all=$(($(have_read) + $(stat -c %s own.pcap)))
cat own.pcap >&3
for attempt in {1..100}; do (($(have_read) < all)) || break; sleep 0.1; done
sleep 1
kill -INT $reader
for attempt in {1..50}; do kill -0 $reader 2>/dev/null || break; sleep 0.1; done
code=0; wait $reader || code=$?
exec 3>&-
[[ $code == 130 ]]
grep -q '"packets": 43' info.json
! grep -q problem info.json

# Threads that cannot be had are done without. (Sanitizers reserve more than any limit.)
if ! (ulimit -v 2000000; "$QPSCOPE" --version) >/dev/null 2>&1; then
    echo "SKIPPED: this build does not run under a limit of memory"
    exit 0
fi
(ulimit -v 2000000; timeout 60 "$QPSCOPE" info -f json -j 500 "$SOURCE/captures/loss_read/capture.pcap") >info.json 2>err.txt
grep -q '"packets": 3482' info.json
