#!/bin/bash
# The rules of the house that a compiler does not check:  rules.sh RULE [ROOT]
#   includes    includes point one way: dissect <- transport-replay <- { cli, gui }; Qt only in gui; nobody includes tests;
#               a room of dissect, transport-replay, gui includes only rooms before it ($floors_of);
#               the agent includes nothing of ours but the headers of its protocol, sandbox/ nothing of ours at all
#   quiet       the libraries print nothing, throw nothing, end no process, read no clock (exceptions: allowed.txt)
#   ascii       sources are ASCII, without tabs or carriage returns
#   formatted   lines are as .clang-format has them (.git-blame-ignore-revs hides who brought them there); exit code 77 without clang-format
#   size        no file of more than 550 lines
#   names       no utils, helpers, common, manager; nothing left behind beside README.md
#   words       no word of our own where the field has one, in code, comments and documents
#   own         the repository speaks of the project alone: no path of somebody's machine, no package mirror
#   self        every rule finds what it is there to find
# Prints FILE:LINE: TEXT of every offence; exit code 1 if there is one. A shell, grep, sed and awk are enough, but for formatted.
set -uo pipefail
shopt -s nullglob
export LC_ALL=C
rule=${1:?rule}
self=$(readlink -f "${BASH_SOURCE[0]}")
root=${2:-$(dirname "$self")/../..}
cd "$root" || exit 2

# The rooms of a tree, each of which includes only those before it.
declare -A floors_of=(
    [dissect]='base capture headers mad lldp omni_path ulp ultra_ethernet packet filter'
    [transport-replay]='model capture queue_pair tracking watch cm management collectives ulp iwarp ultra_ethernet set_up report logs findings checks evidence analysis casework parts index series page live conformance'
    [gui]='session base recorder tables packets preferences filter pictures live launch checks compare export fabric follow hosts logs casework statistics summary window'
)
max_lines=550  # the style card says about 500
llvm=19        # as in packaging/packages.sh: other versions break lines otherwise

files_in() {  # PATTERN FOLDER...: files below the folders that exist
    local pattern=$1 folders=()
    shift
    for folder in "$@"; do [[ -d $folder ]] && folders+=("$folder"); done
    [[ ${#folders[@]} -eq 0 ]] || find "${folders[@]}" -type f -regextype posix-extended -regex "$pattern" | sort
}
rooms=(dissect transport-replay agent sandbox cli gui examples tests bench cmake packaging docs .ci .github)
cpp='.*\.(cpp|hpp)'
sources='.*(\.(cpp|hpp|cmake|sh)|CMakeLists\.txt|\.ci/run)'

# FILE:LINE: TEXT for lines that match the regular expression once comments and the text of strings are gone.
matches() {  # REGEX < list of files
    local regex=$1 file
    while IFS= read -r file; do
        sed -E 's/\\"//g; s/"[^"]*"/""/g; s://.*$::' "$file" | grep -nE "$regex" | sed "s|^|$file:|"
    done
}
included() {  # REGEX < list of files: the same for what is included, in either form of the directive
    xargs -r grep -nHE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$1" || true
}
# Lines of stdin whose file allowed.txt does not excuse from the rule. Its rows: RULE FILE REASON...
not_allowed() {
    awk -v rule="$rule" -v list="tests/rules/allowed.txt" '
        BEGIN { while ((getline row < list) > 0) { split(row, w, " "); if (w[1] == rule && w[3] != "") allowed[w[2]] = 1 } }
        { split($0, part, ":"); if (!(part[1] in allowed)) print }'
}

# Includes of a tree that lead to a room which is not before their own, or to one without a floor. What lies beside the rooms is above them.
includes_upwards() {  # TREE FLOORS
    files_in "$cpp" "$1" | included "$1/" | awk -v tree="$1" -v order="$2" '
        BEGIN { n = split(order, rooms, " "); for (i = 1; i <= n; ++i) floor[rooms[i]] = i }
        { file = $0; sub(/:.*/, "", file); m = split(file, from, "/"); to = $0; sub("^[^<\"]*[<\"]" tree "/", "", to); sub(/\/.*/, "", to)
          if (from[2] == "precompiled.hpp") next  # read before all rooms, for all of them
          if (!(to in floor) || (m > 2 && (!(from[2] in floor) || floor[to] > floor[from[2]]))) print }'
}
rule_includes() {
    files_in "$cpp" dissect | included '(transport-replay|cli|gui)/'
    files_in "$cpp" transport-replay | included '(cli|gui)/'
    local tree
    for tree in "${!floors_of[@]}"; do includes_upwards "$tree" "${floors_of[$tree]}"; done
    files_in "$cpp" dissect transport-replay cli gui | included 'agent/'
    files_in "$cpp" agent | included '(dissect|transport-replay|cli|gui)/' | grep -vE '[<"]transport-replay/conformance/agent/'
    files_in "$cpp" transport-replay/conformance/agent | grep -E '/(words|keys|protocol|line|pattern)\.hpp$' |
        included '(dissect|transport-replay)/' | grep -vE '[<"]transport-replay/conformance/agent/(words|keys|protocol|line|pattern)\.hpp'
    files_in "$cpp" dissect transport-replay agent | included 'sandbox/'
    files_in "$cpp" sandbox | included '(dissect|transport-replay|agent|cli|gui)/'
    files_in "$cpp" cli | included 'gui/'
    files_in "$cpp" gui | included 'cli/'
    files_in "$cpp" dissect transport-replay agent sandbox cli gui bench | included 'tests/'
    files_in "$cpp" dissect transport-replay agent sandbox cli gui tests bench | included '\.\.?/'
    files_in "$cpp" dissect transport-replay agent sandbox cli tests bench | grep -vE '^(tests/gui/|bench/window\.cpp)' | included 'Q(t|[A-Z])'
}
rule_quiet() {
    {
        files_in "$cpp" dissect transport-replay | included '(iostream|cstdio|stdio\.h|print|cassert|assert\.h)>'
        files_in "$cpp" dissect transport-replay | matches \
            '(^|[^_.>[:alnum:]])(throw([^_[:alnum:]]|$)|(v?f?printf|puts|fputs|putchar|perror|abort|exit|_exit|quick_exit|terminate|assert)[[:space:]]*\(|fmt::print|std::(cout|cerr|clog)|(system|steady|high_resolution)_clock|(clock_gettime|gettimeofday|time)[[:space:]]*\()'
    } | not_allowed
}
all_sources() {
    files_in "$sources" "${rooms[@]}"
    find . -maxdepth 1 -name '*.sh' | sed 's|^\./||'
}
rule_ascii() { all_sources | xargs -r -d '\n' grep -HnE '[^ -~]'; }
rule_formatted() {
    files_in "$cpp" dissect transport-replay agent sandbox cli gui examples tests bench |
        xargs -r -d '\n' -P 2 -n 60 clang-format-$llvm --dry-run --Werror 2>&1 | grep 'error:'
}
rule_size() {
    all_sources | xargs -r -d '\n' awk -v max=$max_lines \
        'FNR == max + 1 { print FILENAME ":" FNR ": more than " max " lines" }'
}
rule_names() {
    files_in '.*' "${rooms[@]}" | grep -iE '(^|[/_-])(utils?|helpers?|common|managers?)([._-][^/]*)?(/|$)' | sed 's/$/:1: a name that says nothing/'
    find . -maxdepth 1 -type f -name '*.*' ! -name '.*' ! -name 'CMake*' ! -name '*.md' ! -name '*.sh' -printf '%P:1: left behind in the root\n'
}
rule_words() {
    { files_in '.*\.(cpp|hpp|md|cmake|sh|script)' "${rooms[@]}"; find . -maxdepth 1 -name '*.md'; } | sed 's|^\./||' |
        grep -vxF tests/rules/rules.sh | xargs -r -d '\n' grep -HniwE 'whoever|in vain|recovery stor(y|ies)|wire stor(y|ies)'
}
rule_own() {
    local machines='(^|[^[:alnum:]_.~/-])/(home|root|work|workspace|Users)/[[:alnum:]_.]'
    local mirrors='([a-z0-9-]+\.debian\.org/debian|(archive|ports|security)\.ubuntu\.com|pypi\.org|registry\.npmjs|crates\.io|proxy\.golang\.org|conan\.io)'
    # In a worktree .git is a file, of Git's own, with a path of the machine.
    { files_in '.*' "${rooms[@]}" captures; find . -maxdepth 1 -type f ! -name .git; } | sed 's|^\./||' | grep -vxF tests/rules/rules.sh |
        xargs -r -d '\n' grep -IHnE "$machines|$mirrors"
}

# Plants an offence for every rule into an empty tree and asks the rule for it.
plant() {  # RULE FILE TEXT: FILE with TEXT must offend
    local tree found
    tree=$(mktemp -d)
    mkdir -p "$tree/$(dirname "$2")"
    printf '%b\n' "$3" >"$tree/$2"
    found=$(bash "$self" "$1" "$tree")
    [[ $found == "$2":* ]] || echo "$self:1: rule $1 does not see $2: $3"
    rm -r "$tree"
}
spare() {  # RULE FILE TEXT: must not offend
    local tree
    tree=$(mktemp -d)
    mkdir -p "$tree/$(dirname "$2")"
    printf '%b\n' "$3" >"$tree/$2"
    bash "$self" "$1" "$tree" >/dev/null || echo "$self:1: rule $1 is wrong about $2: $3"
    rm -r "$tree"
}
rule_self() {
    plant includes dissect/a.cpp '#include <transport-replay/x.hpp>'
    plant includes dissect/a.cpp '#include "cli/x.hpp"'
    plant includes transport-replay/live/a.hpp '  # include <gui/x.hpp>'
    plant includes transport-replay/model/a.hpp '#include <transport-replay/report/x.hpp>'
    plant includes transport-replay/new_room/a.hpp '#include <transport-replay/model/x.hpp>'
    plant includes dissect/base/a.hpp '#include <dissect/packet/x.hpp>'
    plant includes gui/base/a.cpp '#include <gui/window/x.hpp>'
    plant includes gui/tables/a.cpp '#include <gui/x.hpp>'
    spare includes gui/main.cpp '#include <gui/window/x.hpp>'
    spare includes transport-replay/report/a.hpp '#include <transport-replay/model/x.hpp>'
    plant includes dissect/a.cpp '#include <sandbox/x.hpp>'
    plant includes sandbox/a.cpp '#include <dissect/x.hpp>'
    plant includes cli/a.cpp '#include <gui/x.hpp>'
    plant includes gui/a.cpp '#include <cli/x.hpp>'
    plant includes bench/a.cpp '#include <tests/support/catch.hpp>'
    plant includes cli/a.cpp '#include "../dissect/x.hpp"'
    plant includes cli/a.cpp '#include <QString>'
    plant includes agent/a.cpp '#include <dissect/x.hpp>'
    plant includes transport-replay/a.cpp '#include <agent/x.hpp>'
    plant includes transport-replay/conformance/agent/line.hpp '#include <transport-replay/model/address.hpp>'
    spare includes agent/a.cpp '#include <agent/x.hpp>\n#include <transport-replay/conformance/agent/line.hpp>'
    spare includes gui/a.cpp '#include <QString>\n#include <dissect/x.hpp>'
    plant quiet dissect/a.cpp '#include <iostream>'
    plant quiet dissect/a.cpp 'void f() { throw 1; }'
    plant quiet dissect/a.cpp 'std::printf("x");'
    plant quiet transport-replay/a.cpp '    abort();'
    plant quiet transport-replay/a.cpp 'auto now = std::chrono::system_clock::now();'
    spare quiet dissect/a.cpp '// throw, abort() and std::cout\nstatic_assert(true);\nauto t = "exit()"; int send_time(); int x = frame.time;'
    spare quiet cli/a.cpp 'throw 1;'
    plant ascii cli/a.cpp '// caf\0303\0251'
    plant ascii cli/a.cpp 'int a;\r'
    if command -v clang-format-$llvm >/dev/null; then
        plant formatted cli/a.cpp 'int  a;'
        spare formatted cli/a.cpp 'int a;'
    fi
    plant size cli/a.cpp "$(printf 'x\\n%.0s' $(seq $max_lines))x"
    spare size cli/a.cpp "$(printf 'x\\n%.0s' $(seq $((max_lines - 1))))x"
    plant names dissect/utils.cpp x
    plant names cli/file_helpers.hpp x
    plant names gui/common/a.hpp x
    spare names dissect/commonality.cpp x
    plant names out.txt x
    spare names CMakeLists.txt x
    plant words cli/a.cpp '// Whoever asks waits.'
    plant words docs/a.md 'waited in vain'
    spare words cli/a.cpp '// The history of a vain attempt.'
    plant own README.md 'see /home/'"me/x"
    plant own docs/a.md 'http://deb.'"debian.org/debian"
    plant own .github/workflows/ci.yml 'path: /home/'"me/x"
    spare own run.sh 'ls build/home/x'
    spare own .git 'gitdir: /home/'"me/x"
}

case $rule in
    includes | quiet | ascii | size | names | words | own | self) ;;
    formatted) command -v clang-format-$llvm >/dev/null || { echo "rules.sh: clang-format-$llvm is missing: skipped"; exit 77; } ;;
    *) echo "rules.sh: unknown rule $rule" >&2; exit 2 ;;
esac
offences=$("rule_$rule")
[[ -n $offences ]] || exit 0
printf '%s\n' "$offences"
exit 1
