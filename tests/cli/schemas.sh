# The JSON of every command, on every sample, against docs/schema/, by a validator that is not ours (python3-jsonschema). Here names
# that a schema does not know are refused: they must be written down.
command -v python3 >/dev/null && python3 -c 'import jsonschema' 2>/dev/null || { echo "python3-jsonschema is missing"; exit 77; }
python3 - "$QPSCOPE" "$SOURCE" <<'PYTHON'
import glob, json, os, re, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

import jsonschema

program, source = sys.argv[1:]
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAILED:", text)


def strict(schema):
    """The same, with nothing allowed that is not named."""
    if isinstance(schema, dict):
        made = {key: strict(value) if key not in ("enum", "required") else value for key, value in schema.items()}
        if "properties" in schema and isinstance(schema["properties"], dict) and schema.get("type") is not None and "additionalProperties" not in schema:
            made["additionalProperties"] = False
        return made
    return [strict(each) for each in schema] if isinstance(schema, list) else schema


schemas = {}
for path in glob.glob(os.path.join(source, "docs/schema/*.schema.json")):
    name = os.path.basename(path)[: -len(".schema.json")]
    with open(path) as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    if schema["$id"] != "qpscope:schema/" + name:
        fail(f"{path}: $id is {schema['$id']}")
    schemas[name] = jsonschema.Draft202012Validator(strict(schema))
    readme = open(os.path.join(source, "docs/schema/README.md")).read()
    if f"({name}.schema.json)" not in readme:
        fail(f"docs/schema/README.md does not list {name}")

samples = sorted(glob.glob(os.path.join(source, "captures/*/capture.*")))
every = {
    "analyze": [["analyze"]],
    "findings": [["findings"]],
    "connections": [["connections"]],
    "connections-by-host": [["connections", "--by-host"]],
    "messages": [["messages"]],
    "operations": [["operations"]],
    "operations-list": [["operations", "--list"]],
    "timeline": [["timeline"]],
    "series-waterfall": [["series", "waterfall"]],
    "series-losses": [["series", "losses"]],
    "series-incast": [["series", "incast"]],
    "series-ranks": [["series", "ranks"]],
    "series-heat-map": [["series", "heat-map"], ["series", "heat-map", "--of", "latency"]],
    "cm": [["cm"]],
    "fabric": [["fabric"]],
    "check": [["check"]],
    "info": [["info"]],
    "packets": [["packets", "-c", "20"]],
    "show": [["show", "-c", "3"]],
    "follow": [["follow", "1", "-c", "400"]],
}
some = {
    "connections": [["connections", "--match", "Got completion from peer 10.77.0.12<4711> with status=13"]],
    "check": [["check", "--all"]],
    "timeline": [["timeline", "-e", "infiniband", "-e", "ip.dsfield.ecn == 3"]],
    "packets": [["packets", "-e", "frame.number", "-e", "infiniband.bth.psn", "-e", "infiniband.payload"]],
    "follow": [["follow", "1", "--decode"], ["follow", "3", "--decode"]],
}
few = [os.path.join(source, "captures", name) for name in ("nvme_rdma/capture.pcap", "rping_v6_gzip/capture.pcap.gz", "iwarp_rping/capture.pcapng")]
jobs = [(name, words + [sample]) for name, all_words in every.items() for words in all_words for sample in samples]
jobs += [(name, words + [sample]) for name, all_words in some.items() for words in all_words for sample in few]
jobs += [("connections", ["connections", "--match", "nvme nvme0: Connect rejected: status 8 (invalid service ID).",
                          os.path.join(source, "captures/cm_reject_noport/capture.pcap")])]
jobs += [("findings-list", ["findings", "--list"]), ("fields", ["fields", "aeth"]), ("conform-coverage", ["conform", "--coverage"]),
         ("fabric-route", ["fabric", "--route", "1", "3", os.path.join(source, "captures/fabric_sweep/capture.pcap")]), ("doctor", ["doctor"]),
         *(("case", ["case", folder]) for folder in sorted(glob.glob(os.path.join(source, "tests/case/cases/*")))),
         ("send", ["send", "-a", "10.0.0.1", "-w", "one.pcapng", "RC_SEND_ONLY to 10.0.0.2 qp=17 psn=5"])]


def output(job):
    name, words = job
    return name, words, subprocess.run([program, words[0], "-q", "-f", "json"] + words[1:] if words[0] != "follow" else [program, "follow", words[1], "-q", "-f", "json"] + words[2:],
                                       capture_output=True).stdout


def validate(name, label, document):
    for error in list(schemas[name].iter_errors(document))[:3]:
        fail(f"{label}: {'.'.join(map(str, error.absolute_path))}: {error.message[:200]}")


checked = {}
with ThreadPoolExecutor(4) as pool:
    for name, words, text in pool.map(output, jobs):
        if not text:
            continue  # a connection that the sample does not have
        try:
            document = json.loads(text)
        except ValueError as error:
            fail(f"{' '.join(words)}: no JSON: {error}")
            continue
        validate(name, " ".join(words), document)
        checked[name] = checked.get(name, 0) + 1
for name in schemas:
    if name not in ("map", "pingpong") and not checked.get(name):
        fail(f"{name} was never validated")
if checked["analyze"] != len(samples):
    fail(f"{checked['analyze']} reports of {len(samples)} samples")

# Captures of two hosts, joined.
for host in ("sender", "receiver"):
    subprocess.run([program, "analyze", "-q", "--host", host, "-o", host + ".qpp", os.path.join(source, f"captures/loss_at_{host}/capture.pcap.gz")], check=True)
joined = json.loads(subprocess.run([program, "merge", "-q", "-f", "json", "sender.qpp", "receiver.qpp"], capture_output=True).stdout)
validate("analyze", "merge", joined)
if len(joined["capture"]["hosts"]) != 2 or not any("seen_at_host" in recovery and "missing_at_host" in recovery for recovery in joined["recoveries"]):
    fail("merge of two hosts does not say who has what")

# The goldens: whatever of them is one document of a command that has a schema.
for path in sorted(glob.glob(os.path.join(source, "tests/cli/golden/*_json.txt"))):
    command = os.path.basename(path).split("_")[0]
    validate(command, path, json.load(open(path)))

# The map of an anonymised capture.
subprocess.run([program, "anonymize", "-q", "--map", "map.json", "-o", "clean.pcapng", few[0]], check=True)
validate("map", "map.json", json.load(open("map.json")))

# Round trips, of rows that are played and of one that cannot be.
end = f"127.{128 + os.getpid() // 256 % 64}.{os.getpid() % 256}."
server = subprocess.Popen([program, "pingpong", "--via", "udp", "-a", end + "1", "--clients", "1", "--for", "60s"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
trips = json.loads(subprocess.run([program, "pingpong", "-q", "-f", "json", "--via", "udp", "-a", end + "2", end + "1", "--for", "50s", "-n", "20", "--sizes",
                                   "0,100"], capture_output=True).stdout)
server.wait()
validate("pingpong", "pingpong", trips)
if len(trips["rows"]) != 20 or len(trips["left_out"]) != 4 or not trips["textbooks"]:
    fail(f"pingpong has {len(trips['rows'])} rows and leaves out {trips['left_out']}")

# What must not be valid: a validator that takes everything proves nothing.
for name, broken in (("findings", {"schema": 2, "findings": [{"id": "x", "severity": "bad"}]}), ("connections", {"schema": 2}), ("analyze", {"schema": "1"}), ("map", {}), ("pingpong", {"schema": 2})):
    if schemas[name].is_valid(broken):
        fail(f"{name} takes {broken}")
print(sum(checked.values()), "documents validated")
sys.exit(failures != 0)
PYTHON
