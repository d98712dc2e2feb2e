#!/bin/bash
# What the corpus of the fuzzers reaches, room by room, as the table of docs/fuzzing.md:
#   tests/fuzz/coverage.sh           prints it
#   tests/fuzz/coverage.sh --write   writes it into docs/fuzzing.md
# Reads what is in the repository, and what fuzzing here found besides (build/fuzz/corpus). Takes some minutes.
set -euo pipefail
here=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
. "$here/packaging/packages.sh"
. "$here/packaging/build.sh"
cd "$here"
llvm=19

need_packages build test fuzz coverage </dev/null
build_preset coverage 10 fuzz_replay
profiles=build/coverage/profiles
corpus=build/coverage/tests/fuzz/corpus  # of the repository, as the build unpacked it
mkdir -p "$profiles"
for name in $(find tests/fuzz -maxdepth 1 -name '*.cpp' ! -name replay_main.cpp -printf '%f\n' | sed 's/\.cpp$//' | sort); do
    folders=("$corpus/$name" "build/fuzz/corpus/$name")
    case $name in
        decode) folders+=("$corpus/packet") ;;
        script) folders+=(transport-replay/conformance/scripts) ;;
        capture | analysis | index | reports) folders+=(captures) ;;
    esac
    echo "$name" >&2
    LLVM_PROFILE_FILE="$profiles/$name.profraw" build/coverage/bin/fuzz_replay "$name" "${folders[@]}" >/dev/null
done
llvm-profdata-$llvm merge -sparse "$profiles"/*.profraw -o build/coverage/all.profdata

# "room lines reached" of every source, summed up by folder; what only tests or a screen can reach is no room of these.
table() {
    echo "| room | lines | reached |"
    echo "|---|---:|---:|"
    llvm-cov-$llvm export -format=lcov -instr-profile build/coverage/all.profdata build/coverage/bin/fuzz_replay |
        awk -F: -v here="$here/" '
            /^SF:/ { name = $2; sub("^" here, "", name); sub("^(build/coverage|[.])/", "", name); room = name; sub("/[^/]*$", "/", room) }
            /^LF:/ { found = $2 }
            /^LH:/ && name ~ /^(dissect|transport-replay|cli)[/]/ { lines[room] += found; reached[room] += $2; all += found; hit += $2 }
            END {
                for (room in lines) printf "| `%s` | %d | %d %% |\n", room, lines[room], 100 * reached[room] / lines[room] | "sort"
                close("sort")
                if (all == 0) { print "coverage.sh: no source of ours is in the profile" > "/dev/stderr"; exit 1 }
                printf "| all | %d | %d %% |\n", all, 100 * hit / all
            }'
}

if [[ ${1:-} != --write ]]; then
    table
    exit 0
fi
document=$(mktemp)
awk '/^<!-- end of coverage -->/ { skipped = 0 } !skipped { print } /^<!-- coverage -->/ { skipped = 1; while ((getline line < "/dev/stdin") > 0) print line }' \
    docs/fuzzing.md < <(table) >"$document"
cat "$document" >docs/fuzzing.md
rm "$document"
