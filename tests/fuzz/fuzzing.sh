# How fuzzers are run, sourced by test.sh: all of them in turns, as many at once as there are processors, for a time that they share.
# What they learn stays in build/fuzz/corpus and build/afl/found, what crashes them in tests/fuzz/crashes, and how often each ran in
# build/{fuzz,fuzz-fast,afl}/executions ("NAME SECONDS EXECUTIONS" a line). The build unpacks the corpus of the repository
# (corpus.tar.zst) into its tests/fuzz/corpus.

# seconds_of 10h|30m|600s|600
seconds_of() {
    local number=${1%[hms]} unit=1
    [[ $number =~ ^[0-9]+$ ]] || { echo "test.sh: invalid duration $1; 600s, 30m or 10h" >&2; return 2; }
    case $1 in *h) unit=3600 ;; *m) unit=60 ;; esac
    echo $((number * unit))
}

# What is run: the names of all programs of a build, or those of QPSCOPE_FUZZERS.
fuzzer_names() {
    local program names=()
    for program in "$1"/bin/fuzz_*; do names+=("${program##*/fuzz_}"); done
    if [[ -n ${QPSCOPE_FUZZERS:-} ]]; then printf '%s\n' ${QPSCOPE_FUZZERS}; else printf '%s\n' "${names[@]}"; fi
}

# One fuzzer of libFuzzer for some seconds, of the build with sanitizers or of another. Its log is kept where it failed.
fuzz_one() {
    local name=$1 seconds=$2 build=${3:-build/fuzz} folders=("build/fuzz/corpus/$1") folder code=0
    local log=$build/$name.log corpus=$build/tests/fuzz/corpus
    mkdir -p "build/fuzz/corpus/$name" "tests/fuzz/crashes/$name"
    [[ $name != decode ]] || folders+=("$corpus/packet")
    [[ $name != script ]] || folders+=(transport-replay/conformance/scripts)
    for folder in "$corpus/$name" "tests/fuzz/crashes/$name"; do [[ ! -d $folder ]] || folders+=("$folder"); done
    "$build/bin/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="tests/fuzz/crashes/$name/" "${folders[@]}" </dev/null >"$log" 2>&1 || code=$?
    rmdir --ignore-fail-on-non-empty "tests/fuzz/crashes/$name"
    awk -v name="$name" -v seconds="$seconds" '/number_of_executed_units/ { print name, seconds, $2 }' "$log" >>"$build/executions"
    [[ $code -ne 0 ]] || { echo "$name: $(awk '/number_of_executed_units/ { print $2 }' "$log") runs in $seconds s"; return 0; }
    grep -E 'ERROR|SUMMARY|Test unit written|does not hold' "$log" || tail -n 30 "$log"
    echo "qpscope: fuzzer $name failed; all of it is in $log, and ./test.sh --asan replays it with names" >&2
    return 1
}

fast_one() { fuzz_one "$1" "$2" build/fuzz-fast; }

# The same of AFL++. It stops with 0 whatever it found.
afl_one() {
    local name=$1 seconds=$2 seeds=build/afl/seeds/$1 found=build/afl/found/$1 log=build/afl/$1.log crash code=0 corpus=build/afl/tests/fuzz/corpus
    mkdir -p "$seeds" "${found%/*}"
    [[ $name != decode ]] || find "$corpus/packet" -type f -exec cp -t "$seeds" {} +
    [[ $name != script ]] || find transport-replay/conformance/scripts -type f -exec cp -t "$seeds" {} +
    find "$corpus/$name" "build/fuzz/corpus/$name" -type f -size -64k -exec cp -t "$seeds" {} + 2>/dev/null
    [[ -n $(ls -A "$seeds") ]] || printf 'seed' >"$seeds/seed"
    AFL_AUTORESUME=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_SKIP_CRASHES=1 \
        afl-fuzz -V "$seconds" -t 10000 -m none -i "$seeds" -o "$found" "build/afl/bin/fuzz_$name" </dev/null >"$log" 2>&1 || code=$?
    [[ $code -eq 0 ]] || { tail -n 20 "$log"; echo "qpscope: afl-fuzz of $name ended with $code; all of it is in $log" >&2; return 1; }
    awk -v name="$name" -v seconds="$seconds" '/^execs_done/ { print name, seconds, $3 }' "$found/default/fuzzer_stats" >>build/afl/executions
    echo "$name: $(awk '/^execs_done/ { print $3 }' "$found/default/fuzzer_stats") runs so far"
    for crash in "$found"/default/crashes/id*; do
        [[ -e $crash ]] || continue
        mkdir -p "tests/fuzz/crashes/$name"
        cp "$crash" "tests/fuzz/crashes/$name/afl-$(sha1sum <"$crash" | cut -c1-16)"
        code=1
    done
    [[ $code -eq 0 ]] || echo "qpscope: AFL++ crashed $name; what did it is in tests/fuzz/crashes/$name" >&2
    return $code
}

# in_turns ONE BUILD SECONDS: every fuzzer of the build has its share of the processors' time, in turns of five minutes at most.
in_turns() {
    local one=$1 build=$2 seconds=$3 turn=300 share names
    mapfile -t names < <(fuzzer_names "$build")
    share=$((seconds * $(nproc) / ${#names[@]}))
    [[ $share -gt 0 ]] || share=1
    [[ $turn -lt $share ]] || turn=$share
    export -f fuzz_one fast_one afl_one
    local rounds=$((share / turn)) round failed=0
    for ((round = 0; round < rounds; ++round)); do
        printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -I{} bash -c "$one {} $turn" || failed=1
    done
    return $failed
}

# part_fuzz DURATION; "each" is a minute for every one of them, or FUZZ_SECONDS.
part_fuzz() {
    local seconds names
    need_packages build window test fuzz || return 1
    build_preset fuzz 10 fuzzers || return 1
    mapfile -t names < <(fuzzer_names build/fuzz)
    if [[ $fuzz == each ]]; then seconds=$((${FUZZ_SECONDS:-60} * ${#names[@]} / $(nproc))); else seconds=$(seconds_of "$fuzz") || return 2; fi
    echo "== ${#names[@]} fuzzers for $seconds s in all" >&2
    local failed=0
    in_turns fuzz_one build/fuzz "$seconds" || failed=1
    [[ ! -d tests/fuzz/crashes ]] || rmdir --ignore-fail-on-non-empty tests/fuzz/crashes
    return $failed
}

part_fast() {
    local seconds
    seconds=$(seconds_of "$fast") || return 2
    need_packages build window test fuzz || return 1
    build_preset fuzz-fast 10 fuzzers || return 1
    echo "== fuzzers without sanitizers for $seconds s in all" >&2
    in_turns fast_one build/fuzz-fast "$seconds"
}

part_afl() {
    local seconds
    seconds=$(seconds_of "$afl") || return 2
    need_packages build window test fuzz afl || return 1
    build_preset afl 10 fuzzers || return 1
    echo "== AFL++ for $seconds s in all" >&2
    in_turns afl_one build/afl "$seconds"
}
