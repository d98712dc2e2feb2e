# `annotate`, read by tshark: comments, the names of hosts, the comment of the section, the fields of qpscope.lua and the profile;
# and packets that are otherwise what they were.
command -v tshark >/dev/null || { echo "tshark is missing"; exit 77; }
export WIRESHARK_CONFIG_DIR=$PWD/config LC_ALL=C
mkdir -p config/profiles
cp -r "$SOURCE/packaging/wireshark/profile" config/profiles/qpscope
lua=(-X "lua_script:$SOURCE/packaging/wireshark/qpscope.lua")
has() { grep "$@" >/dev/null; }  # to the end, so that nobody writes into a closed pipe
fail() { echo "FAILED: $*"; exit 1; }
same() { [[ $1 == "$2" ]] || fail "$3: '$1', expected '$2'"; }
quiet_tshark() { tshark "$@" 2>/dev/null; }
fields_of() { quiet_tshark -r "$1" -T fields -e frame.time_epoch -e frame.len -e frame.cap_len -e frame.interface_id -e eth.src -e data -x; }

printf '10.77.0.11 alpha.example # the first\n10.77.0.12\tbeta.example\nnonsense\n' >hosts
for name in loss_write cm_reject_noport nvme_rdma corrupt_send iwarp_write_lost err_bad_rkey; do
    file=$(ls "$SOURCE/captures/$name"/capture.*)
    "$QPSCOPE" annotate -q --hosts hosts -o "$name.pcapng" "$file"
    # Byte for byte what it was.
    same "$(fields_of "$name.pcapng" | md5sum)" "$(fields_of "$file" | md5sum)" "packets of $name"
    # And analysed again what it was.
    diff <("$QPSCOPE" analyze -f tsv "$name.pcapng" | grep -v '^capture.files') <("$QPSCOPE" analyze -f tsv "$file" | grep -v '^capture.files') ||
        fail "the analysis of $name is another one"
    # What the fields of the plugin select is what the filter of qpscope selects, which asks for InfiniBand.
    [[ $name == iwarp* ]] || same "$(quiet_tshark "${lua[@]}" -r "$name.pcapng" -Y rdma.retransmission -T fields -e frame.number | tr '\n' ' ')" \
        "$("$QPSCOPE" packets -q -Y rdma.retransmission -f tsv -e frame.number "$file" | tail -n +2 | tr '\n' ' ')" "retransmissions of $name"
    # Every finding with evidence is at its first packet.
    "$QPSCOPE" findings -q -f tsv "$file" >findings.tsv || true
    awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next } $at["packets"] != "" { split($at["packets"], f, ","); print f[1], $at["id"] }' \
        findings.tsv >evidence
    while read -r frame id; do
        quiet_tshark "${lua[@]}" -r "$name.pcapng" -Y "frame.number == $frame && rdma.finding == \"$id\"" -T fields -e rdma.severity |
            has -E 'note|warning|error' || fail "$name: frame $frame does not say $id"
    done <evidence
    [[ $name == nvme_rdma || $name == iwarp* || -s evidence ]] || fail "$name has no finding with evidence"
done

# Text for people, in Wireshark's own fields.
[[ -n $(quiet_tshark -r loss_write.pcapng -Y 'frame.comment contains "retransmission: PSN"') ]] || fail "no comment of a retransmission"
quiet_tshark "${lua[@]}" -r nvme_rdma.pcapng -Y 'rdma.message.completed >= 1 && rdma.message.latency > 0 && rdma.connection == 3' -T fields \
    -e rdma.message.outcome | has completed || fail "no message with a latency"
quiet_tshark "${lua[@]}" -r err_bad_rkey.pcapng -Y 'rdma.nak == 2' -T fields -e frame.comment | has 'remote access error' || fail "no fatal NAK"
quiet_tshark -r loss_write.pcapng -N n -T fields -e ip.src_host -e ip.dst_host | has 'alpha.example' || fail "no names of hosts"
capinfos -k loss_write.pcapng 2>/dev/null | has 'go-back-n-loss' || fail "no comment of the section"

# The profile: columns of the plugin, colours that compile.
quiet_tshark "${lua[@]}" -C qpscope -r loss_write.pcapng -Y 'rdma.finding == "ack-timeout"' | has 'ack-timeout' || fail "no columns"
tshark "${lua[@]}" -C qpscope --color -r loss_write.pcapng -c 1 >/dev/null 2>complaints
! grep -i 'color\|profile\|lua' complaints || fail "complaints about the profile"

# Findings alone: as many comments as packets that prove one.
"$QPSCOPE" annotate -q --findings-only -o few.pcapng "$SOURCE/captures/loss_write/capture.pcap"
same "$(quiet_tshark -r few.pcapng -Y frame.comment | wc -l)" "$(quiet_tshark "${lua[@]}" -r few.pcapng -Y rdma.finding | wc -l)" "comments of findings alone"
! quiet_tshark -r few.pcapng -Y 'frame.comment contains "message"' -T fields -e frame.comment | grep '^message' || fail "messages among the findings"

# Comments that somebody else wrote stay, behind ours, and lead nobody astray.
"$QPSCOPE" annotate -q -o again.pcapng few.pcapng
same "$(quiet_tshark -r again.pcapng -Y frame.comment | wc -l)" "$(quiet_tshark -r loss_write.pcapng -Y frame.comment | wc -l)" "comments of a second time"

# What has no comments is refused.
! "$QPSCOPE" annotate -o out.pcap "$SOURCE/captures/loss_write/capture.pcap" 2>complaints || fail "pcap was taken"
grep -q 'pcap has no comments' complaints || fail "no reason"
[[ ! -e out.pcap ]] || fail "a file was left"
