# Runs the journeys of test_gui on a screen of their own (Xvfb).
#   TEST_GUI   the program of the tests of the window       QPSCOPE   the command line
for each in xvfb-run:xvfb xauth:xauth; do
    command -v "${each%:*}" >/dev/null || { echo "SKIPPED: there is no ${each%:*} (Debian package ${each#*:})"; exit 77; }
done
export QPSCOPE_TEST_SCREEN=1 QT_QPA_PLATFORM=xcb
exec xvfb-run -a -s '-screen 0 1400x1000x24 -noreset' "$TEST_GUI" --warn NoTests '[.journey]'
