# `collect`: the script runs in plain shells with few programs, against a made-up /sys: what is in the archive, what it
# says is missing, that it writes nothing else, and that no name is left with --without-names.
fail() { echo "FAILED: $*"; exit 1; }
here=$PWD
rm -rf tree bin out tmp
mkdir -p tree bin out tmp

# A host with one RDMA device on two interfaces, one of them by a VLAN, and counters that grow while the script sleeps.
device=tree/sys/class/infiniband/mlx5_0
mkdir -p $device/ports/1/{gids,gid_attrs/types,gid_attrs/ndevs,counters,hw_counters} $device/device/net/ens3f0 $device/tc/1
mkdir -p tree/sys/class/net/ens3f0/ecn/roce_np/enable tree/sys/kernel/config/rdma_cm/mlx5_0/ports/1 tree/proc tree/etc
zero=0000:0000:0000:0000:0000:0000:0000:0000
gids=(fe80:0000:0000:0000:0e42:a1ff:fe12:3456 0000:0000:0000:0000:0000:ffff:0a4d:0307 fd00:0077:0000:0000:0e42:a1ff:fe12:3456 "$zero")
for i in 0 1 2 3; do
    echo "${gids[i]}" >$device/ports/1/gids/$i
    echo 'RoCE v2' >$device/ports/1/gid_attrs/types/$i
    echo ens3f0 >$device/ports/1/gid_attrs/ndevs/$i
done
echo ens3f0.77 >$device/ports/1/gid_attrs/ndevs/2
echo 10 >$device/ports/1/hw_counters/out_of_sequence
echo 5 >$device/ports/1/counters/link_downed
echo 0e42:a103:0012:3456 >$device/node_guid
echo 20.39.3004 >$device/fw_ver
echo 106 >$device/tc/1/traffic_class
echo 1 >tree/sys/class/net/ens3f0/ecn/roce_np/enable/3
echo 'RoCE v2' >tree/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode
echo 106 >tree/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos
echo 'Linux version 6.1.0 (builder@elsewhere)' >tree/proc/version
echo 'BOOT_IMAGE=/vmlinuz iommu=pt root=UUID=01234567-89ab-cdef-0123-456789abcdef' >tree/proc/cmdline
echo '100.5 400.1' >tree/proc/uptime
printf 'nvidia_peermem 16384 0 - Live 0x0\next4 1 0 - Live 0x0\n' >tree/proc/modules
echo 'ID=debian' >tree/etc/os-release
printf '127.0.0.1 localhost\n10.77.3.7 node-7.lab.example node-7 # me\n10.77.3.8\tnode-8.lab.example\n' >tree/etc/hosts

# Programs: what a small system has, and some made up.
for program in awk cat date env find grep id mkdir mv rm sed sha256sum sort tail tar wc; do ln -s "$(command -v $program)" bin/$program; done
made() { printf '#!%s\n%s\n' "$(command -v bash)" "$2" >bin/"$1"; chmod +x bin/"$1"; }
made uname 'case $1 in -n) echo node-7.lab.example ;; *) echo Linux node-7 6.1.0 ;; esac'
made sleep "echo \$1 >$here/slept; echo 17 >$here/$device/ports/1/hw_counters/out_of_sequence"
made ethtool 'case $1 in -S) printf "NIC statistics:\n     rx_prio3_pause: 4\n" ;; -*) echo "driver: mlx5_core" ;; *) echo "Settings for $1:"; echo "netlink error: Operation not permitted" >&2; exit 1 ;; esac'
made rdma 'echo "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens3f0"'
made ip 'echo "4: ens3f0: <UP> mtu 9000 link/ether 0c:42:a1:12:34:56 inet 10.77.3.7/24 inet6 fe80::e42:a1ff:fe12:3456/64 peer 10.77.3.8 at 12:34:56"
echo "5: ib0: <UP> link/infiniband 80:00:02:08:fe:80:00:00:00:00:00:00:0e:42:a1:ff:fe:12:34:56 vf 0 node_guid 0e:42:a1:03:00:12:34:56 brd ff:ff:ff:ff:ff:ff"'
made dmesg 'echo "[    1.0] mlx5_core 0000:3b:00.0: firmware version: 20.39.3004"
echo "[    2.0] usb 1-1: new device"
echo "[    3.0] nvme nvme1: new ctrl: NQN \"nqn.2014-08.org.nvmexpress:uuid:4c4c4544-0042-3510-8052-b9c04f564d33\", addr 10.77.3.8:4420"
echo "[    4.0] rdma: NODE-8.lab.example said no, port guid 0x0e42a10300123456"
echo "[    5.0] INFO: task kworker/0:1:77 blocked for more than 120 seconds."
echo "[    5.1]  schedule+0x2e/0xe0"
echo "[    6.0] nfs: server ark.lab.example not responding, still trying"
echo "[    7.0] infiniband rocex0c42a1123456: went away"'
made lldpctl 'echo "    SysName:      tor-3"; echo "    PortDescr: tor-3 port 7 of bridge 8000.c:42:a1:12:34:56"'

run() {  # SHELL SCRIPT: runs it in out/
    (cd out && env -i PATH="$here/bin" TMPDIR="$here/tmp" USER=alice NCCL_IB_HCA=mlx5_0 NCCL_IB_GID_INDEX=1 \
        UCX_TLS=rc NCCL_API_KEY=hidden HOME=/nowhere SECRET=no QPSCOPE_COLLECT_ROOT="$here/tree" "$1" "$2" >../stdout 2>../stderr) ||
        fail "$1: exit code $?: $(cat stderr)"
}
listing() { find tree bin -type f ! -name out_of_sequence -exec sha256sum {} + | sort; }
unpack() { rm -rf files && mkdir files && tar -xf "out/$(cat stdout)" -C files; }

"$QPSCOPE" collect --seconds 7 >collect.sh || fail "exit code $?"
"$QPSCOPE" collect -o written.sh --seconds 7
cmp collect.sh written.sh
lines=$(wc -l <collect.sh)
((lines <= 280)) || fail "$lines lines are too many to read"
"$QPSCOPE" collect --without-names >nameless.sh
"$QPSCOPE" collect --capture 3 | grep -q '^capture=3 ' || fail "no capture"
for words in '--seconds 0' '--seconds 1h' '--capture 4000' '--capture 1 --without-names' 'file'; do
    # shellcheck disable=SC2086  # words
    if "$QPSCOPE" collect $words >/dev/null 2>stderr; then fail "collect $words was not refused"; fi
    [[ -s stderr ]] || fail "collect $words: no reason"
done
for script in collect.sh nameless.sh; do
    sh -n $script
    [[ ! -x $(command -v shellcheck) ]] || shellcheck -s sh -S warning $script
    # In an interactive bash an exclamation mark before a word would be an event of the history.
    if tail -n +2 $script | grep -n '![^ =]'; then fail "$script cannot be pasted"; fi
done

before=$(listing)
shells=()
for shell in dash busybox bash; do
    path=$(command -v $shell) || continue
    [[ $shell == busybox ]] && { printf '#!/bin/sh\nexec %s sh "$@"\n' "$path" >busybox-sh; chmod +x busybox-sh; path=$here/busybox-sh; }
    shells+=("$path")
done
for shell in "${shells[@]}"; do
    echo 10 >$device/ports/1/hw_counters/out_of_sequence
    rm -f out/*
    run "$shell" "$here/collect.sh"
    [[ $(cat slept) == 7 ]] || fail "slept $(cat slept)"
    [[ $(ls out) == "$(cat stdout)" && $(cat stdout) =~ ^qpscope-node-7-[0-9]{8}-[0-9]{6}\.tar$ ]] || fail "not one file: $(ls out)"
    [[ -z $(ls -A tmp) ]] || fail "left behind: $(ls -A tmp)"
    [[ $(listing) == "$before" ]] || fail "something was changed"
    [[ $(sed -n 1p stderr) == "qpscope collect: collects from node-7"* ]] || fail "does not say first what it collects"
    unpack
    for file in gids hw_counters.before hw_counters.after port_counters.before ethtool.before ethtool.after ethtool_settings env ulimit \
        rdma_statistic.after rdma_link rdma_qp ip qos dmesg system modules times missing; do
        [[ -s files/node-7.$file ]] || fail "no $file: $(ls files)"
    done
    [[ -z $(find files -type f ! -name 'node-7.*') ]] || fail "other names: $(ls files)"
    has() { grep -qxF -- "$2" "files/node-7.$1" || fail "$shell: $1 has no '$2': $(cat "files/node-7.$1")"; }
    has gids /sys/class/infiniband/mlx5_0/ports/1/gids/1:0000:0000:0000:0000:0000:ffff:0a4d:0307
    has gids '/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/1:RoCE v2'
    if grep -q gids/3 files/node-7.gids; then fail "an empty GID"; fi
    has hw_counters.before /sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:10
    has hw_counters.after /sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:17
    has port_counters.after /sys/class/infiniband/mlx5_0/ports/1/counters/link_downed:5
    has ethtool.after '# ethtool -S ens3f0'
    has ethtool.after '# ethtool -S ens3f0.77'
    has ethtool.after '     rx_prio3_pause: 4'
    has env NCCL_IB_GID_INDEX=1
    has env 'NCCL_API_KEY=(left out)'
    if grep -q 'hidden\|SECRET\|HOME' files/*; then fail "more of the environment than was said"; fi
    has qos '/sys/class/infiniband/mlx5_0/tc/1/traffic_class:106'
    has qos '# cma_roce_mode -d mlx5_0 -p 1'
    has qos 'RoCE v2'
    has qos /sys/class/net/ens3f0/ecn/roce_np/enable/3:1
    grep -q '^max locked memory (kbytes, -l) [0-9u]' files/node-7.ulimit || fail "$(cat files/node-7.ulimit)"
    has modules 'nvidia_peermem 16384 0 - Live 0x0'
    has system 'Kernel command line: BOOT_IMAGE=/vmlinuz iommu=pt root=UUID=01234567-89ab-cdef-0123-456789abcdef'
    has dmesg '[    5.1]  schedule+0x2e/0xe0'
    if grep -q usb files/node-7.dmesg; then fail "kernel messages about others"; fi
    # What is missing is named, with the reason, in both places.
    for line in 'ibv_devinfo: not installed' 'mlnx_qos: not installed' 'lspci: not installed' \
        'ethtool ens3f0: netlink error: Operation not permitted'; do
        has missing "$line"
        grep -qF "not read: $line" stderr || fail "standard error has no '$line'"
    done
    [[ $(sort files/node-7.missing | uniq -d) == '' ]] || fail "said twice: $(cat files/node-7.missing)"
    grep -qxF 'Settings for ens3f0:' files/node-7.ethtool_settings || fail "what came before the error is lost"
done

# What may not be read is missing too, and says why; without a device it says so.
if [[ $(id -u) != 0 ]]; then
    chmod 000 $device/ports/1/counters/link_downed
    run "${shells[0]}" "$here/collect.sh"
    chmod 644 $device/ports/1/counters/link_downed
    grep -q 'counters/link_downed: permission denied' stderr || fail "$(cat stderr)"
fi
mv tree/sys/class/infiniband tree/sys/class/away
rm -f out/*
run "${shells[0]}" "$here/collect.sh"
grep -q 'not read: /sys/class/infiniband: no RDMA device' stderr || fail "$(cat stderr)"
mv tree/sys/class/away tree/sys/class/infiniband

# Packets: of the RDMA device where tcpdump knows it, else of its interface; without rights there are none.
"$QPSCOPE" collect --capture 9 --seconds 2 >packets.sh
capture() {  # NAME BODY: runs the script with this tcpdump
    sed -i "s|^\(echo .* >.*/slept\); |\1; $(command -v sleep) 0.3; |" bin/sleep
    made tcpdump "$1"
    rm -f out/*
    run "${shells[0]}" "$here/packets.sh"
    rm bin/tcpdump
    unpack
}
capture "[[ \$1 == -D ]] && { echo '2.mlx5_0 (RDMA sniffer)'; exit; }; [[ \$2 == mlx5_0 ]] && printf packets && exec $(command -v sleep) 60"
[[ $(cat files/node-7.mlx5_0.pcap) == packets && $(cat slept) == 9 ]] || fail "no packets: $(cat stderr)"
capture "[[ \$1 == -D ]] && exit; [[ \$2 == ens3f0 ]] && printf packets && exec $(command -v sleep) 60"
[[ $(cat files/node-7.mlx5_0.pcap) == packets ]] || fail "no packets of the interface: $(cat stderr)"
capture "echo 'tcpdump: ens3f0: no permission' >&2; exit 1"
grep -qF 'not read: packets of mlx5_0: tcpdump: ens3f0: no permission (needs root)' stderr || fail "$(cat stderr)"

# Interrupted, it leaves nothing behind: no file, no recorder.
made tcpdump "[[ \$1 == -D ]] && exit; echo \$\$ >$here/recorder; exec $(command -v sleep) 60"
cp bin/sleep kept-sleep
made sleep ": >$here/sleeps; exec $(command -v sleep) 60"
rm -f out/* sleeps
(cd out && exec setsid env -i PATH="$here/bin" TMPDIR="$here/tmp" QPSCOPE_COLLECT_ROOT="$here/tree" "${shells[0]}" ../packets.sh >/dev/null 2>&1) &
pid=$!
for ((i = 0; i < 600; i++)); do [[ -e sleeps && -s recorder ]] && break; sleep 0.1; done
kill -TERM -- -$pid  # as a terminal does, to all of them
wait $pid && fail "exit code 0"
for ((i = 0; i < 50; i++)); do [[ -z $(ls -A tmp) ]] && break; sleep 0.1; done
[[ -z $(ls -A tmp) && -z $(ls -A out) ]] || fail "left behind: $(ls -A tmp out)"
for ((i = 0; i < 50; i++)); do kill -0 "$(cat recorder)" 2>/dev/null || break; sleep 0.1; done
((i < 50)) || fail "still recording"
rm bin/tcpdump
cp kept-sleep bin/sleep

# Pasted into an interactive shell it does the same, and leaves nothing in it.
rm -f out/*
(cd out && { cat ../collect.sh; echo 'echo "pause is ${pause-not set}" >../pasted'; } |
    env -i PATH="$here/bin" TMPDIR="$here/tmp" QPSCOPE_COLLECT_ROOT="$here/tree" "$(command -v bash)" --norc --noprofile -i >/dev/null 2>&1) || true
[[ $(ls out) == qpscope-node-7-*.tar && $(cat pasted) == 'pause is not set' ]] || fail "pasted: $(ls out)"

# Without names none is left, and what was equal stays so, also on another host that runs the script.
bytes() { sed 's/://g; s/../&:/g; s/:$//' <<<"$1"; }
for shell in "${shells[@]}"; do
    rm -f out/*
    run "$shell" "$here/nameless.sh"
    unpack
    tar=$(cat stdout)
    [[ $tar != *node-7* && $(find files -name '*node*') == '' ]] || fail "a host name in a file name: $tar"
    if grep -rniE 'node-[78]|lab\.example|\bark\b|tor-3|alice|10\.77\.3\.|0a4d:0307|0e42:a1|e42:a1ff|0c:42:a1|0e42a1|0c42a1|0e:42:a1|c:42:a1|4c4c4544|89ab-cdef' files; then
        fail "a name is left"
    fi
    host=$(cd files && ls -- *.env) && host=${host%.env}
    text=$(grep -m 1 ens3f0 files/"$host".ip)
    [[ $text =~ 'link/ether 02:'.*'inet '(10\.[0-9]+\.[0-9]+)\.[0-9]+'/24'.*'inet6 fe80:0000:0000:0000:'(.*)'/64 peer '(10\.[0-9]+\.[0-9]+)\.([0-9]+)' at 12:34:56'* ]] ||
        fail "the line of ip became '$text'"
    [[ ${BASH_REMATCH[1]} == "${BASH_REMATCH[3]}" ]] || fail "not in one subnet any more: $text"
    grep -q "gids/0:fe80:0000:0000:0000:${BASH_REMATCH[2]}\$" files/"$host".gids || fail "another address in the GID table"
    grep -qF "addr ${BASH_REMATCH[3]}.${BASH_REMATCH[4]}:4420" files/"$host".dmesg || fail "another address in the log"
    grep -q "link/infiniband 80:00:02:08:fe:80:00:00:00:00:00:00:$(bytes "${BASH_REMATCH[2]}") vf 0 node_guid [0-9a-f:]* brd ff:ff:ff:ff:ff:ff" \
        files/"$host".ip || fail "$(cat files/"$host".ip)"
    guid=$(sed -n 's/.*node_guid:\([0-9a-f:]*\)$/\1/p' files/"$host".system)
    [[ -n $guid ]] && grep -qF "node_guid $(bytes "$guid")" files/"$host".ip || fail "another GUID than $guid"
    grep -q 'firmware version: 20.39.3004' files/"$host".dmesg || fail "a version became an address"
    first=$(cat files/"$host".dmesg)
    # The neighbour by its own name.
    peer=$(sed -n 's/.*rdma: \(host-[0-9a-f]*\)\.domain-.*/\1/p' files/"$host".dmesg)
    sed -i 's/echo node-7/echo node-8/' bin/uname
    rm -f out/*
    run "$shell" "$here/nameless.sh"
    sed -i 's/echo node-8/echo node-7/' bin/uname
    [[ $(cat stdout) == "qpscope-$peer-"* && -n $peer ]] || fail "node-8 is $(cat stdout), not $peer"
    unpack
    [[ $(cat files/"$peer".dmesg) == "$first" ]] || fail "other pseudonyms on another host"
done
"$QPSCOPE" collect --without-names >other.sh
if cmp -s nameless.sh other.sh; then fail "every script has the same pseudonyms"; fi
echo "ran in ${shells[*]}"
