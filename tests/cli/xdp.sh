# AF_XDP under an endpoint, over a veth between two network namespaces made here: both ends, against the ring, at addresses of its own and
# at those of the system, which keeps its network; tags, a large MTU, replay; one sentence where it cannot be; nothing left behind.
. "$SOURCE/tests/support/two_ends.bash"
need_two_ends "AF_XDP needs"

# The kernel's own answers to COUNT requests of ICMP: ping.py ADDRESS COUNT
cat >ping.py <<'PING'
import socket, struct, sys, time
icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
icmp.settimeout(5)
for number in range(int(sys.argv[2])):
    checksum = ~(0x0800 + 0x5151 + number) & 0xffff
    icmp.sendto(struct.pack(">BBHHH", 8, 0, checksum, 0x5151, number), (sys.argv[1], 0))
    while icmp.recv(100)[20:28] != struct.pack(">BBHHH", 0, 0, (checksum + 0x0800) & 0xffff, 0x5151, number): pass
    time.sleep(0.005)
PING
cat >inside.sh <<'INSIDE'
set -euo pipefail
. "$SOURCE/tests/support/two_ends.bash"
make_two_ends 200
for _ in {1..100}; do [[ $(ip -o link show here 2>/dev/null) == *"state UP"* ]] && break; sleep 0.1; done
attached() { [[ $(ip -o link show here 2>/dev/null) == *xdp* ]]; }
gone() { for _ in {1..50}; do attached || return 0; sleep 0.1; done; echo "an XDP program is left behind"; return 1; }
until_attached() { for _ in {1..100}; do attached && return 0; sleep 0.1; done; return 1; }

code=0
"$QPSCOPE" peer -i here -a 10.9.0.71/24 --via xdp --for 100ms echo >probe.txt 2>&1 || code=$?
if grep -qE 'no AF_XDP|needs CAP_' probe.txt; then cat probe.txt; exit 77; fi
[[ $code == 0 ]] || { cat probe.txt; exit 1; }
gone

meet() {  # SERVER'S OPTIONS -- CLIENT'S OPTIONS: an echo of 300 messages over some packets each
    local served=()
    while [[ $1 != -- ]]; do served+=("$1"); shift; done
    shift
    "$QPSCOPE" peer -i here "${served[@]}" --for 50s echo --clients 1 >server.txt 2>server.err &
    server=$!
    sleep 0.2
    there "$QPSCOPE" peer -i there --for 40s -f json "$@" -n 300 -s 5001 --depth 8 >client.json 2>client.err ||
        { cat client.err server.txt server.err; exit 1; }
    wait $server
    grep -q '"wrong": 0' client.json
    grep -q '"messages": 300' client.json
}

echo '-- both ends, addresses of their own'
meet -a 10.9.0.71/24 --via xdp -- -a 10.9.0.72/24 --via xdp -w own.pcapng echo 10.9.0.71
[[ $("$QPSCOPE" info -f json own.pcapng) == *RC_SEND_FIRST* ]]
gone

echo '-- against the ring, both ways round'
meet -a 10.9.0.71/24 --via xdp -- -a 10.9.0.72/24 echo 10.9.0.71
meet -a 10.9.0.71/24 -- -a 10.9.0.72/24 --via xdp echo 10.9.0.71

echo '-- over IPv6, RoCEv1 and in a VLAN'
meet -a fd09::71/64 --via xdp -- -a fd09::72/64 --via xdp echo fd09::71
meet -a 10.9.0.71/24 --via xdp --roce-v1 -- -a 10.9.0.72/24 --via xdp --roce-v1 echo 10.9.0.71
meet -a 10.9.0.71/24 --via xdp --vlan 5 --priority 3 -- -a 10.9.0.72/24 --vlan 5 --via xdp echo 10.9.0.71

echo '-- addresses of the system, which keeps its network'
"$QPSCOPE" peer -i here --via xdp --for 50s echo --clients 1 >server.txt 2>server.err &
server=$!
until_attached
there python3 ping.py 10.9.0.1 100 &
pinging=$!
there "$QPSCOPE" peer -i there --via xdp --for 40s echo 10.9.0.1 -n 20000 -s 100 --depth 8 >client.txt 2>client.err
wait $pinging
ip neigh flush dev here
python3 ping.py 10.9.0.2 3
wait $server

echo '-- pingpong: the rows over TCP and UDP of the system, too'
"$QPSCOPE" pingpong -i here --via xdp --clients 1 --for 60s >server.txt 2>server.err &
server=$!
until_attached
there "$QPSCOPE" pingpong -i there --via xdp --for 50s -n 50 -f json 10.9.0.1 >client.txt 2>client.err
wait $server
[[ ! -s client.err ]]
grep -q '"left_out": \[\]' client.txt

echo '-- who is there already'
"$QPSCOPE" peer -i here -a 10.9.0.71/24 --via xdp --for 30s echo >first.txt 2>&1 &
first=$!
until_attached
code=0
"$QPSCOPE" peer -i here -a 10.9.0.73/24 --via xdp --for 1s echo >second.txt 2>&1 || code=$?
cat second.txt
[[ $code == 3 && $(wc -l <second.txt) == 1 ]]
grep -q '^qpscope: here: another program has an AF_XDP socket on its queue 0$' second.txt

echo '-- nothing is left behind'
kill -KILL $first
wait $first || true
gone

echo '-- no rights'
if command -v setpriv >/dev/null; then
    code=0
    setpriv --bounding-set=-bpf,-sys_admin,-net_admin --inh-caps=-bpf,-sys_admin,-net_admin \
        "$QPSCOPE" peer -i here -a 10.9.0.71/24 --via xdp --for 1s echo >rights.txt 2>&1 || code=$?
    cat rights.txt
    [[ $code == 3 ]]
    grep -q '^qpscope: here: AF_XDP needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF$' rights.txt
    gone
fi

echo '-- replay'
there timeout 30 "$QPSCOPE" packets -i there -F 'udp port 4791' -c 180 -f tsv -e line >seen.tsv 2>seen.err &
listener=$!
for _ in {1..100}; do there awk '$5 > 0 && $6 == 1 { found = 1 } END { exit !found }' /proc/net/packet && break; sleep 0.1; done
sleep 0.2
"$QPSCOPE" replay -i here --via xdp --fast "$CAPTURE" >replay.txt
wait $listener

echo '-- a large MTU'
ip link set here mtu 9000
there ip link set there mtu 9000
meet -a 10.9.0.71/24 -- -a 10.9.0.72/24 --via xdp echo 10.9.0.71
grep -q '^qpscope: there: frames of at most 3840 bytes can go this way: path MTU 2048 instead of 4096$' client.err
meet -a 10.9.0.71/24 --via xdp -- -a 10.9.0.72/24 --mtu 2048 echo 10.9.0.71
cat server.err
grep -q '^qpscope: here: frames of at most 3840 bytes can go this way: path MTU 2048 instead of 4096$' server.err
meet -a 10.9.0.71/24 --via xdp --mtu 1024 -- -a 10.9.0.72/24 --via xdp --mtu 1024 echo 10.9.0.71
[[ ! -s server.err ]]
INSIDE
code=0
CAPTURE=$SOURCE/captures/write_8k/capture.pcap unshare --net bash inside.sh || code=$?
[[ $code == 0 ]] || exit $code

"$QPSCOPE" packets -F 'udp port 4791' -f tsv -e line "$SOURCE/captures/write_8k/capture.pcap" >recorded.tsv
diff seen.tsv recorded.tsv
