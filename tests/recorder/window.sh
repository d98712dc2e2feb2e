# The window's recorder and session with the program that captures, in a network namespace made here.
[[ $(id -u) == 0 ]] || { echo "SKIPPED: capturing needs root"; exit 77; }
command -v ip >/dev/null || { echo "SKIPPED: there is no ip (Debian package iproute2)"; exit 77; }
unshare --net true 2>/dev/null || { echo "SKIPPED: no network namespace can be made here"; exit 77; }
unshare --net bash -euo pipefail -c 'ip link set lo up; exec "$WINDOW" -w NoTests "[.wire]"'
