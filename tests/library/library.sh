# The libraries as others get them: `cmake --install` puts them in place; the four programs of examples/ find them there, by CMake
# and by pkg-config, and do what their first lines say.
place=$PWD/place
fail() { echo "$*"; exit 1; }
[[ ! -d place/include ]] || find place/include -type f -delete  # what is public no more
"$CMAKE" --install "$BUILD" --prefix "$place" --component library >install.log || fail "$(cat install.log)"
include=$place/include/qpscope

# Headers are the public ones, and include none that is not there.
"$CMAKE" -D "SOURCE=$SOURCE" -P "$SOURCE/cmake/public_headers.cmake" >public.txt
diff public.txt <(cd "$include" && find . -type f | sed 's|^\./||' | LC_ALL=C sort)
(cd "$include" && grep -rhoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<](dissect|transport-replay|cli|gui|agent|tests)/[^">]*' .) |
    sed 's/.*["<]//' | sort -u | while read -r header; do [[ -e $include/$header ]] || fail "an installed header includes $header, which is not"; done

# All of them together, with the warnings that users may have.
sed 's/.*/#include <&>/' public.txt >every_header.cpp
# shellcheck disable=SC2086  # the words are arguments
"$CXX" -std=c++23 ${FLAGS:-} -Wall -Wextra -Werror -fsyntax-only -I "$include" every_header.cpp

# No flag of ours and no folder of this machine reaches users: the tree may be moved.
if grep -rnE --include='*.cmake' --include='*.pc' -e '[ ";](-W|-O|-f)' -e "$SOURCE|$BUILD" place; then fail "users need none of that"; fi

# By CMake, as a project of its own, away from our sources.
export LC_ALL=C
mkdir -p examples
cp -p "$SOURCE"/examples/* examples/
"$CMAKE" -G Ninja -S examples -B built -D CMAKE_PREFIX_PATH="$place" -D CMAKE_CXX_COMPILER="$CXX" -D CMAKE_CXX_COMPILER_LAUNCHER="${LAUNCHER:-}" \
    -D CMAKE_CXX_FLAGS="${FLAGS:-} -Wall -Wextra -Werror" >configure.log 2>&1 || fail "$(cat configure.log)"
"$CMAKE" --build built >build.log 2>&1 || fail "$(cat build.log)"

# By pkg-config alone.
PKG_CONFIG_PATH=$(dirname "$(find "$place" -name qpscope-live.pc)")
export PKG_CONFIG_PATH
[[ $(pkg-config --modversion qpscope-dissect qpscope-analysis qpscope-live qpscope-conformance | sort -u | wc -l) == 1 ]]
# shellcheck disable=SC2046,SC2086
"$CXX" -std=c++23 ${FLAGS:-} -o decode_file examples/decode_file.cpp $(pkg-config --cflags --libs qpscope-dissect)
# shellcheck disable=SC2046
pkg-config --libs qpscope-conformance | grep -q 'qpscope_conformance.*qpscope_live.*qpscope_analysis.*qpscope_dissect.*isal'

# A line for every packet, the same that the program itself has.
capture=$SOURCE/captures/rc_pingpong/capture.pcap
./decode_file "$capture" >lines.txt
cmp lines.txt <(built/decode_file - <"$capture")
"$QPSCOPE" packets "$capture" -f json | sed -n 's/.*"line":"\([^"]*\)".*/\1/p' >expected.txt
[[ $(wc -l <lines.txt) -gt 100 ]]
diff expected.txt <(sed -E 's/^[0-9]+ [^ ]+ > [^ ]+ //' lines.txt)

# The findings, the same that the program has.
built/print_findings "$SOURCE/captures/err_rnr/capture.pcap" >findings.txt
"$QPSCOPE" findings "$SOURCE/captures/err_rnr/capture.pcap" -f json >findings.json
grep -q '^packets: [1-9][0-9]*, connections: [1-9][0-9]*$' findings.txt
[[ $(grep -cE '^(error|warning|note) [a-z-]+: ' findings.txt) == $(grep -o '"advice": ' findings.json | wc -l) ]]

# An echo, for a client of the program.
server=127.$((192 + $$ / 65536 % 32)).$(($$ / 256 % 256)).1
client=${server%.1}.2
timeout 90 built/echo_peer "$server" 1 >echo.txt &
peer=$!
"$QPSCOPE" peer --via udp -a "$client" --for 60s -f json echo "$server" --count 20 >client.json || fail "$(cat echo.txt client.json)"
wait $peer
tail -n 1 echo.txt
grep -qE '^20 messages, [1-9][0-9]* bytes$' echo.txt

# A link that loses the same packets every time.
built/simulated_link 7 >link.txt
cmp link.txt <(built/simulated_link 7)
grep -q ' ns RC_SEND_ONLY qp=.* psn=.* len=64' link.txt
grep -q ' icrc=BAD' link.txt
[[ $(wc -l <link.txt) -lt 10 ]]
