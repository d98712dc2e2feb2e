# On a terminal of 80 columns help and reports fit it, as somebody sees them there.
command -v python3 >/dev/null || { echo "SKIPPED: there is no python3"; exit 77; }
python3 - "$QPSCOPE" "$SOURCE/captures" <<'PYTHON'
import fcntl, os, pty, re, struct, subprocess, sys, termios

program, captures = sys.argv[1:]
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAILED:", text)


def shown(columns, *words):
    """What the program prints on a terminal of so many columns, line by line, without colours."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
    process = subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL)
    os.close(slave)
    got = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # nobody has the other end any more
            break
        if not piece:
            break
        got += piece
    process.wait()
    os.close(master)
    return re.sub(r"\x1b\[[0-9;]*m", "", got.decode()).replace("\r\n", "\n").splitlines()


def words_of(lines):
    return " ".join(" ".join(lines).split())


loss = f"{captures}/loss_write/capture.pcap"
commands = re.findall(r"^  ([a-z]+) {2,}\S", subprocess.run([program, "--help"], capture_output=True, text=True).stdout, re.MULTILINE)
for words in [["--help"]] + [[command, "--help"] for command in commands if command != "qpscope"]:
    lines = shown(80, *words)
    if len(lines) < 10:
        fail(f"{words}: {len(lines)} lines")
    examples = False
    for line in lines:
        examples |= line.startswith("Examples:")
        if len(line) > 80 and not (examples and line.startswith("  qpscope")):  # a command stays whole
            fail(f"{words}: {len(line)} columns: {line}")
    plain = subprocess.run([program, *words], capture_output=True, text=True).stdout.splitlines()
    if sorted(words_of(lines).split()) != sorted(words_of(plain).split()):
        fail(f"{words}: other words on a terminal")

# Somebody at a terminal is told the command that shows the packets of the worst finding, which works; a file has no such line.
NEXT = "next: qpscope packets -Y 'rdma.finding == go-back-n-loss' " + loss
for words in ([loss], ["findings", loss]):
    lines = shown(300, *words)
    if lines[-1] != NEXT:
        fail(f"{words}: {lines[-1]} is the last line")
    if "next:" in subprocess.run([program, *words], capture_output=True, text=True).stdout:
        fail(f"{words}: a hint in a file")
asked = subprocess.run(NEXT.replace("next: qpscope", program), shell=True, capture_output=True, text=True)
if asked.returncode != 0 or len(asked.stdout.splitlines()) < 22:
    fail(f"{NEXT}: {asked.stdout}{asked.stderr}")
for words in (["findings", "-q", loss], ["findings", "-Y", "udp", loss], ["findings", f"{captures}/send_8k/capture.pcap"]):
    if any(line.startswith("next:") for line in shown(300, *words)):
        fail(f"{words}: a hint")

# Bytes in hexadecimal digits break where the terminal ends, headings between their words.
for words in (["cm", f"{captures}/srp_io/capture.pcapng"], ["cm", f"{captures}/nvme_rdma/capture.pcap"],
              ["info", f"{captures}/incast/capture.pcap"]):
    plain = subprocess.run([program, *words], capture_output=True, text=True).stdout.splitlines()
    for columns in (60, 80):
        lines = shown(columns, *words)
        for line in lines:
            if len(line) > columns or line != line.rstrip():
                fail(f"{words} at {columns}: {line}")
        if "".join("".join(lines).split()) != "".join("".join(plain).split()):
            fail(f"{words}: another text on a terminal of {columns} columns")

for words in [["findings", loss], ["findings", f"{captures}/err_rnr/capture.pcap"], ["check", loss], ["cm", f"{captures}/rping_v4/capture.pcap"]]:
    words = words[:1] + ["-q"] + words[1:]
    for columns in (60, 80):
        lines = shown(columns, *words)
        long = [line for line in lines if len(line) > columns and "ladder" not in words]
        if words[0] in ("findings", "cm") and long:
            fail(f"{words} at {columns}: {long[0]}")
    wide, plain = shown(200, *words), subprocess.run([program, *words], capture_output=True, text=True).stdout.splitlines()
    if wide != plain:
        fail(f"{words}: another text on a wide terminal than in a file")
    if words_of(shown(80, *words)) != words_of(plain):
        fail(f"{words}: other words at 80 columns")
# A row of a table that is wider breaks between columns, at the same ones as its heading, and lacks nothing.
for words in [["connections", loss], ["connections", f"{captures}/multi_qp/capture.pcap"], ["timeline", loss], ["connections", "--performance", loss]]:
    plain = subprocess.run([program, *words], capture_output=True, text=True).stdout.splitlines()
    lines = shown(80, *words)
    if max(map(len, plain)) <= 80 or max(map(len, lines)) > 80:
        fail(f"{words}: {max(map(len, lines))} columns")
    if words_of(lines) != words_of(plain):
        fail(f"{words}: other cells at 80 columns")
    if any(len(line) != len(line.rstrip()) for line in lines):
        fail(f"{words}: blanks at the end of a line")
    if words[0] == "connections" and len(lines) % len(plain) != 0:
        fail(f"{words}: {len(lines)} lines for {len(plain)} rows")
sys.exit(failures != 0)
PYTHON
