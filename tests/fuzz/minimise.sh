#!/bin/bash
# Makes the corpus of the repository small, and as good as all that fuzzing here found:
#   tests/fuzz/minimise.sh [NAME...]   these fuzzers, or all
# What has a name stays. Of all other inputs (of the repository, of libFuzzer in build/fuzz/corpus, of AFL++ in build/afl/found) those
# stay, the smallest first, that reach an edge that nothing before reached. How often an edge is passed does not count: that would keep
# ten times as many. Needs the fuzzers (./test.sh --fuzz or --fuzz-fast builds them). The archive is written once all is done; where a
# fuzzer fails it stays as it was.
set -euo pipefail
here=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
cd "$here"
. tests/fuzz/fuzzing.sh

build=build/fuzz-fast
[[ -d $build/bin ]] || build=build/fuzz
[[ -d $build/bin ]] || { echo "minimise.sh: no fuzzers are built: ./test.sh --fuzz-fast" >&2; exit 1; }
[[ $# -eq 0 ]] || QPSCOPE_FUZZERS="$*"
largest=16384  # bytes of an input; captures in captures/ are larger, and are replayed anyway

work=$(mktemp -d)
trap 'rm -rf "${work:?}"' EXIT
tests/fuzz/corpus.sh unpack "$work/corpus"
mapfile -t names < <(fuzzer_names "$build")
for name in "${names[@]}"; do
    [[ -e tests/fuzz/$name.cpp ]] || { echo "minimise.sh: no fuzzer $name" >&2; exit 1; }
    corpus=$work/corpus/$name
    all=$work/all/$name
    mkdir -p "$corpus" "$all"
    # By size, so that of two that reach the same the smaller one stays; AFL++ names its inputs with colons.
    # What was never fuzzed here has no folder of its own.
    { find "$corpus" "build/fuzz/corpus/$name" "build/afl/found/$name/default/queue" -type f -size -$((largest / 1024))k 2>/dev/null || true; } |
        while read -r input; do
            base=$(basename "$input")
            [[ $base == README* || ( ${input%/*} == "$corpus" && ! $base =~ ^[0-9a-f]{40}$ ) ]] || cp "$input" "$all/$(sha1sum <"$input" | cut -c1-40)"
        done
    find "$corpus" -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' -delete
    before=$(find "$all" -type f | wc -l)
    "$build/bin/fuzz_$name" -merge=1 -use_counters=0 -timeout=10 -rss_limit_mb=4096 "$corpus" "$all" >"$build/$name.merge.log" 2>&1 ||
        { tail -n 20 "$build/$name.merge.log" >&2; echo "minimise.sh: $name failed; the archive stays as it was" >&2; exit 1; }
    hashed=$(find "$corpus" -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' | wc -l)
    echo "$name: of $before inputs $hashed stay, and $(($(find "$corpus" -type f | wc -l) - hashed)) with names"
done
tests/fuzz/corpus.sh pack "$work/corpus"
