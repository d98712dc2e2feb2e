# `anonymize`, over every sample: the analysis of the clean capture is that of the original but for names; no address, key or name of
# the original is left in the file, in any encoding; what was right (ICRC, VCRC, checksums) is right, and what was wrong is wrong.
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }
key=$(printf '%02x' {0..31})
rm -rf clean && mkdir clean
for folder in "$SOURCE"/captures/*/; do
    name=$(basename "$folder")
    file=$(ls "$folder"capture.* 2>/dev/null) || continue
    "$QPSCOPE" anonymize -q --key "$key" --map "clean/$name.json" -o "clean/$name.pcapng" "$file" || fail "$name: exit code $?"
    "$QPSCOPE" analyze -q -f tsv "$file" >"clean/$name.before" || true
    "$QPSCOPE" analyze -q -f tsv "clean/$name.pcapng" >"clean/$name.after" || true
    "$QPSCOPE" packets -q -f tsv -e eth.src -e eth.dst -e ip.src -e ip.dst -e ipv6.src -e ipv6.dst -e infiniband.grh.sgid -e infiniband.grh.dgid \
        -e infiniband.reth.r_key -e infiniband.reth.va -e infiniband.deth.q_key "$file" >"clean/$name.fields"
    "$QPSCOPE" info -q -f tsv "$file" | grep -E '^(icrc|vcrc|packets|rdma)' >"clean/$name.info"
    "$QPSCOPE" info -q -f tsv "clean/$name.pcapng" | grep -E '^(icrc|vcrc|packets|rdma)' | diff "clean/$name.info" - || fail "$name: other verdicts"
    "$QPSCOPE" anonymize -q --key "$key" --payload keep -o clean/kept "$file" || fail "$name: exit code $? with its payload"
    "$QPSCOPE" info -q -f tsv clean/kept | grep -E '^(icrc|vcrc|packets|rdma)' | diff "clean/$name.info" - || fail "$name: other verdicts with its payload"
    # What is cut cannot be checked; of the other packets none is wrong that was right: what is good less is cut.
    "$QPSCOPE" anonymize -q --key "$key" --payload cut -o clean/cut "$file" || fail "$name: exit code $? without its payload"
    "$QPSCOPE" info -q -f tsv clean/cut >clean/cut.info
    "$QPSCOPE" info -q -f tsv "$file" | awk -F'\t' '
        { was = NR != FNR }
        $1 ~ /^(icrc|vcrc|fpdu_crc)\.(bad|not_checkable)$/ { count[was, $1] = $2 }
        END {
            for (one in count) {
                split(one, key, SUBSEP)
                if (key[1] == 0 && key[2] ~ /bad$/ && count[one] > count[1, key[2]]) { print key[2], count[one], "was", count[1, key[2]]; bad = 1 }
            }
            exit bad
        }' clean/cut.info - || fail "$name: CRCs are wrong where nothing was cut"
done
rm -f clean/kept clean/cut clean/cut.info

python3 - clean <<'PYTHON'
import glob, ipaddress, json, os, re, struct, sys

folder = sys.argv[1]
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAILED:", text)


# What may stand in the place of a value: facts are names, and what upper protocols send in private data has some.
NAMED = re.compile(r"\.facts\.|private_data|\.text$|\.file$|node_description|\.notice$")
WELL_KNOWN = {"0.0.0.0", "255.255.255.255", "127.0.0.1", "::", "::1"}
TOKEN = re.compile(r"0x[0-9a-f]{8}\b|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*[0-9A-Fa-f]|\d+\.\d+\.\d+\.\d+|lid \d+|LID of the switch \d+")
# Numbers that samples made to order have in other places too: immediate data like R_Keys, neighbours of numbers of queue pairs.
MADE_TO_ORDER = {"opcodes_erf", "opcodes_native", "opcodes_roce"}


def is_ip(text):
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def rows(path):
    with open(path) as file:
        return [line.rstrip("\n").split("\t", 1) for line in file if not line.startswith("capture.files")]


def packed(value, width):
    return {value.to_bytes(width, order) for order in ("big", "little")}


def encodings(text):
    """Of a name or an address as people write it."""
    return {text.encode(), text.encode("utf-16-le"), text.encode("utf-16-be"), text.encode().hex().encode(), text[::-1].encode()}


def is_random(value, width):
    """Whether the bytes would not turn up by chance: three that are not 0 or 0xff."""
    return sum(byte not in (0, 255) for byte in value.to_bytes(width, "big")) >= 3


def forbidden(name, mapping):
    """What must not be in the clean file: a label and its bytes."""
    found = []
    for row in mapping["pseudonyms"]:
        kind, original = row["kind"], row["original"]
        if kind in ("ipv4", "ipv6"):
            address = ipaddress.ip_address(original)
            raw = address.packed
            if is_random(int(address), len(raw)):
                found += [(original, raw), (original, raw[::-1]), (original, raw.hex().encode())]
            found += [(original, text) for text in encodings(original) if len(original) > 7]
        elif kind == "mac":
            raw = bytes.fromhex(original.replace(":", ""))
            found += [(original, raw), (original, raw[::-1]), (original, raw.hex().encode())] + [(original, text) for text in encodings(original)]
        elif kind == "guid" or (kind in ("key", "qkey") and name not in MADE_TO_ORDER):
            value = int(original, 16)
            width = 8 if value >> 32 or kind == "guid" else 4
            if is_random(value, width):
                found += [(original, raw) for raw in packed(value, width)] + [(original, b"%0*x" % (2 * width, value))]
        elif kind == "name" and len(original) >= 5:
            found += [(original, text) for text in encodings(original)]
    with open(os.path.join(folder, name + ".fields")) as file:
        heads = file.readline().rstrip("\n").split("\t")
        values = [set() for _ in heads]
        for line in file:
            for place, value in zip(values, line.rstrip("\n").split("\t")):
                place.add(value)
    for head, some in zip(heads, values):
        for value in some - {""} - WELL_KNOWN:
            if head == "infiniband.reth.va":
                number = int(value)
                if number >> 32 and is_random(number, 8):
                    found += [(value, raw) for raw in packed(number, 8)]
            elif head == "infiniband.reth.r_key" and name not in MADE_TO_ORDER:
                number = int(value)
                if is_random(number, 4):
                    found += [(value, raw) for raw in packed(number, 4)]
            elif is_ip(value) and is_random(int(is_ip(value)), len(is_ip(value).packed)) and not is_ip(value).is_multicast:
                found += [(value, is_ip(value).packed)]
    return found


def numbered(some, prefix, arrange):
    """The rows, with the elements of the list `prefix` arranged (elements as rows without their number) and numbered again."""
    place = re.compile(re.escape(prefix) + r"\.(\d+)\.(.*)")
    elements, others, first = {}, [], None
    for name, *value in some:
        match = place.fullmatch(name)
        if match:
            first = len(others) if first is None else first
            elements.setdefault(int(match[1]), []).append([match[2], *value])
        else:
            others.append([name, *value])
    listed = [[f"{prefix}.{number}.{name}", *value] for number, element in enumerate(arrange(list(elements.values()))) for name, *value in element]
    return others if first is None else others[:first] + listed + others[first:]


def check(name):
    with open(os.path.join(folder, name + ".json")) as file:
        mapping = json.load(file)
    if not mapping["complete"]:
        fail(f"{name}: the map is not complete")
    other = {}
    for row in mapping["pseudonyms"]:
        if row["kind"] in ("ipv4", "ipv6", "mac", "name"):
            other[row["original"]] = row["pseudonym"]
        if row["kind"] == "key":
            other["0x%08x" % int(row["original"], 16)] = "0x%08x" % int(row["pseudonym"], 16)
        if row["kind"] == "lid":
            for words in ("lid %d", "LID of the switch %d"):
                other[words % int(row["original"], 16)] = words % int(row["pseudonym"], 16)
    names = sorted((row["original"] for row in mapping["pseudonyms"] if row["kind"] == "name" and len(row["original"]) >= 3), key=len, reverse=True)

    def translated(text, with_names):
        for original in names if with_names else ():
            if original in text:
                text = text.replace(original, other[original])
        return TOKEN.sub(lambda match: other.get(match.group(0), match.group(0)), text)

    before, after = rows(os.path.join(folder, name + ".before")), rows(os.path.join(folder, name + ".after"))
    # Of upper protocols over TCP only what lies in one segment is read, and so kept: facts in longer messages are gone.
    if name.startswith("iwarp_"):
        before, after = ([row for row in some if not re.search(r"\.facts\.|private_data", row[0])] for some in (before, after))
    # Private data that no header explains becomes zero: that of our own endpoint's programs.
    if name.startswith("loss_at_"):
        before, after = ([row for row in some if not row[0].endswith(".private_data")] for some in (before, after))
    # Two packets that differ in their wrong ICRCs alone are one and the same afterwards, and a fragment that nobody can read is no RDMA.
    if name == "wrong":
        changed = ("capture.quality.ambiguous_repetitions", "capture.quality.ip_fragments", "findings.0.count", "findings.0.summary")
        before = numbered(before, "findings", lambda elements: [one for one in elements if ["id", "ip-fragments"] not in one])
        before, after = ([row for row in some if row[0] not in changed] for some in (before, after))
    # Senders of equal shares stand in the order of addresses, which pseudonyms change: the lists are compared in the order of their contents.
    if name == "incast":
        before = [[row[0], row[1] if NAMED.search(row[0]) else translated(row[1], False)] for row in before]
        for of_senders in ("congestion.pairs", "congestion.notifications", "findings"):
            before, after = (numbered(some, of_senders, sorted) for some in (before, after))
    if [row[0] for row in before] != [row[0] for row in after]:
        missing = set(row[0] for row in before) ^ set(row[0] for row in after)
        fail(f"{name}: other rows in the analysis: {sorted(missing)[:5]}")
        return
    for was, is_now in zip(before, after):
        if was == is_now or NAMED.search(was[0]):
            continue
        # A word of a sentence may be the name of a file too.
        if is_now[1] not in (translated(was[1], False), translated(was[1], True)):
            fail(f"{name}: {was[0]} was '{was[1]}', is '{is_now[1]}', should be '{translated(was[1], True)}'")
    with open(os.path.join(folder, name + ".pcapng"), "rb") as file:
        clean = file.read()
    searched = forbidden(name, mapping)
    for label, raw in searched:
        if raw in clean:
            fail(f"{name}: {label} is left as {raw.hex()}")
    return len(searched)


total = sum(check(os.path.basename(path)[:-7]) or 0 for path in sorted(glob.glob(os.path.join(folder, "*.pcapng"))))
print(total, "byte strings searched")
if total < 2000:
    fail("too little was searched")
sys.exit(failures != 0)
PYTHON

# Checksums, as somebody else computes them.
if command -v tshark >/dev/null; then
    verdicts() {
        tshark -r "$1" -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields -e ip.checksum.status -e tcp.checksum.status \
            -e udp.checksum.status 2>/dev/null | sort | uniq -c
    }
    for name in rping_v4 rping_v6 iwarp_rping tunnels; do
        file=$(ls "$SOURCE/captures/$name"/capture.*)
        diff <(verdicts "$file") <(verdicts "clean/$name.pcapng") || fail "$name: other checksums"
    done
fi

# The same key gives the same file, another one another; without one it is drawn.
file=$SOURCE/captures/nvme_rdma/capture.pcap
"$QPSCOPE" anonymize -q --key "$key" -o again.pcapng "$file"
cmp again.pcapng clean/nvme_rdma.pcapng
"$QPSCOPE" anonymize -q -o drawn.pcapng "$file"
! cmp -s drawn.pcapng again.pcapng || fail "no key was drawn"
# Payload: gone, kept, or not there; times shifted; a comment of the original is gone.
payload() { "$QPSCOPE" packets -q -f tsv -e infiniband.payload "$1" | tail -n +2 | tr -d '0\n\t'; }
[[ -z $(payload clean/write_8k.pcapng) && -n $(payload "$SOURCE/captures/write_8k/capture.pcap") ]] || fail "payload was left"
"$QPSCOPE" anonymize -q --payload keep -o kept.pcapng "$SOURCE/captures/write_8k/capture.pcap"
[[ $(payload kept.pcapng | md5sum) == $(payload "$SOURCE/captures/write_8k/capture.pcap" | md5sum) ]] || fail "payload was not kept"
"$QPSCOPE" anonymize -q --payload cut -o cut.pcapng "$SOURCE/captures/write_8k/capture.pcap"
(($(stat -c %s cut.pcapng) < $(stat -c %s kept.pcapng) / 2)) || fail "payload was not cut"
diff <("$QPSCOPE" messages -q -f tsv -e bytes "$SOURCE/captures/write_8k/capture.pcap" 2>/dev/null) <("$QPSCOPE" messages -q -f tsv -e bytes cut.pcapng 2>/dev/null)
"$QPSCOPE" anonymize -q --shift-time -3600.5 -o shifted.pcapng "$file"
first() { "$QPSCOPE" packets -q -c 1 -f tsv -e frame.time_epoch "$1" | tail -1; }
[[ $(awk -v a="$(first "$file")" -v b="$(first shifted.pcapng)" 'BEGIN { printf "%.3f", a - b }') == 3600.500 ]] || fail "times were not shifted"
"$QPSCOPE" annotate -q -o annotated.pcapng "$file"
"$QPSCOPE" anonymize -q -o clean.pcapng annotated.pcapng
[[ -z $("$QPSCOPE" packets -q -f tsv -e frame.comment clean.pcapng | tail -n +2 | tr -d '\n') ]] || fail "comments were left"
! "$QPSCOPE" anonymize --key 12 -o x.pcapng "$file" 2>/dev/null || fail "a short key was taken"
