# The journey from the dialog to a ring of files: the window on a screen (Xvfb), the program that captures, a network namespace made here.
[[ $(id -u) == 0 ]] || { echo "SKIPPED: capturing needs root"; exit 77; }
for each in xvfb-run:xvfb xauth:xauth ip:iproute2; do
    command -v "${each%:*}" >/dev/null || { echo "SKIPPED: there is no ${each%:*} (Debian package ${each#*:})"; exit 77; }
done
unshare --net true 2>/dev/null || { echo "SKIPPED: no network namespace can be made here"; exit 77; }
export QPSCOPE_TEST_SCREEN=1 QT_QPA_PLATFORM=xcb
unshare --net bash -euo pipefail -c 'ip link set lo up; exec xvfb-run -a -s "-screen 0 1400x1000x24 -noreset" "$WINDOW" -w NoTests "[.ring]"'
