# PAUSE frames between two peers on a veth: who gets them stops, says so and goes on; who ignores them does not; the capture tells it.
[[ $(id -u) == 0 ]] || { echo "SKIPPED: raw frames need root"; exit 77; }
command -v ip >/dev/null || { echo "SKIPPED: there is no ip (Debian package iproute2)"; exit 77; }
unshare --net true 2>/dev/null || { echo "SKIPPED: no network namespace can be made here"; exit 77; }

cat >inside.sh <<'INSIDE'
sysctl -qw net.ipv6.conf.default.disable_ipv6=1 || true
ip link add va type veth peer name vb
ip link set va up; ip link set vb up
for attempt in {1..100}; do [[ $(ip -o link show va) == *"state UP"* ]] && break; sleep 0.1; done
play() {  # NAME FAULT OPTIONS...
    "$QPSCOPE" peer -i va -a 10.9.0.1/24 -w "$1.pcapng" --fault "$2" --for 30s sink --clients 1 >"$1.sink" & local sink=$!
    "$QPSCOPE" peer -i vb -a 10.9.0.2/24 --link-speed 1G -f json --for 5s "${@:3}" source 10.9.0.1 -n 1000000000 -s 1024 --depth 4 >"$1.json" 2>"$1.err"
    echo $? >"$1.code"
    wait $sink || true
}
play storm 'pause=65535 after=3s every=1ms times=400'
play ignored 'pause=65535 after=3s every=1ms times=400' --pause ignore
play other 'pause=65535 priority=5 after=3s every=1ms times=400'
INSIDE
unshare --net bash inside.sh

for run in storm ignored other; do [[ $(cat $run.code) == 0 ]] || { echo "$run: exit code $(cat $run.code)"; cat $run.err; exit 1; }; done
python3 - <<'CHECK'
import json
def pauses(run):
    with open(run + ".json") as file:
        summary = json.load(file)
    assert summary["messages"] > 0 and summary["wrong"] == 0 and summary["failed"] == 0, summary
    return summary["pauses"]
storm = pauses("storm")
assert len(storm) == 1 and storm[0]["kind"] == "pause" and "priority" not in storm[0], storm
# A busy machine may lose its time, never a frame more than there are.
assert 100 <= storm[0]["stops"] <= 400 and storm[0]["resumes"] == 0, storm
# Each stops for 33.55 ms at 1 Gbit/s.
assert 1 <= storm[0]["periods"] <= 400 and 33_553_920 <= storm[0]["longest_ns"] <= storm[0]["paused_ns"], storm
assert storm[0]["paused_ns"] >= 150_000_000, storm
assert pauses("ignored") == []
other = pauses("other")
assert len(other) == 1 and other[0]["kind"] == "pfc" and other[0]["priority"] == 5, other
CHECK
grep -q 'paused for .* by PAUSE from 02:51:0a:09:00:01 (.* frames): nothing is sent' storm.err
grep -q 'PAUSE ended after ' storm.err
! grep -q 'PAUSE' ignored.err
"$QPSCOPE" findings --link-speed 1G storm.pcapng >storm.txt || true
grep -q 'link-pause' storm.txt
grep -q '02:51:0a:09:00:01 sent 802.3x PAUSE for the whole link' storm.txt
"$QPSCOPE" findings --link-speed 1G other.pcapng >other.txt || true
grep -q 'pfc-' other.txt
