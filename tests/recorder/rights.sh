# Who may capture: a user without rights gets told what to do, and the file capability is enough; both in a namespace of our own.
[[ $(id -u) == 0 ]] || { echo "SKIPPED: becoming another user needs root"; exit 77; }
command -v setpriv >/dev/null || { echo "SKIPPED: there is no setpriv (Debian package util-linux)"; exit 77; }
unshare --net true 2>/dev/null || { echo "SKIPPED: no network namespace can be made here"; exit 77; }
if [[ ${1:-} != inside ]]; then
    rm -f ./*
    unshare --net bash -euo pipefail "$0" inside
    exit
fi
command -v ip >/dev/null && ip link set lo up

# A copy where nobody can reach it, regardless of who owns the folders of the build.
place=$(mktemp -d)
trap 'rm -r "$place"' EXIT
chmod 755 "$place"
install -m 755 "$RECORDER" "$place/qpscope-capture"
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all)

code=0; "${as_nobody[@]}" "$place/qpscope-capture" -i lo >out.txt 2>err.txt </dev/null || code=$?
cat err.txt
[[ $code == 3 && ! -s out.txt && $(wc -l <err.txt) == 1 ]]
grep -qF "sudo setcap cap_net_raw+ep '$place/qpscope-capture'" err.txt
"${as_nobody[@]}" "$place/qpscope-capture" --list >list.ndjson
head -n 1 list.ndjson | grep -qF "\"may_capture\":false,\"remedy\":\"sudo setcap cap_net_raw+ep '$place/qpscope-capture'\""
grep -q '"name":"lo"' list.ndjson

setcap cap_net_raw+ep "$place/qpscope-capture" 2>/dev/null || { echo "SKIPPED: no file capabilities here"; exit 77; }
"${as_nobody[@]}" "$place/qpscope-capture" --list | head -n 1 | grep -q '"may_capture":true'
"${as_nobody[@]}" "$place/qpscope-capture" -i lo -f 'udp port 4791' -a 20 -c 1 >lo.pcapng 2>err.txt </dev/null &
pid=$!
for _ in {1..100}; do [[ -s lo.pcapng ]] && break; sleep 0.05; done
cat err.txt
grep -q '^Uid:\s*65534\s' /proc/$pid/status
grep -q '^CapEff:\s*0000000000000000$' /proc/$pid/status
grep -q '^CapPrm:\s*0000000000000000$' /proc/$pid/status
# In the sandbox, but for sanitizers.
grep -qa __asan_init "$RECORDER" || grep -q '^Seccomp:\s*2$' /proc/$pid/status
printf 'hello' >/dev/udp/127.0.0.1/4791
wait $pid
[[ $("$QPSCOPE" packets -q -f tsv -e udp.dstport lo.pcapng) == $'udp.dstport\n4791' ]]

# Installed setuid by somebody who knows no capabilities: the user is the caller again.
setcap -r "$place/qpscope-capture"
chmod 4755 "$place/qpscope-capture"
"${as_nobody[@]}" "$place/qpscope-capture" -i lo -a 20 -c 1 -f 'udp port 4791' >setuid.pcapng 2>err.txt </dev/null &
pid=$!
for _ in {1..100}; do [[ -s setuid.pcapng ]] && break; sleep 0.05; done
grep -qP '^Uid:\t65534\t65534\t65534\t65534$' /proc/$pid/status
grep -q '^CapPrm:\s*0000000000000000$' /proc/$pid/status
printf 'hello' >/dev/udp/127.0.0.1/4791
wait $pid
