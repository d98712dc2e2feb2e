#!/bin/bash
# What a build costs, in processor time, with nothing in a cache and one compiler a processor:
#
#   bench/build.sh [FOLDER]    builds in FOLDER (default: a new one below TMPDIR, removed at the end); about a quarter of an hour on two cores
#
# Prints what `./run.sh info FILE` builds, what qpscope-live, the window and the tests add, the longest unit, and what one changed source of
# tracking/ costs until its tests are linked. Wall clocks and loads stand beside: processor times swing with the neighbours of a machine, so
# compare two commits in turns.
set -euo pipefail
here=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
# shellcheck source=packaging/packages.sh
. "$here/packaging/packages.sh"
need_packages build window test </dev/null
if [[ $# -gt 0 ]]; then
    folder=$(readlink -m "$1")
else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
export CCACHE_DISABLE=1
cmake --preset test -S "$here" -B "$folder" >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
rm -f "$folder.log"

TIMEFORMAT='%U %S %R'
row() {  # WHAT TARGET...
    local what=$1 times log=$folder/build.log
    shift
    times=$({ time ninja -C "$folder" -j "$(nproc)" "$@" >"$log" 2>&1 || echo failed; } 2>&1)
    [[ $times != *failed* ]] || { tail -n 20 "$log" >&2; exit 1; }
    awk -v what="$what" -v load="$(cut -d' ' -f1 /proc/loadavg)" '{ printf "%-42s %6.0f s %8.0f s %8s\n", what, $1 + $2, $3, load }' <<<"$times"
}
printf '%-42s %8s %10s %8s\n' "" processor wall load
row 'qpscope (./run.sh info FILE)' qpscope
row '  and qpscope-live' qpscope-live
row '  and the window' qpscope-gui qpscope-capture
row '  and all tests' all
touch "$here/transport-replay/tracking/pairing.cpp"
row 'one source of tracking/, to its tests' test_transport-replay
# .ninja_log: start and end in milliseconds, time of the file, the file.
awk -F'\t' '/\.o\t/ { s = ($2 - $1) / 1000; if (s > most) { most = s; unit = $4 } } END { sub(".*/", "", unit); printf "longest unit: %s, %.0f s of wall clock\n", unit, most }' \
    "$folder/.ninja_log"
