#!/bin/bash
# The page of what is covered is true: every command of it runs and prints what its row says, its sums are those of its rows, and README
# has the same sums.
#
#   coverage.sh [PAGE]    prints the rows that are wrong; exit code 1 if there is one
#   coverage.sh --self    a wrong row, a wrong sum and a row without a command are found
#
#   QPSCOPE   the program
#   SOURCE    the root of the checkout
set -uo pipefail
export LC_ALL=C.UTF-8 NO_COLOR=1
unset COLUMNS
self=$(readlink -f "${BASH_SOURCE[0]}")
SOURCE=$(readlink -f "${SOURCE:-$(dirname "$self")/../..}")
QPSCOPE=$(readlink -m "${QPSCOPE:-$SOURCE/build/release/bin/qpscope}")
[[ -x $QPSCOPE ]] || { echo "$self: no program at $QPSCOPE" >&2; exit 2; }

scratch=$(mktemp -d)
trap 'rm -rf -- "${scratch:?}"' EXIT

if [[ ${1:-} == --self ]]; then
    row='| RC | works | `qpscope messages captures/err_mixed/capture.pcap` | `FETCH_ADD` |'
    page() { printf '%s\n\n| what | state | command | prints |\n|---|---|---|---|\n%s\n' "$1" "$2" >"$scratch/page.md"; }
    sum='1 rows: 1 work, 0 work in part, 0 do not work yet.'
    page "$sum" "$row"
    bash "$self" "$scratch/page.md" || { echo "a right page is found wrong"; exit 1; }
    while IFS=@ read -r counts line; do
        page "$counts" "$line"
        if bash "$self" "$scratch/page.md" >/dev/null; then echo "not found: $counts $line"; exit 1; fi
    done <<END
$sum@${row/FETCH_ADD/FETCH_MUL}
$sum@${row/err_mixed/err_nothing}
$sum@${row/messages/massages}
2 rows: 2 work, 0 work in part, 0 do not work yet.@$row
$sum@| RC | works | | |
$sum@| RC | perhaps | \`qpscope --version\` | \`qpscope\` |
END
    exit 0
fi

page=${1:-$SOURCE/docs/coverage.md}
mkdir "$scratch/bin" "$scratch/here"
ln -s "$QPSCOPE" "$scratch/bin/qpscope"
ln -s "$SOURCE/captures" "$scratch/here/captures"
ln -s "$SOURCE/tests/case/cases" "$scratch/here/cases"
PATH=$scratch/bin:$PATH

wrong=0 works=0 part=0 none=0
complain() {
    echo "$page: $1"
    wrong=$((wrong + 1))
}
row_of='^\| (.+) \| (works|in part: .+|not yet.*) \|( `(.+)` \| `(.+)`| \|) \|$'
while IFS= read -r line; do
    [[ $line == '| '* && $line != '| what | state |'* ]] || continue
    if [[ ! $line =~ $row_of ]]; then
        complain "no row: $line"
        continue
    fi
    what=${BASH_REMATCH[1]} state=${BASH_REMATCH[2]} command=${BASH_REMATCH[4]} text=${BASH_REMATCH[5]}
    case $state in
        works) works=$((works + 1)) ;;
        in*) part=$((part + 1)) ;;
        *) none=$((none + 1)); continue ;;
    esac
    if [[ -z $command ]]; then
        complain "$what: no command shows it"
        continue
    fi
    output=$(cd "$scratch/here" && eval "$command" 2>&1 </dev/null)
    code=$?
    # What a capture shows may be wrong with it: findings, damage, not everything judged.
    [[ $code =~ ^[0146]$ ]] || complain "$what: exit code $code"
    [[ $output == *"$text"* ]] || complain "$what: \`$command\` does not print '$text'"
done <"$page"
sum="$((works + part + none)) rows: $works work, $part work in part, $none do not work yet."
grep -qxF "$sum" "$page" || complain "the sum is: $sum"
if [[ $page == "$SOURCE"/* ]]; then
    grep -qF "$((works + part + none)) rows" "$SOURCE/README.md" || complain "README.md does not say: $((works + part + none)) rows"
fi
((wrong == 0))
