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

for words in [["findings", loss], ["findings", f"{captures}/err_rnr/capture.pcap"], ["check", loss], ["cm", f"{captures}/rping_v4/capture.pcap"]]:
    for columns in (60, 80):
        lines = shown(columns, *words)
        long = [line for line in lines if len(line) > columns and "ladder" not in words]
        if words[0] == "findings" and long:
            fail(f"{words} at {columns}: {long[0]}")
    wide, plain = shown(200, *words), subprocess.run([program, *words], capture_output=True, text=True).stdout.splitlines()
    if wide != plain:
        fail(f"{words}: another text on a wide terminal than in a file")
    if words_of(shown(80, *words)) != words_of(plain):
        fail(f"{words}: other words at 80 columns")
sys.exit(failures != 0)
PYTHON
