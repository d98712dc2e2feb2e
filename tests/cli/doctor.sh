# `doctor`: what is true of this machine, as others see it too; with and without rights; in every format.
fail() { echo "FAILED: $*"; exit 1; }
"$QPSCOPE" doctor -f tsv >all.tsv || fail "exit code $?"
[[ $(head -1 all.tsv) == $'subject\twhat\tstate\tfound\tadvice' ]] || fail "other columns"
# Every interface of the system, once, with its own MTU.
for path in /sys/class/net/*; do
    [[ -d $path ]] || continue
    name=$(basename "$path")
    line=$(awk -F'\t' -v name="$name" '$1 == name && $2 == "link"' all.tsv)
    [[ $(wc -l <<<"$line") == 1 && $line == *"MTU $(cat "$path/mtu")"* ]] || fail "$name: '$line'"
done
[[ $(awk -F'\t' '$3 !~ /^(state|ok|note|missing|unknown)$/' all.tsv) == '' ]] || fail "a state that is none"
# What is missing has advice.
[[ $(awk -F'\t' 'NR > 1 && $3 == "missing" && $5 == ""' all.tsv) == '' ]] || fail "missing, and no advice"
# Without rights, and without programs on the path, it says so.
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
    setpriv --bounding-set=-all --inh-caps=-all --reuid=65534 --clear-groups -- env PATH=/nowhere "$(command -v "$QPSCOPE")" doctor -f tsv >few.tsv 2>errors || fail "$(cat errors)"
    grep -q $'^rights\tcapture from an interface\tmissing\tno CAP_NET_RAW\tRun as root' few.tsv || fail "rights: $(head -3 few.tsv)"
    grep -q $'^tshark\t.*\tnote\tnot installed\tInstall tshark' few.tsv || fail "programs"
    grep -q $'^rights\tcapture from an interface\tok\tCAP_NET_RAW' all.tsv || fail "root has no rights: $(head -2 all.tsv)"
fi
"$QPSCOPE" doctor | grep -q 'capture from an interface' || fail "no table"
"$QPSCOPE" doctor -f json | grep -q '"subject":"rights"' || fail "no JSON"
