# What the table demands of a capture of the case $name, with the program QPSCOPE. Sourced by interop and upper.

# An ACK timeout of some milliseconds ends in a slow guest although nothing is lost, soft-RoCE ignores NAKs while it retransmits, TCP
# sends again there, and some operation waits for its processor. Whose answer never comes fails otherwise.
slowness='ack-timeout nak-ignored spurious-retransmission operation-slow iwarp-retransmission'

# Each answers nothing where all is well, else why not.
check_findings() {
    local allowed id severity rest
    "$QPSCOPE" findings -q --no-progress -f tsv capture.pcapng >findings.tsv || { echo "qpscope cannot read the capture"; return; }
    allowed=" $slowness $(of finds | tr '\n' ' ') $(of may | tr '\n' ' ') "
    while IFS=$'\t' read -r severity id rest; do
        [[ $severity == note || $allowed == *" $id "* ]] || echo "finding $id"
    done < <(sed 1d findings.tsv)
    for id in $(of finds); do cut -f 2 findings.tsv | grep -qx "$id" || echo "no finding $id"; done
}

has_packet() { "$QPSCOPE" packets -q --no-progress -f tsv -e frame.number -c 1 -Y "$1" capture.pcapng | sed 1d | grep -q .; }

check_packets() {
    local filter
    while read -r filter; do [[ -z $filter ]] || has_packet "$filter" || echo "no packet with $filter"; done < <(of sees)
    while read -r filter; do [[ -z $filter ]] || ! has_packet "$filter" || echo "a packet with $filter"; done < <(of never)
}
