# `check`: verdicts, exit codes, a profile, evidence, and what changed since an earlier report.
capture=$SOURCE/captures/nvme_rdma/capture.pcap
exits() {  # CODE COMMAND...
    local code=0
    "${@:2}" >out.txt 2>err.txt || code=$?
    [[ $code == "$1" ]] || { echo "exit code $code, not $1: ${*:2}"; cat out.txt err.txt; exit 1; }
}

# The severity decides: what soft RoCE does otherwise is of low severity.
exits 0 "$QPSCOPE" check "$capture"
exits 1 "$QPSCOPE" check --fail-on low "$capture"
grep -q '^FMT-09 ' out.txt
grep -q '^99 checks: .* 3 failed, 1 inconclusive' out.txt
exits 0 "$QPSCOPE" check --fail-on high "$capture"
exits 0 "$QPSCOPE" check --fail-on never "$capture"
exits 0 "$QPSCOPE" check --only FMT-08 "$capture"
exits 1 "$QPSCOPE" check --only FMT-08 --fail-on low "$capture"
exits 0 "$QPSCOPE" check --only TRC,rsp-02 "$capture"
grep -q '^4 checks: 4 passed' out.txt
exits 2 "$QPSCOPE" check --only FMT-99 "$capture"
grep -q 'FMT-99' err.txt

# What the device declares is no failure; what is wrong in a profile is shown in its place.
printf 'name rxe\ndeclares no-apm no-e2e-credits\ndeviation FMT-09 = fixed in 6.9\n' >rxe.profile
exits 0 "$QPSCOPE" check --fail-on low --profile rxe.profile "$capture"
grep -q 'fixed in 6.9' out.txt
grep -q ' 0 failed, .* 3 declared' out.txt
printf 'declares fast\n' >wrong.profile
exits 2 "$QPSCOPE" check --profile wrong.profile "$capture"
grep -q '^wrong.profile:1:10: ' err.txt
exits 2 "$QPSCOPE" check --profile no.profile "$capture"

# One device alone: its packets are counted, and the two ends have all between them.
exits 1 "$QPSCOPE" check --device 10.77.0.11 --fail-on low "$capture"
grep -q '^FMT-08  213 of 213 RC packets' out.txt
exits 1 "$QPSCOPE" check --device 10.77.0.12 --fail-on low "$capture"
grep -q '^FMT-08  186 of 186 RC packets' out.txt
exits 1 "$QPSCOPE" check --fail-on low "$capture"
grep -q '^FMT-08  399 of 399 RC packets' out.txt
exits 6 "$QPSCOPE" check --device 10.9.9.9 "$capture"
grep -qx 'qpscope: no packet comes from 10.9.9.9: nothing was judged' err.txt
exits 2 "$QPSCOPE" check --device nobody "$capture"

# The packets that prove a failure, and nothing else.
exits 0 "$QPSCOPE" check --evidence packets "$capture"
[[ $(ls packets) == $'FMT-08.pcapng\nFMT-09.pcapng\nRSP-47.pcapng' ]]
"$QPSCOPE" packets -f tsv -e infiniband.bth.a packets/FMT-09.pcapng | sed 1d | sort -u >asked.txt
[[ $(cat asked.txt) == 1 || $(cat asked.txt) == true ]]
exits 2 "$QPSCOPE" check --evidence packets - <"$capture"

# Two reports compared.
exits 0 "$QPSCOPE" check -f json -o old.json "$capture"
exits 0 "$QPSCOPE" check --profile rxe.profile --compare old.json "$capture"
grep -q '^FMT-09  fail -> declared deviation' out.txt
exits 1 "$QPSCOPE" check --fail-on low --compare old.json "$capture"
grep -q 'no changes; 99 verdicts unchanged' out.txt
exits 2 "$QPSCOPE" check --compare rxe.profile "$capture"
grep -q 'not a JSON report' err.txt

# Formats: each is whole, and HTML takes nothing from elsewhere.
exits 0 "$QPSCOPE" check -f junit -o junit.xml "$capture"
exits 1 "$QPSCOPE" check -f junit --fail-on low -o strict.xml "$capture"
exits 0 "$QPSCOPE" check -f html -o report.html --compare old.json "$capture"
[[ $(tail -n 1 report.html) == '</html>' ]]
! grep -qE 'https?://|<script|<link|@import|url\(' report.html
if command -v python3 >/dev/null; then
    python3 - <<'PYTHON'
import json, xml.dom.minidom
report = json.load(open("old.json"))
assert len(report["checks"]) == 99 and report["schema"] == 1
assert sum(report["counts"].values()) == 99
suite = xml.dom.minidom.parse("junit.xml")
assert len(suite.getElementsByTagName("testcase")) == 99
assert len(suite.getElementsByTagName("failure")) == 0  # as the exit code says
below = [each.getAttribute("message") for each in suite.getElementsByTagName("skipped")]
assert sum("below --fail-on" in each and "expected: " in each for each in below) == 3
assert len(xml.dom.minidom.parse("strict.xml").getElementsByTagName("failure")) == 3
assert len(report["digest"]) == 64
assert any(each.getAttribute("value") == report["digest"] for each in suite.getElementsByTagName("property"))
PYTHON
fi
# By a validator that is not ours, which takes not everything.
if command -v xmllint >/dev/null; then
    xmllint --noout --schema "$SOURCE/tests/cli/junit.xsd" junit.xml 2>xmllint.txt || { cat xmllint.txt; exit 1; }
    sed 's/ name="[^"]*" tests/ tests/' junit.xml >nameless.xml
    ! xmllint --noout --schema "$SOURCE/tests/cli/junit.xsd" nameless.xml 2>/dev/null
else
    echo "xmllint is missing: the JUnit XML was not validated"
fi
