#!/bin/bash
# Builds the tests where it must and runs them all.
#
#   ./test.sh           everything that needs no other compiler: tests, rules, corpus and crashes of the fuzzers replayed; but for the few that
#                       take minutes and have the label "release": ./test.sh --release
#   ./test.sh --release what each release must pass besides: suites of the window and the command line once more in other surroundings, what
#                       public headers cost, the libraries installed, found and linked
#   ./test.sh --asan    the same by clang, warnings as errors, under the address and undefined-behaviour sanitizers; --asan=core what meets
#                       bytes of strangers: decoding, every sample, several threads, and the corpus of all fuzzers, in a third of the time
#   ./test.sh --tsan    the analysis on several threads, by clang, under ThreadSanitizer
#   ./test.sh --clang   the same by clang without sanitizers
#   ./test.sh --tidy    clang-tidy over the files changed since the main branch; --tidy=all over all of them; with TIDY_SECONDS no unit is begun
#                       later than that, and how many are left is said
#   ./test.sh --fuzz    every fuzzer for a minute (FUZZ_SECONDS); --fuzz=10h (30m, 600s) all of them in turns for so long, --fuzz-fast=10h
#                       the same without sanitizers, --afl=10h by AFL++; what crashes one is kept in tests/fuzz/crashes/ (docs/fuzzing.md)
#   ./test.sh --interop the RDMA stack of Linux in the machines of tests/lab against itself and us; --interop=quick a case of
#                       each kind; skipped, with a word, where there is no root
#   ./test.sh --cluster packaging/slurm/qpscope-array on a Slurm cluster of one node, in a namespace; root
#   ./test.sh --packages Debian packages, from source to purge, in an empty Debian 12; root, a quarter of an hour
#   ./test.sh --static  the static files of both architectures, from source to two ends on a veth, with nothing else in their root, and the
#                       window as a folder in an empty Debian; root, an hour
#   ./test.sh --all     all of these
#
# Options may be combined. Every part runs even if one before it failed; the exit code is 0 only if all passed.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
. "$here/packaging/packages.sh"
. "$here/packaging/build.sh"
. "$here/tests/fuzz/fuzzing.sh"
cd "$here"

rooms=(dissect transport-replay sandbox cli gui)
llvm=19

run_ctest() {  # PRESET [OPTIONS OF CTEST]
    echo "== tests, preset $1" >&2
    ctest --preset "$@" </dev/null
}

# What reads the sources or builds by itself is the same whatever compiled us, and examples of the guide run what tests of the commands
# run: with the first compiler alone.
same='^(rules|release|library|desktop|docs)$'
# Beside the program that ./run.sh builds, so that the tests run what users run.
part_all() { need_packages build window test && build_preset test 10 && run_ctest test -LE '^release$'; }
part_release() { need_packages build window test bench && build_preset test 10 all benches && run_ctest test -L '^release$'; }
part_asan() {
    local preset=asan targets=() which=(-LE "$same")
    if [[ $asan == core ]]; then
        preset=asan-core
        targets=(test_dissect test_captures test_sandbox test_threads test_mutators fuzz_replay)
        which=(-L '^(dissect|captures|sandbox|threads|fuzz)$')
    fi
    need_packages build window test asan && build_preset "$preset" 12 "${targets[@]}" && run_ctest "$preset" "${which[@]}"
}
part_tsan() { need_packages build window test asan && build_preset tsan 6 test_threads && run_ctest tsan -L '^threads$'; }
part_clang() { need_packages build window test clang && build_preset clang 15 && run_ctest clang -LE "$same"; }

# Sources to lint: those changed against the main branch, those of the last commit when on it, all without a repository. What includes a
# header that changed is left to --tidy=all.
tidy_files() {
    local base changed
    if [[ $tidy != all ]] && base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse -q --verify HEAD~1 2>/dev/null); then
        [[ $base != "$(git rev-parse HEAD)" ]] || base=$(git rev-parse -q --verify HEAD~1 || echo "$base")
        { git diff --name-only --diff-filter=d "$base" -- "${rooms[@]}"; git ls-files -o --exclude-standard -- "${rooms[@]}"; } | grep '\.cpp$' | sort -u
        return 0
    fi
    find "${rooms[@]}" -name '*.cpp' | sort
}

# What clang-tidy reads for the sources on standard input: the unity source that has a source, since headers, which are most of the
# work, are then read once for all of its folder; else the source itself.
lint_units() {
    local file units
    while read -r file; do
        units=$(grep -rlxF --include='unity_*.cxx' "#include \"$here/$file\"" build/tidy) || units=$file
        echo "$units"
    done | sort -u
}
part_tidy() {
    need_packages build window test clang lint || return 1
    bash tests/rules/rules.sh formatted || { echo 'qpscope: not formatted; clang-format-19 -i FILE mends it' >&2; return 1; }
    mkdir -p build/tidy
    configure_preset tidy || return 1
    local files units
    files=$(tidy_files || true)
    if [[ -z $files ]]; then
        echo "qpscope: clang-tidy: no file to lint" >&2
        return 0
    fi
    units=$(lint_units <<<"$files")
    echo "== clang-tidy over $(wc -l <<<"$files") files in $(wc -l <<<"$units") units" >&2
    : >build/tidy/left
    export llvm tidy_end=$(($(date +%s) + ${TIDY_SECONDS:-0}))
    export -f lint_unit
    xargs -P "$(nproc)" -n 1 bash -c 'lint_unit "$1"' _ <<<"$units" 2>build/tidy/tidy.log || {
        grep -v 'warnings generated' build/tidy/tidy.log | tail -n 20 >&2
        return 1
    }
    [[ ! -s build/tidy/left ]] || echo "== clang-tidy: $TIDY_SECONDS s are over; $(wc -l <build/tidy/left) units are left to ./test.sh --tidy" >&2
}
lint_unit() {
    if [[ -n ${TIDY_SECONDS:-} && $(date +%s) -gt $tidy_end ]]; then
        echo "$1" >>build/tidy/left
        return 0
    fi
    clang-tidy-$llvm -p build/tidy --quiet --warnings-as-errors='*' --checks=-bugprone-suspicious-include \
        --header-filter='/(dissect|transport-replay|sandbox|cli)/|/gui/.*[.]cpp$' "$1"
}

# The lab is worth installing QEMU for only where it can be had.
part_interop() {
    local code=0 options=()
    [[ $interop == all ]] || options=(--quick)
    tests/lab/interop --can || { code=$?; [[ $code == 77 ]]; return; }
    need_packages interop || { echo "SKIPPED: interoperability: its packages cannot be had"; return 0; }
    if [[ -z ${QPSCOPE:-} ]]; then need_packages build window test && build_preset test 10 qpscope qpscope-live || return 1; fi
    echo "== interoperability, $interop cases" >&2
    tests/lab/interop "${options[@]}" || { code=$?; [[ $code == 77 ]] || return 1; }
    [[ -z ${QPSCOPE:-} ]] || return 0
    need_packages agent || { echo "SKIPPED: the agent in the lab: its packages cannot be had"; return 0; }
    build_preset test 10 qpscope-agent agent_walk || return 1
    code=0
    tests/lab/agent_case || { code=$?; [[ $code == 77 ]] || return 1; }
    [[ $interop == all ]] || return 0
    code=0
    tests/lab/ulp || { code=$?; [[ $code == 77 ]] || return 1; }
    code=0
    tests/lab/conform || { code=$?; [[ $code == 77 ]]; }
}

# A million packets in four parts, beside the samples.
part_cluster() {
    local code=0
    need_packages build window test cluster && build_preset test 10 qpscope qpscope-live bench_generate || return 1
    tests/cluster/run build/release/bin/qpscope captures build/release/bin/bench_generate || { code=$?; [[ $code == 77 ]]; }
}
part_packages() {
    local code=0
    need_packages packages || return 1
    tests/packages/run || { code=$?; [[ $code == 77 ]]; }
}
part_static() {
    local code=0
    need_packages build window test static && build_preset test 10 qpscope qpscope-live || return 1
    tests/static/run || { code=$?; [[ $code == 77 ]] || return 1; }
    code=0
    tests/static/window.sh || { code=$?; [[ $code == 77 ]]; }
}

parts=()
tidy=changed
asan=all
interop=all
fuzz=each
afl=30m
fast=30m
for option in "$@"; do
    case $option in
        --asan | --tsan | --clang | --tidy | --fuzz | --interop | --cluster | --packages | --static | --release) parts+=("${option#--}") ;;
        --fuzz=*) parts+=(fuzz); fuzz=${option#*=} ;;
        --fuzz-fast) parts+=(fast) ;;
        --fuzz-fast=*) parts+=(fast); fast=${option#*=} ;;
        --afl) parts+=(afl) ;;
        --afl=*) parts+=(afl); afl=${option#*=} ;;
        --asan=core) parts+=(asan); asan=core ;;
        --tidy=all) parts+=(tidy); tidy=all ;;
        --interop=quick) parts+=(interop); interop=quick ;;
        --all) parts=(tidy fuzz clang asan tsan interop cluster packages static release all); tidy=all asan=all ;;
        --help | -h) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "test.sh: unknown option $option; see ./test.sh --help" >&2; exit 2 ;;
    esac
done
[[ ${#parts[@]} -gt 0 ]] || parts=(all)

failed=0
for i in "${!parts[@]}"; do
    if ! "part_${parts[i]}"; then
        failed=1
        # The last part's own last lines stay the last.
        [[ $i -eq $((${#parts[@]} - 1)) ]] || echo "test.sh: FAILED: ${parts[i]}" >&2
    fi
done
exit $failed
