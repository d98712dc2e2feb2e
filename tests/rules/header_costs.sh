#!/bin/bash
# What a public header costs every file that includes it: its preprocessed lines, blank ones left out, against a bound.
#   header_costs.sh ROOT    measures the headers that cmake/public_headers.cmake lists; prints FILE:1: TEXT of every offence
#   header_costs.sh self    finds what it is there to find
#   header_costs.sh ROOT list   prints lines and header, the most expensive last
# A count and not a time, so that it is the same on every machine with this compiler. tests/rules/header_costs.txt has the bounds.
# CXX and CMAKE: the programs; JOBS: how many headers at a time.
set -uo pipefail
export LC_ALL=C CXX=${CXX:-c++}
self=$(readlink -f "${BASH_SOURCE[0]}")

measure() {  # ROOT: lines of "COUNT HEADER"
    cd "$1" || return 2
    # shellcheck disable=SC2016  # the words are of the inner shell
    "${CMAKE:-cmake}" -D SOURCE=. -P cmake/public_headers.cmake | xargs -P "${JOBS:-$(nproc)}" -I{} sh -c '
        lines=$(echo "#include <{}>" | "$CXX" -std=c++23 -I . -x c++ -E -P - 2>/dev/null) || lines=
        echo "$(printf "%s\n" "$lines" | grep -c "[^[:space:]]") {}"'
}

judge() {  # ROOT
    measure "$1" | awk -v list=tests/rules/header_costs.txt -v root="$1" '
        BEGIN {
            while ((getline row < (root "/" list)) > 0) {
                ++at
                if (row ~ /^#/ || row ~ /^[[:space:]]*$/) continue
                split(row, word, " ")
                if (word[2] == "*") { usual = word[1]; continue }
                bound[word[2]] = word[1]
                place[word[2]] = list ":" at
                if (word[3] == "") print list ":" at ": no reason for " word[2]
            }
        }
        $1 < 2 { print $2 ":1: cannot be preprocessed"; next }
        {
            most = $2 in bound ? bound[$2] : usual
            if ($1 > most) print $2 ":1: " $1 " preprocessed lines, at most " most " (" list ")"
            if ($2 in bound && $1 <= usual) print place[$2] ": " $2 " needs no exception any more: " $1 " lines"
            delete bound[$2]
        }
        END { for (header in bound) print place[header] ": " header " is no public header" }'
}

# Header a of two lines, b of four with it; what of a list of bounds must be said.
try() {  # BOUNDS EXPECTED
    local tree found
    tree=$(mktemp -d)
    mkdir -p "$tree/cmake" "$tree/dissect" "$tree/tests/rules"
    printf 'execute_process(COMMAND ${CMAKE_COMMAND} -E echo "dissect/a.hpp\\ndissect/b.hpp")\n' >"$tree/cmake/public_headers.cmake"
    printf '#pragma once\nint a;\n\n// no line\nint aa;\n' >"$tree/dissect/a.hpp"
    printf '#pragma once\n#include <dissect/a.hpp>\nint b;\nint bb;\n' >"$tree/dissect/b.hpp"
    printf '%b' "$1" >"$tree/tests/rules/header_costs.txt"
    found=$(bash "$self" "$tree")
    case $found in
        $2) ;;
        *) echo "$self:1: of '$1' it says '$found', not '$2'" ;;
    esac
    rm -r "$tree"
}
check_itself() {
    try '4 *\n' ''
    try '3 *\n' 'dissect/b.hpp:1: 4 preprocessed lines, at most 3*'
    try '# why\n3 *\n4 dissect/b.hpp its two more\n' ''
    try '2 *\n3 dissect/b.hpp its one more\n' 'dissect/b.hpp:1: 4 preprocessed lines, at most 3*'
    try '2 *\n4 dissect/b.hpp\n' '*header_costs.txt:2: no reason for dissect/b.hpp'
    try '4 *\n5 dissect/b.hpp once it had more\n' '*header_costs.txt:2: dissect/b.hpp needs no exception any more: 4 lines'
    try '4 *\n5 dissect/c.hpp it went\n' '*header_costs.txt:2: dissect/c.hpp is no public header'
}

case ${1:?root} in
    self) offences=$(check_itself) ;;
    *) if [[ ${2:-} == list ]]; then measure "$1" | sort -n; exit; fi
       offences=$(judge "$1") ;;
esac
[[ -n $offences ]] || exit 0
printf '%s\n' "$offences"
exit 1
