# The manual pages: one for each command and of section 7, without a complaint of groff or mandoc; every option of the help is in them.
for tool in python3 groff mandoc; do command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }; done
fail() { echo "FAILED: $*"; exit 1; }
rm -rf man
python3 "$SOURCE/packaging/manual/make.py" "$QPSCOPE" man
python3 "$SOURCE/packaging/manual/make.py" --programs man
for page in man/*.? man/programs/*; do
    complaints=$(groff -ww -man -Tutf8 "$page" 2>&1 >/dev/null; mandoc -Tlint -Wwarning "$page" || true)
    [[ -z $complaints ]] || fail "$page: $complaints"
done
mapfile -t commands < <("$QPSCOPE" --help | awk '/^[A-Z].*:$/ { inside = !/^Options|^OPTIONS|^Exit/ } inside && /^  [a-z]+  / { print $1 }')
((${#commands[@]} >= 20)) || fail "only ${#commands[@]} commands"
for command in "${commands[@]}"; do
    [[ -f man/qpscope-$command.1 ]] || fail "no page of $command"
    mandoc -Tutf8 -Owidth=200 "man/qpscope-$command.1" | sed 's/.\x08//g' >page.txt
    grep -q "qpscope $command" page.txt || fail "$command: no usage"
    # Whatever the help has: each option, each line of the examples.
    "$QPSCOPE" "$command" --help >help.txt
    grep -oE '^  -[^ ]+' help.txt | while read -r option; do grep -qF -- "$option" page.txt || fail "$command: no $option"; done
    sed -n '/^Examples:/,$p' help.txt | grep '^  qpscope' | while read -r line; do grep -qF -- "$line" page.txt || fail "$command: no '$line'"; done
done
for page in filters fields findings scripts; do [[ -s man/qpscope-$page.7 ]] || fail "no $page(7)"; done
grep -qF 'infiniband.bth.psn' <(mandoc -Tutf8 man/qpscope-fields.7 | sed 's/.\x08//g') || fail "no field"
[[ $(grep -c '^\.TP' man/qpscope-fields.7) == $("$QPSCOPE" fields -f tsv | tail -n +2 | wc -l) ]] || fail "fields are missing"
[[ $(grep -c '^\.TP' man/qpscope-findings.7) == $("$QPSCOPE" findings --list -f tsv | tail -n +2 | wc -l) ]] || fail "findings are missing"
# The same once more, byte for byte.
python3 "$SOURCE/packaging/manual/make.py" "$QPSCOPE" again 2>/dev/null
diff -r --exclude=programs man again
