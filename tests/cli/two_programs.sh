# Two programs: what reads captures has nothing of what speaks on a wire, and finds the other one.
fail() { echo "FAILED: $*"; exit 1; }
here=$(dirname "$QPSCOPE")

# No function of the libraries that speak on a wire, and none of their libraries.
command -v nm >/dev/null && command -v ldd >/dev/null || { echo "nm or ldd is missing (binutils)"; exit 77; }
of_wire='qps::transport::(live|conformance::(stage|script|suite|nvme))::'
nm -C "$QPSCOPE" >symbols.txt 2>/dev/null || { echo "the program is stripped"; exit 77; }
[[ -s symbols.txt ]] || { echo "the program has no symbols"; exit 77; }
! grep -E "^[0-9a-f]+ [TtWw] $of_wire" symbols.txt | head -n 3 | grep . || fail "qpscope has code that speaks on a wire"
nm -C "$here/qpscope-live" >symbols-live.txt
grep -qE "^[0-9a-f]+ [TtWw] $of_wire" symbols-live.txt || fail "qpscope-live has none: this test looks for the wrong names"
! ldd "$QPSCOPE" | grep -E 'lib(xdp|bpf)' || fail "qpscope links what only devices need"

# Executed as it is, from beside it and from libexec, with its arguments, output and exit code.
for command in peer pingpong replay send conform; do
    "$QPSCOPE" "$command" --help >one.txt
    "$here/qpscope-live" "$command" --help | cmp - one.txt || fail "$command --help"
    grep -q "Usage: qpscope $command" one.txt || fail "$command calls itself otherwise"
done
mkdir -p alone/bin alone/libexec
rm -f alone/libexec/qpscope-live
cp "$QPSCOPE" alone/bin/qpscope
code=0
alone/bin/qpscope peer --help >out.txt 2>err.txt || code=$?
[[ $code == 2 && ! -s out.txt ]] || fail "without qpscope-live: exit code $code"
grep -q "'peer' needs qpscope-live, which is neither in .*alone/bin nor in .*alone/libexec" err.txt || { cat err.txt; fail "does not say what is missing"; }
cp "$here/qpscope-live" alone/libexec/
alone/bin/qpscope conform --list --script no-such >out.txt 2>err.txt && fail "a wrong script ends with 0"
alone/bin/qpscope send --help | cmp - <("$QPSCOPE" send --help) || fail "from libexec"

# A slip is recognised across both.
! "$QPSCOPE" pear 2>err.txt || fail "pear"
grep -q "did you mean peer" err.txt || { cat err.txt; fail "no suggestion"; }
! "$QPSCOPE" -q peer echo 2>err.txt || fail "options first"
grep -q "the command must come first: qpscope peer" err.txt || { cat err.txt; fail "options before the command"; }

# Called by its own name it says what it runs, and what it does not.
for words in '' 'analyze trace.pcap'; do
    code=0
    # shellcheck disable=SC2086  # words
    "$here/qpscope-live" $words >out.txt 2>err.txt || code=$?
    [[ $code == 2 && ! -s out.txt ]] || fail "qpscope-live $words: exit code $code"
    grep -q '^qpscope-live: .*expected peer, pingpong, replay, send, conform; run qpscope for all other commands$' err.txt || { cat err.txt; fail "qpscope-live $words"; }
done

# ./run.sh builds it for the same commands.
wanted=$(sed -n 's/.*expected \(.*\); run qpscope.*/\1/p' err.txt | tr -d ' ' | tr , '\n' | sort)
in_script=$(sed -n 's/^case ${1:-} in \(.*\)) targets+=(qpscope-live).*/\1/p' "$SOURCE/run.sh" | tr -d ' ' | tr '|' '\n' | sort)
[[ -n $wanted && $wanted == "$in_script" ]] || fail "run.sh builds qpscope-live for: $in_script"
