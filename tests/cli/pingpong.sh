# `pingpong` over a wire between two network namespaces made here: the ring beside TCP and UDP of the system, the same with addresses of
# the endpoint alone, which no socket reaches, and who has nothing to do with it.
. "$SOURCE/tests/support/two_ends.bash"
need_two_ends "packet sockets need"

cat >inside.sh <<'INSIDE'
set -euo pipefail
. "$SOURCE/tests/support/two_ends.bash"
make_two_ends 100

serve() {
    "$QPSCOPE" pingpong -i here --clients 1 --for 60s "$@" >server.txt 2>server.err &
    server=$!
}
call() { there "$QPSCOPE" pingpong -i there --for 50s "$@" >client.txt 2>client.err; }

echo '-- addresses of the system: every row'
serve
sleep 0.5
# A stranger, who says what the door does not want to hear, and stays.
there bash -c 'exec 3<>/dev/tcp/10.9.0.1/7474; printf "GET / HTTP/1.0\r\n\r\n" >&3; printf x >/dev/udp/10.9.0.1/7474; sleep 20' 2>/dev/null &
stranger=$!
call -n 100 --sizes 8,3000 -f json 10.9.0.1
wait $server
cat server.txt server.err client.err
[[ ! -s client.err ]]
python3 - <<'JUDGE'
import json
report = json.load(open('client.txt'))
assert report['wrong'] == report['failed'] == 0
assert report['left_out'] == []
rows = [(row['mode'], row['size_bytes']) for row in report['rows']]
assert len(rows) == len(set(rows)) == 24, rows
for row in report['rows']:
    assert row['round_trips'] + row['lost'] == 100, row
    for side in ('local', 'peer'):
        assert row[side]['user_ns'] + row[side]['kernel_ns'] == row[side]['cpu_ns'], row
assert len(report['textbooks']) == 16
JUDGE
grep -q '24 rows of pingpong' server.txt
kill $stranger 2>/dev/null || true

echo '-- addresses of its own: rows over sockets are left out, and that is no failure'
serve -a 10.9.0.71/24
call -a 10.9.0.72/24 -n 20 10.9.0.71
wait $server
cat client.txt client.err
[[ $(grep -c . client.err) == 1 ]]
grep -q 'tcp-poll, tcp-notify, udp-poll, udp-notify, tcp-stream left out: 10.9.0.72 is an address of this endpoint alone' client.err
grep -q 'write-stream' client.txt
! grep -q 'tcp-' client.txt

echo '-- the server alone has one'
serve -a 10.9.0.71/24
call -n 20 --only send-notify,udp-notify 10.9.0.71
wait $server
grep -q 'udp-notify left out: the server has no address that sockets of its system can use' client.err
[[ $(grep -v '^result: ' client.txt | grep -c 'send-notify') == 1 ]]
INSIDE
unshare --net bash inside.sh
