# Programs that exchange queue pairs over TCP, on a wire between two network namespaces, as a user runs them: without --tcp a server
# listens where its callers come from, and says where.
# shellcheck source=tests/support/two_ends.bash
source "$SOURCE/tests/support/two_ends.bash"
need_two_ends "peer needs"

cat >inside.sh <<'INSIDE'
source "$SOURCE/tests/support/two_ends.bash"
make_two_ends 100
fail() { echo "FAILED: $*"; cat server.txt server.err client.txt client.err 2>/dev/null; exit 1; }
# serve WORDS...: what it says is in server.txt once it serves.
serve() {
    rm -f server.txt client.txt client.err
    "$QPSCOPE" peer --for 40s --clients 1 "$@" >server.txt 2>server.err & server=$!
    for _ in {1..100}; do ! grep -qs serving server.txt || return 0; sleep 0.1; done
    fail "$* does not serve"
}
call() { there "$QPSCOPE" peer --for 30s "$@" >client.txt 2>client.err || fail "call $*"; wait $server || fail "server of $*"; }

# An address of its own: TCP is at that of the interface. Typed as perftest is: the address that the server says.
for program in ib_write_bw ibv_rc_pingpong; do
    serve -i here -a 10.9.0.71/24 -p 18601 "$program" -n 20
    grep -qF "serving $program at 10.9.0.1, port 18601: callers connect there over TCP, RDMA goes to 10.9.0.71" server.txt || fail "$program says"
    call -i there -a 10.9.0.72/24 -p 18601 "$program" -n 20 10.9.0.71 --tcp 10.9.0.1
done

# The system's address: one place for both.
serve -i here -p 18602 ib_send_lat -n 20
grep -qF "serving ib_send_lat at 10.9.0.1, port 18602" server.txt || fail "says"
! grep -q "RDMA goes to" server.txt || fail "says two places"
call -i there -p 18602 ib_send_lat -n 20 10.9.0.1

# The port of a bridge has no address, the bridge has.
ip link add br0 type bridge
ip link set br0 up
ip address del 10.9.0.1/24 dev here
ip link set here master br0
ip address add 10.9.0.1/24 dev br0
serve -i here -a 10.9.0.73/24 -p 18603 ib_read_bw -n 20
grep -qF "serving ib_read_bw at 10.9.0.1, port 18603" server.txt || fail "on a bridge"
kill -INT $server; wait $server || true

# Nowhere to listen: it does not pretend to serve, unless it is told where, or TCP is not used.
ip address del 10.9.0.1/24 dev br0
code=0; "$QPSCOPE" peer -i here -a 10.9.0.74/24 --for 5s ib_write_bw >server.txt 2>server.err || code=$?
[[ $code == 2 && ! -s server.txt ]] || fail "nowhere: exit code $code"
grep -qF "this system has no address on here or in the network of 10.9.0.74: name one with --tcp" server.err || fail "does not say why"
serve -i here -a 10.9.0.75/24 -p 18604 --tcp 0.0.0.0 ib_write_bw
grep -qF "serving ib_write_bw at any address of this system, port 18604" server.txt || fail "0.0.0.0"
kill -INT $server; wait $server || true
serve -i here -a 10.9.0.76/24 ib_write_bw -R
grep -qF "serving ib_write_bw at 10.9.0.76, port 18515" server.txt || fail "-R"
kill -INT $server; wait $server || true

# The agent does what its callers ask: it stays at the loopback, and its first line claims no other place.
serve -i here -a 10.9.0.77/24 agent
grep -qxE ' *[0-9.]+  serving agent at 10.9.0.77' server.txt || fail "agent"
grep -qF "clients connect over TCP to 127.0.0.1, port 7475" server.txt || fail "agent: where"
kill -INT $server; wait $server || true
INSIDE
timeout 200 unshare --net bash -euo pipefail inside.sh
