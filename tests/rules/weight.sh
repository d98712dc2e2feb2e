#!/bin/bash
# What makes a build heavy, bounded:  weight.sh RULE [ROOT [BUILD]]
#   readers   costly headers are included where they belong: CLI11 (five seconds a unit) by the reader of the command line alone,
#             <fmt/ranges.h> by no more sources than today, Boost.PFR by one, Catch by tests alone
#   groups    no unity group of the product is larger than what a compiler reads in a quarter of a minute, nor are more sources at -O3
#             than the path of a packet has: read from BUILD; 77 without unity builds
#   self      the rules find what they are there to find
# Prints FILE: TEXT of every offence; exit code 1 if there is one.
set -uo pipefail
export LC_ALL=C
rule=${1:?rule}
root=$(readlink -f "${2:-$(dirname "${BASH_SOURCE[0]}")/../..}")
build=${3:-$root/build/release}
cd "$root" || exit 2

most_ranges=17       # files, tests among them; format with a loop, or fmt::join of <fmt/format.h>'s users, costs a unit a second less
most_lines=2900      # of a unity group of the product
most_sources=14      # of one
most_fast_signs=1694000  # compiled with -O3, without white space: dissect, tracking, and what else sees every packet

including() { grep -rlE --include='*.cpp' --include='*.hpp' "^[[:space:]]*#[[:space:]]*include[[:space:]]*<($1)" dissect transport-replay cli gui agent sandbox "${@:2}" 2>/dev/null; }

rule_readers() {
    including 'CLI/' | grep -vx 'cli/options/command_line.cpp' | sed 's/$/: reads CLI11; its options are rows of a table (cli\/options\/option_table.hpp)/'
    including 'boost/pfr' | grep -vx 'transport-replay/parts/described_types.cpp' | sed 's/$/: reads Boost.PFR, which parts\/described_types.cpp alone needs/'
    including 'catch2/' | sed 's/$/: reads Catch, which is for tests/'
    local count
    count=$(including 'fmt/ranges.h' tests | wc -l)
    [[ $count -le $most_ranges ]] || echo "fmt/ranges.h: is read by $count files, at most $most_ranges"
}

rule_groups() {
    local unit sources lines fast=0
    while IFS= read -r unit; do
        mapfile -t sources < <(sed -n 's/^#include "\(.*\.cpp\)"$/\1/p' "$unit")
        [[ ${#sources[@]} -gt 0 ]] || continue
        grep -qF "\"${unit}\"" "$build/compile_commands.json" || continue  # left from an earlier configuration
        [[ ${sources[0]} == "$root"/tests/* ]] && continue
        lines=$(cat "${sources[@]}" | wc -l)
        [[ $lines -le $most_lines ]] || echo "${unit##*/}: $lines lines, at most $most_lines"
        [[ ${#sources[@]} -le $most_sources ]] || echo "${unit##*/}: ${#sources[@]} sources, at most $most_sources"
    done < <(find "$build" -path '*/Unity/*.cxx' | sort)
    fast=$(while IFS= read -r unit; do
        if [[ $unit == *.cxx ]]; then sed -n 's/^#include "\(.*\.cpp\)"$/\1/p' "$unit"; else echo "$unit"; fi
    done < <(awk -F'"' '/"command"/ { fast = / -O3 / } /"file"/ && fast && $4 !~ /cmake_pch/ { print $4 }' "$build/compile_commands.json") | sort -u | xargs -r cat | tr -d "[:space:]" | wc -c)
    [[ $fast -le $most_fast_signs ]] || echo "-O3: $fast signs of sources are compiled with it, at most $most_fast_signs"
    [[ $fast -gt 0 ]] || echo "-O3: nothing is compiled with it: the bound bounds nothing"
}

rule_self() {
    scene=$(mktemp -d)
    trap 'rm -rf "$scene"' EXIT
    mkdir -p "$scene"/{dissect,transport-replay/parts,cli/options,gui,agent,sandbox,tests,build/Unity}
    local self
    self=$(readlink -f "${BASH_SOURCE[0]}")
    expect() {  # RULE TEXT: is found
        grep -qF -- "$2" < <(bash "$self" "$1" "$scene" "$scene/build") || echo "weight.sh: rule $1 does not find: $2"
    }
    clean() { [[ -z $(bash "$self" "$1" "$scene" "$scene/build") ]] || echo "weight.sh: rule $1 finds what is none"; }
    echo '#include <CLI/CLI.hpp>' >"$scene/cli/options/command_line.cpp"
    echo '#include <boost/pfr/core.hpp>' >"$scene/transport-replay/parts/described_types.cpp"
    clean readers
    echo '#include <CLI/CLI.hpp>' >"$scene/cli/b.cpp"
    expect readers 'cli/b.cpp: reads CLI11'
    echo '#include <boost/pfr/core.hpp>' >"$scene/dissect/p.cpp"
    expect readers 'dissect/p.cpp: reads Boost.PFR'
    echo '#include <catch2/catch.hpp>' >"$scene/gui/t.cpp"
    expect readers 'gui/t.cpp: reads Catch'
    for i in $(seq $((most_ranges + 1))); do echo '#include <fmt/ranges.h>' >"$scene/tests/r$i.cpp"; done
    expect readers "fmt/ranges.h: is read by $((most_ranges + 1)) files"
    seq 10 >"$scene/dissect/small.cpp"
    echo "#include \"$scene/dissect/small.cpp\"" >"$scene/build/Unity/unity_a.cxx"
    printf '[{\n"command": "c++ -O3 -c",\n"file": "%s"\n}]\n' "$scene/build/Unity/unity_a.cxx" >"$scene/build/compile_commands.json"
    clean groups
    seq $((most_lines + 1)) >"$scene/dissect/small.cpp"
    expect groups "unity_a.cxx: $((most_lines + 1)) lines"
    head -c $((most_fast_signs + 1)) /dev/zero | tr '\0' x >"$scene/dissect/small.cpp"
    expect groups "-O3: $((most_fast_signs + 1)) signs"
    sed -i 's/-O3/-O1/' "$scene/build/compile_commands.json"
    expect groups 'nothing is compiled with it'
}

if [[ $rule == groups && -z $(find "$build" -path '*/Unity/*.cxx' -print -quit 2>/dev/null) ]]; then echo "no unity builds here"; exit 77; fi
found=$("rule_$rule")
[[ -z $found ]] || { echo "$found"; exit 1; }
