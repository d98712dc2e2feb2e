#!/bin/sh
# collect.sh gathers what this host knows of its RDMA devices into one tar file, qpscope-HOST-DATE.tar in the current
# folder, for `qpscope case`. Run it on each host: sh collect.sh, or paste it into the shell of the job.
#
# It reads and runs commands that only show: it changes no setting and sends nothing anywhere. It writes a temporary
# folder, which it removes, and the tar file. Most of it needs no root; what it could not read, and why, it says on
# standard error and in the file HOST.missing of the archive.
#
# For tests, QPSCOPE_COLLECT_ROOT=FOLDER reads FOLDER/sys, FOLDER/proc and FOLDER/etc, and runs what is on PATH alone.
(   # a shell of its own: it changes nothing in the one it is pasted into, and a paste that is cut off runs nothing
pause=10     # seconds between the two readings of counters
capture=0    # seconds of packets to capture between them; 0: none
key=         # makes pseudonyms of host names, addresses and GUIDs; empty: they stay

set -u
umask 077
LC_ALL=C
export LC_ALL
root=${QPSCOPE_COLLECT_ROOT-}
[ -n "$root" ] || PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/opt/mellanox/iproute2/sbin

say() { printf '%s\n' "qpscope collect: $*" >&2; }
work=${TMPDIR:-/tmp}/qpscope.$$
{ mkdir "$work" && mkdir "$work/files"; } || exit 1  # a folder that is there may be somebody else's
recorders=  # DEVICE=PID of each
# shellcheck disable=SC2317  # trap calls it
clean_up() {
    for recorder in $recorders; do kill "${recorder#*=}" 2>/dev/null; done
    rm -rf -- "${work:?}"
}
trap clean_up EXIT
trap 'exit 130' HUP INT TERM
name=$(uname -n)
host=$(printf '%s\n' "${name%%.*}" | sed 's/[^A-Za-z0-9_-]/_/g')
tar=qpscope-$host-$(date -u +%Y%m%d-%H%M%S).tar
limit=
if command -v timeout >/dev/null; then limit="timeout 30"; fi  # a NIC whose firmware died may never answer

# lack WHAT: WHY  notes what could not be read, once.
lack() {
    grep -qxF -- "$*" "$work/files/$host.missing" 2>/dev/null && return
    printf '%s\n' "$*" >>"$work/files/$host.missing"
    say "not read: $*"
}
# put FILE TITLE...  appends standard input to HOST.FILE, below a line "# TITLE".
put() {
    file=$1
    shift
    { printf '# %s\n' "$*"; cat; } >>"$work/files/$host.$file"
}
# try COMMAND...  runs it, its output to $work/out. It fails where nothing came.
try() {
    if command -v "$1" >/dev/null; then
        $limit "$@" >"$work/out" 2>"$work/err" </dev/null
        code=$?
        [ $code -eq 0 ] && return
        why=$(sed '/./q' "$work/err")
        [ $code -eq 124 ] && why="no answer in 30 s"
        lack "$*: ${why:-exit code $code}"
        [ -s "$work/out" ]
    else
        lack "$1: not installed"
        false
    fi
}
# run FILE COMMAND...  appends its output to HOST.FILE.
run() {
    into=$1
    shift
    if try "$@"; then put "$into" "$*" <"$work/out"; fi
}
# values FILE PATH...  appends a line PATH:VALUE for each, as grep prints it; paths that are not there are passed over.
values() {
    into=$1
    shift
    for path; do
        [ -f "$path" ] || continue
        value=
        [ -r "$path" ] || { lack "${path#"$root"}: permission denied"; continue; }
        { read -r value <"$path"; } 2>/dev/null
        if [ -n "$value" ]; then printf '%s\n' "${path#"$root"}:$value"; else lack "${path#"$root"}: empty"; fi
    done >>"$work/files/$host.$into"
}
# copy FILE PATH...  appends whole files.
copy() {
    into=$1
    shift
    for path; do
        if cat "$path" >"$work/out" 2>"$work/err"; then put "$into" "cat ${path#"$root"}" <"$work/out"
        else lack "${path#"$root"}: $(sed 's/.*: //' "$work/err")"; fi
    done
}

say "collects from $name, for $tar:
  settings   ibv_devinfo, GIDs, mlnx_qos, dcb, ip, ethtool, LLDP, RoCE mode and ECN, PCIe links and ACS, ulimit -l,
             versions of kernel, drivers and firmware, variables of NCCL, UCX, MPI and others in this shell
  counters   of RDMA devices and of their network interfaces, twice, $pause s apart
  state      RDMA links and queue pairs with their processes; kernel messages about RDMA, PCIe, memory and stalls"
[ "$capture" -eq 0 ] || say "  packets    headers of RDMA packets, for $capture s"
[ -z "$key" ] || say "  pseudonyms take the place of host names, addresses and GUIDs"

# The RDMA devices, and the network interfaces that belong to them.
devices=
interfaces=
add_interface() {
    case " $interfaces " in *" $1 "*) ;; *) interfaces="$interfaces $1" ;; esac
}
for path in "$root"/sys/class/infiniband/*; do
    [ -d "$path" ] || continue
    devices="$devices ${path##*/}"
    for net in "$path"/device/net/*; do
        [ -e "$net" ] && add_interface "${net##*/}"
    done
    for gid in "$path"/ports/*/gids/*; do
        index=${gid##*/}
        port=${gid%/gids/*}
        value=
        { read -r value <"$gid"; } 2>/dev/null
        case $value in "" | 0000:0000:0000:0000:0000:0000:0000:0000) continue ;; esac
        values gids "$gid" "$port/gid_attrs/types/$index"
        interface=
        { read -r interface <"$port/gid_attrs/ndevs/$index"; } 2>/dev/null
        [ -n "$interface" ] || continue  # InfiniBand
        values gids "$port/gid_attrs/ndevs/$index"
        add_interface "$interface"
    done
done
[ -n "$devices" ] || lack "/sys/class/infiniband: no RDMA device"

# counters PHASE  reads all counters.
counters() {
    date -u +%Y-%m-%dT%H:%M:%SZ | put times "counters $1"
    for device in $devices; do
        at=$root/sys/class/infiniband/$device
        values "hw_counters.$1" "$at"/ports/*/hw_counters/* "$at"/hw_counters/*
        values "port_counters.$1" "$at"/ports/*/counters/*
    done
    for interface in $interfaces; do run "ethtool.$1" ethtool -S "$interface"; done
    run "rdma_statistic.$1" rdma statistic show
}
counters before

# Packets, in the background while the pause lasts. tcpdump writes to its standard output because it gives up root
# before it would open a file.
for device in $devices; do
    [ "$capture" -gt 0 ] || break
    packets=$work/files/$host.$device.pcap
    first=
    for net in "$root/sys/class/infiniband/$device"/device/net/*; do
        [ -e "$net" ] && first=${net##*/} && break
    done
    if command -v tcpdump >/dev/null && tcpdump -D 2>/dev/null | grep -q "[. ]$device "; then
        tcpdump -i "$device" -s 128 -c 500000 -w - >"$packets" 2>"$work/$device.err" </dev/null &
    elif [ -z "$first" ]; then
        lack "packets of $device: it has no network interface, and no tcpdump here captures from it"
        continue
    elif command -v qpscope-capture >/dev/null; then
        qpscope-capture -i "$first" -f "udp port 4791" -s 128 -c 500000 >"$packets" 2>"$work/$device.err" </dev/null &
    elif command -v tcpdump >/dev/null; then
        tcpdump -i "$first" -s 128 -c 500000 -w - udp port 4791 >"$packets" 2>"$work/$device.err" </dev/null &
    else
        lack "packets of $device: neither tcpdump nor qpscope-capture is installed"
        continue
    fi
    recorders="$recorders $device="$!
done

# Settings.
run system date -u +%Y-%m-%dT%H:%M:%SZ
run system uname -a
copy system "$root/proc/version" "$root/proc/uptime" "$root/etc/os-release"
sed 's/^/Kernel command line: /' "$root/proc/cmdline" 2>/dev/null | put system cat /proc/cmdline
grep -E '^(mlx|ib_|iw_|rdma|bnxt|irdma|ice|hfi1|qed|efa|erdma|ionic|hns|mana|nv_peer|nvidia_peer|gdrdrv|nvme|rpcrdma|ko2ib)' \
    "$root/proc/modules" 2>/dev/null | put modules lsmod
values system "$root"/sys/module/mlx*/version "$root"/sys/module/bnxt*/version "$root"/sys/module/i*dma/version \
    "$root"/sys/class/infiniband/*/fw_ver "$root"/sys/class/infiniband/*/board_id "$root"/sys/class/infiniband/*/hca_type \
    "$root"/sys/class/infiniband/*/node_guid
if command -v ofed_info >/dev/null; then run system ofed_info -s; fi
# shellcheck disable=SC3045  # dash and busybox have ulimit -l too
printf 'max locked memory (kbytes, -l) %s\n' "$(ulimit -l)" | put ulimit ulimit -l
env | grep -E '^(NCCL|RCCL|UCX|UCC|OMPI|PMIX|FI|MLX[45]|RDMAV|IBV|TORCH|GLOO|NVSHMEM|MV2|I_MPI|MPICH|CUDA_VISIBLE|HIP_VISIBLE)' |
    sed -E '/^[^=]*(KEY|TOKEN|SECRET|PASS)[^=]*=/s/=.*/=(left out)/' | sort >"$work/env"
if [ -s "$work/env" ]; then put env env <"$work/env"
else lack "environment: no variable of NCCL, UCX, MPI or others is set in this shell; run it in the shell of the job"; fi
run ibv_devinfo ibv_devinfo -v
run rdma_link rdma link
run ip ip -d link
run ip ip addr
run ip ip rule
run ip ip route
run ip ip neigh
values ip "$root"/proc/sys/net/ipv4/conf/*/arp_ignore "$root"/proc/sys/net/ipv4/conf/*/arp_announce "$root"/proc/sys/net/ipv4/conf/*/rp_filter
for interface in $interfaces; do
    run ethtool_settings ethtool "$interface"
    run ethtool_settings ethtool -i "$interface"
    run ethtool_settings ethtool -a "$interface"
    run qos mlnx_qos -i "$interface"
    run qos dcb pfc show dev "$interface"
    run qos dcb ets show dev "$interface"
    run qos dcb app show dev "$interface"
    values qos "$root/sys/class/net/$interface"/ecn/roce_*/* "$root/sys/class/net/$interface"/ecn/roce_*/enable/*
done
run lldp lldpctl
values qos "$root"/sys/kernel/debug/mlx5/*/cc_params/*
# cma_roce_mode and cma_roce_tos make the folder of a device where it is not there: it is read, and they are not run.
for device in $devices; do
    values qos "$root/sys/class/infiniband/$device"/tc/*/traffic_class
    at=$root/sys/kernel/config/rdma_cm/$device/ports
    [ -d "$at" ] || lack "cma_roce_mode -d $device, cma_roce_tos -d $device: no /sys/kernel/config/rdma_cm/$device"
    for port in "$at"/*; do
        [ -d "$port" ] || continue
        try cat "$port/default_roce_mode" && put qos "cma_roce_mode -d $device -p ${port##*/}" <"$work/out"
        try cat "$port/default_roce_tos" && put qos "cma_roce_tos -d $device -p ${port##*/}" <"$work/out"
    done
done
if try lspci -vvv; then
    grep -q 'access denied' "$work/out" && lack "lspci -vvv: capabilities (ACS, width of links) need root"
    grep -E '^[0-9a-f]|LnkCap:|LnkSta:|ACSCtl:|MaxPayload|MaxReadReq|driver in use' "$work/out" | put pci lspci -vvv
fi

# State. What follows a stall or a warning is its stack.
run rdma_qp rdma -jd resource show qp
run rdma_resource rdma resource show
run rdma_resource rdma resource show qp
if try dmesg; then from=dmesg; else from="journalctl -k -b -o short-iso --no-pager"; fi
# shellcheck disable=SC2086  # words of a command
if [ "$from" = dmesg ] || try $from; then
    awk -v words="mlx[45]|bnxt|irdma|ice |i40e|hfi1|qed[er]|efa|erdma|ionic|hns|mana|rxe|siw|infiniband|ib_|iw_|ipoib|[rR][dD][mM][aA]|nvme|\
iser|srp|rtrs|RDS|LNet|LustreError|o2ib|ksmbd|CIFS|nfs:|AER|PCIe|pcieport|DPC|DMAR|AMD-Vi|smmu|[iI][oO][mM][mM][uU]|mce:|EDAC|Hardware Error|NVRM|Xid|\
Out of memory|oom|Killed process|lockup|blocked for more|rcu|WATCHDOG|bond|[lL]ink (is |status )|carrier|Linux version|Command line|renamed|promiscuous|segfault" \
        '/blocked for more than|soft lockup|BUG:|WARNING:|detected stall/ { stack = 60 } stack-- > 0 || $0 ~ words' "$work/out" |
        tail -n 5000 | put dmesg "$from"
fi

wait_for=$pause
[ "$capture" -gt "$pause" ] && wait_for=$capture
sleep "$wait_for" &  # wait, unlike sleep, ends at a signal
wait $!
for recorder in $recorders; do
    device=${recorder%%=*}
    kill "${recorder#*=}" 2>/dev/null
    wait "${recorder#*=}"
    packets=$work/files/$host.$device.pcap
    [ -s "$packets" ] && continue
    rm -f "$packets"
    lack "packets of $device: $(tail -n 1 "$work/$device.err") (needs root)"
done
recorders=
counters after

# Pseudonyms of names. An IPv4 address keeps its first number, and who shares a subnet goes on to share it.
if [ -n "$key" ]; then
    if command -v sha256sum >/dev/null; then :; else say "pseudonyms need sha256sum: nothing is written"; exit 1; fi
    {
        printf 'host %s\nuser %s\nuser %s\n' "$name" "${USER-}" "${SUDO_USER-}"
        sed -n 's/^\(search\|domain\)[[:blank:]]*/host x./p' "$root/etc/resolv.conf"
        sed -n 's/#.*//; s/^[^[:blank:]]*[[:blank:]]/host /p' "$root/etc/hosts"
        sed -n 's/.*SysName: */host /p; s/.*nfs: server \([^ ]*\) .*/host \1/p' "$work"/files/*.lldp "$work"/files/*.dmesg
    } >"$work/names" 2>/dev/null
    mkdir "$work/named"
    awk -v key="$key" -v names="$work/names" -v to="$work/named/" '
function hash(text,   command, line) {
    if (text in hashed) return hashed[text]
    command = "printf %s " key text " | sha256sum"
    command | getline line
    close(command)
    return hashed[text] = line
}
function number(hex,   i, sum) {
    sum = 0
    for (i = 1; i <= length(hex); i++) sum = 16 * sum + index("0123456789abcdef", substr(hex, i, 1)) - 1
    return sum
}
function ipv4(address,   o, i, prefix, result, h) {
    split(address, o, ".")
    if (o[1] + 0 == 0 || o[1] + 0 == 127 || o[1] + 0 > 223 || o[2] + 0 > 255 || o[3] + 0 > 255 || o[4] + 0 > 255) return address
    prefix = result = o[1]
    for (i = 2; i <= 4; i++) {  # another of 256, none twice
        h = hash("ip." prefix)
        result = result "." (o[i] * (2 * number(substr(h, 1, 2)) + 1) + number(substr(h, 3, 2))) % 256
        prefix = prefix "." o[i]
    }
    return result
}
function grouped(hex, size,   i, result) {
    for (i = 1; i <= length(hex); i += size) result = result (i > 1 ? ":" : "") substr(hex, i, size)
    return result
}
function guid(hex) { return hex ~ /^0*$/ ? hex : substr(hash("guid" hex), 1, 16) }
function gid(hex,   o, left) {
    if (hex ~ /^00000000000000000000ffff/) {
        split(ipv4(number(substr(hex, 25, 2)) "." number(substr(hex, 27, 2)) "." number(substr(hex, 29, 2)) "." number(substr(hex, 31, 2))), o, ".")
        return substr(hex, 1, 24) sprintf("%02x%02x%02x%02x", o[1], o[2], o[3], o[4])
    }
    left = substr(hex, 1, 16)
    return (left == "fe80000000000000" ? left : "fd" substr(hash("net" left), 1, 14)) guid(substr(hex, 17))
}
# MAC addresses, GUIDs, GIDs and IPv6 addresses; nothing else that has colons.
function colons(text,   tail, n, g, i, all, at, left, right, o) {
    while (text ~ /[^:]:$/) { tail = ":"; text = substr(text, 1, length(text) - 1) }
    text = tolower(text)
    n = split(text, g, ":")
    all = ""
    for (i = 1; i <= n; i++) all = all (length(g[i]) > 2 ? "x" : substr("00" g[i], length(g[i]) + 1))
    if (n >= 6 && index(all, "x") == 0 && index(text, "::") == 0) {
        if (all ~ /^0*$/ || all ~ /^f*$/) return text tail
        if (n == 8) return grouped(guid(all), 2) tail
        if (n == 20) return grouped(substr(all, 1, 8) gid(substr(all, 9)), 2) tail  # IPoIB: a queue pair and a GID
        return "02:" grouped(substr(hash("mac" all), 1, 2 * n - 2), 2) tail
    }
    at = index(text, "::")
    if (n == 4 && at == 0 && length(g[1] g[2] g[3] g[4]) == 16) return grouped(guid(g[1] g[2] g[3] g[4]), 4) tail
    if (at == 0 && n != 8 && (n != 7 || index(text, ".") == 0)) return text tail
    if (text ~ /[.]/) {
        split(g[n], o, ".")
        text = substr(text, 1, length(text) - length(g[n])) sprintf("%02x%02x:%02x%02x", o[1], o[2], o[3], o[4])
    }
    if (at) {
        left = split(substr(text, 1, at - 1), g, ":")
        right = split(substr(text, at + 2), o, ":")
        for (i = left + 1; i <= 8 - right; i++) g[i] = 0
        for (i = 1; i <= right; i++) g[8 - right + i] = o[i]
    } else split(text, g, ":")
    all = ""
    for (i = 1; i <= 8; i++) all = all substr("0000" g[i], length(g[i]) + 1)
    if (all ~ /^0*1?$/ || all ~ /^ff/) return text tail
    return grouped(gid(all), 4) tail
}
function other(text, kind,   h) {
    if (kind == "colons") return colons(text)
    if (kind == "ipv4") return ipv4(text)
    text = tolower(text)
    h = hash(kind text)
    if (kind == "guid") return substr(text, 1, length(text) - 16) guid(substr(text, length(text) - 15))
    if (kind == "uuid") return substr(h, 1, 8) "-" substr(h, 9, 4) "-" substr(h, 13, 4) "-" substr(h, 17, 4) "-" substr(h, 21, 12)
    if (kind == "device") return substr(text, 1, length(text) - 12) substr(h, 1, 12)
    return kind "-" substr(h, 1, 6)
}
# The line with another text for each match that no letter or digit touches.
function pass(line, regex, kind,   done, found, before, rest) {
    while (match(line, regex)) {
        found = substr(line, RSTART, RLENGTH)
        before = substr(line, 1, RSTART - 1)
        rest = substr(line, RSTART + RLENGTH)
        done = done before
        done = done (substr(done, length(done)) substr(rest, 1, 1) ~ /[0-9A-Za-z]/ ? found : other(found, kind))
        line = rest
    }
    return done line
}
function add(name, kind,   i, c) {
    if (name ~ /[^A-Za-z0-9._-]/ || length(name) < 3 || name ~ /^(localhost|localdomain|local|root|ip6-.*)$/ || name in known) return
    known[name]
    regexes[++count] = ""
    for (i = 1; i <= length(name); i++) {  # in any case
        c = substr(name, i, 1)
        regexes[count] = regexes[count] "[" (tolower(c) == toupper(c) ? c : tolower(c) toupper(c)) "]"
    }
    kinds[count] = kind
}
BEGIN {
    H = "[0-9a-fA-F]"
    H4 = H H H H
    while ((getline line < names) > 0) {
        n = split(line, word, " ")
        for (i = 2; i <= n; i++) {
            dot = index(word[i], ".")
            if (dot && word[1] == "host") { add(substr(word[i], dot + 1), "domain"); word[i] = substr(word[i], 1, dot - 1) }
            add(word[i], word[1])
        }
    }
}
FNR == 1 { base = FILENAME; sub(/.*\//, "", base); for (i = 1; i <= count; i++) base = pass(base, regexes[i], kinds[i]) }
{
    head = ""
    if (match($0, /^\/sys\/[^:]*:/)) { head = substr($0, 1, RLENGTH); $0 = substr($0, RLENGTH + 1) }
    $0 = head pass($0, H "*:" H "*:[0-9a-fA-F:]*([.0-9]*[0-9])?", "colons")
    $0 = pass($0, "[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+", "ipv4")
    $0 = pass($0, "(0x)?" H4 H4 H4 H4, "guid")
    $0 = pass($0, H4 H4 "-" H4 "-" H4 "-" H4 "-" H4 H4 H4, "uuid")
    $0 = pass($0, "(en|ib|iw|roce)x" H4 H4 H4, "device")  # named after its address
    for (i = 1; i <= count; i++) $0 = pass($0, regexes[i], kinds[i])
    print > (to base)
}' "$work"/files/* || exit 1
    rm -rf -- "${work:?}/files"
    mv "$work/named" "$work/files"
    for path in "$work"/files/*.missing "$work"/files/*.system; do
        path=${path##*/}
        tar=qpscope-${path%%.*}-${tar#"qpscope-$host-"}
    done
fi

# The archive.
if [ -e "$tar" ]; then say "$tar is there already"; exit 1; fi
if (cd "$work/files" && tar -cf - ./*) >"$tar"; then
    say "wrote $tar with $(find "$work/files" -type f | wc -l) files; qpscope case reads it. Look into it before you hand it on."
    printf '%s\n' "$tar"
else
    say "cannot write $tar in $PWD"
    exit 1
fi
)
