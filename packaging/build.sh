# Configures and builds a preset, quietly: chatter goes to build/PRESET/*.log and is shown only when something fails.
# Sourced by run.sh, test.sh, bench.sh, which set $here to the root of the checkout.

# The folder of a preset. Tests are built beside the program that they test.
folder_of() { if [[ $1 == test ]]; then echo "$here/build/release"; else echo "$here/build/$1"; fi; }

# build_preset PRESET MINUTES [TARGET...]: MINUTES is about what a first build takes on two cores.
build_preset() {
    local preset=$1 minutes=$2 dir
    dir=$(folder_of "$1")
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
        configure_preset "$preset" "$@" || exit 1
        if ! cmake --build --preset "$preset" -j "$(nproc)" ${1:+--target "$@"} </dev/null 2>&1 | tee "$dir/build.log" | show_progress; then
            grep -vE '^\[[0-9]+/[0-9]+\] ' "$dir/build.log" | head -n 80 >&2
            echo "qpscope: the build of preset $preset failed; all of it is in ${dir#"$here/"}/build.log" >&2
            exit 1
        fi
    ) 9>"$dir/lock"
}

# Whether a build folder knows these targets: the window is left out where Qt was missing when it was configured.
has_targets() {
    local dir=$1 target
    shift
    for target in "$@"; do grep -qE "^build (bin/|[^ ]*/)?$target:" "$dir/build.ninja" || return 1; done
}

# configure_preset PRESET [TARGET...]. Only where it must: Ninja calls CMake by itself when a CMakeLists.txt changes, but does not know the presets. A checkout that
# was moved or copied is configured afresh, for CMake would refuse it.
configure_preset() {
    local preset=$1 fresh=() dir
    dir=$(folder_of "$1")
    shift
    [[ $preset != test ]] || set -- "$@" make_samples  # which a folder without tests lacks
    if ! grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$here" "$dir/CMakeCache.txt"; then
        fresh=(--fresh)
    elif [[ $dir/build.ninja -nt CMakePresets.json ]] && has_targets "$dir" "$@"; then
        return 0
    fi
    if ! cmake --preset "$preset" "${fresh[@]}" </dev/null >"$dir/configure.log" 2>&1; then
        cat "$dir/configure.log" >&2
        echo "qpscope: preset $preset could not be configured" >&2
        return 1
    fi
    touch "$dir/build.ninja"
}

# On a terminal, one line that counts the steps of Ninja; elsewhere a line for each quarter of them.
show_progress() {
    local line shown='' quarter=0 done_steps steps
    while IFS= read -r line; do
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        done_steps=${BASH_REMATCH[1]} steps=${BASH_REMATCH[2]}
        if [[ -t 2 ]]; then
            printf '\r  step %s of %s ' "$done_steps" "$steps" >&2
            shown=yes
        elif ((steps > 20 && 4 * done_steps / steps > quarter)); then
            quarter=$((4 * done_steps / steps))
            echo "qpscope: built $((25 * quarter)) %" >&2
        fi
    done
    if [[ -n $shown ]]; then printf '\r%30s\r' '' >&2; fi
}
