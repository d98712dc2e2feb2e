#!/bin/bash
# A second opinion on what hardening.sh reads: hardening-check of Debian's devscripts.  hardening_check.sh PROGRAM...
#   FORTIFIED   ON: built with an optimiser, so that the C library checks lengths
# Landing pads are not asked for: it looks for the mark of the linker, which the start-up files of Debian 12 take away (hardening.sh).
set -uo pipefail
command -v hardening-check >/dev/null || { echo "SKIPPED: hardening-check is not there (devscripts)"; exit 77; }
options=(--nocfprotection)
[[ ${FORTIFIED:-} == ON ]] || options+=(--nofortify)
seen=$(hardening-check "${options[@]}" "$@") || { echo "$seen"; exit 1; }
# It calls what it cannot know no failure; of these it must know each.
for line in 'Position Independent Executable: yes' 'Stack protected: yes' 'Read-only relocations: yes' 'Immediate binding: yes'; do
    [[ $(grep -c "$line" <<<"$seen") == $# ]] || { echo "$seen"; exit 1; }
done
