# Configures and builds a preset, quietly: chatter goes to build/PRESET/*.log and is shown only when something fails.
# Sourced by run.sh, test.sh, bench.sh, which set $here to the root of the checkout.

# build_preset PRESET MINUTES [TARGET...]: MINUTES is about what a first build takes on two cores.
build_preset() {
    local preset=$1 minutes=$2
    local dir="$here/build/$preset"
    shift 2
    if ! mkdir -p "$dir" || [[ ! -w $dir ]]; then
        echo "qpscope: $dir cannot be written; was it built by another user?" >&2
        return 1
    fi
    (
        set -o pipefail
        flock 9  # two commands at once build one after the other
        cd "$here" || exit 1
        if [[ ! -e $dir/build.ninja ]]; then
            echo "qpscope: building $preset (the first time takes about $minutes minutes on two cores)" >&2
        fi
        configure_preset "$preset" || exit 1
        if ! cmake --build --preset "$preset" ${1:+--target "$@"} </dev/null 2>&1 | tee "$dir/build.log" | show_progress; then
            grep -vE '^\[[0-9]+/[0-9]+\] ' "$dir/build.log" | head -n 80 >&2
            echo "qpscope: the build of preset $preset failed; all of it is in build/$preset/build.log" >&2
            exit 1
        fi
    ) 9>"$dir/lock"
}

# Only where it must: Ninja calls CMake by itself when a CMakeLists.txt changes, but does not know the presets. A checkout that
# was moved or copied is configured afresh, for CMake would refuse it.
configure_preset() {
    local preset=$1 fresh=()
    local dir="$here/build/$preset"
    if ! grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$here" "$dir/CMakeCache.txt"; then
        fresh=(--fresh)
    elif [[ $dir/build.ninja -nt CMakePresets.json ]]; then
        return 0
    fi
    if ! cmake --preset "$preset" "${fresh[@]}" </dev/null >"$dir/configure.log" 2>&1; then
        cat "$dir/configure.log" >&2
        echo "qpscope: preset $preset could not be configured" >&2
        return 1
    fi
    touch "$dir/build.ninja"
}

# On a terminal, one line that counts the steps of Ninja.
show_progress() {
    local line shown=''
    while IFS= read -r line; do
        if [[ -t 2 && $line =~ ^\[([0-9]+/[0-9]+)\] ]]; then
            printf '\r  step %s ' "${BASH_REMATCH[1]}" >&2
            shown=yes
        fi
    done
    if [[ -n $shown ]]; then printf '\r%30s\r' '' >&2; fi
}
