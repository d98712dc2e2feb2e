#!/bin/bash
# Builds qpscope where it must, then runs it:  ./run.sh [ARGUMENTS OF qpscope...]
# or its window:                               ./run.sh --gui [ARGUMENTS OF qpscope-gui...]
# Without arguments it shows the sample captures. Standard output is the program's alone, and so is the exit code;
# 125 means that there is no program to run (packages or build).
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
. "$here/packaging/packages.sh"
. "$here/packaging/build.sh"

# Built is what is about to run, and nothing else.
if [[ ${1:-} == --gui ]]; then
    shift
    need_packages build window </dev/null || exit 125
    build_preset release 5 qpscope-gui qpscope-capture || exit 125
    exec "$here/build/release/bin/qpscope-gui" "$@"
fi
need_packages build </dev/null || exit 125
targets=(qpscope)
case ${1:-} in peer | pingpong | replay | send | conform) targets+=(qpscope-live) ;; esac  # what qpscope executes for these
build_preset release 4 "${targets[@]}" || exit 125
if [[ $# -eq 0 ]]; then
    cd "$here"
    mapfile -d '' captures < <(find captures -type f -regextype posix-extended -regex '.*\.pcap(ng)?(\.gz|\.zst)?' -print0 | sort -z)
    if [[ ${#captures[@]} -gt 0 ]]; then set -- info "${captures[@]}"; else set -- --help; fi
fi
exec "$here/build/release/bin/qpscope" "$@"
