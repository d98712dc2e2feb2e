#!/bin/bash
# docs/dev/rooms.md is made of the opening comments of the sources: a heading for each folder, a row for each header, or source without one,
# with the first sentence of its comment. Prints the difference; exit code 1 if there is one. --write writes it.
#   SOURCE   the root of the checkout (default: the one with this file)
set -uo pipefail
export LC_ALL=C
cd "${SOURCE:-$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..}" || exit 2
page=docs/dev/rooms.md

# The comment that a file opens with, up to the end of its first sentence or paragraph.
row() {
    awk -v name="$(basename "$1")" '
        !/^\/\// || /^\/\/ *$/ { exit }
        { sub(/^\/\/ */, ""); text = text (text == "" ? "" : " ") $0 }
        match(text, /[.:]( |$)/) && substr(text, RSTART, 1) == "." { text = substr(text, 1, RSTART); exit }
        END { gsub(/\|/, "\\|", text); if (text != "") printf "| `%s` | %s |\n", name, text }' "$1"
}

write() {
    echo '# Rooms: every folder and what its files are'
    echo
    echo 'Made of the opening comments of the sources by `tests/docs/rooms.sh --write`. [architecture.md](architecture.md) says how they work together.'
    local folder file
    find dissect transport-replay sandbox cli gui agent -name '*.[ch]pp' -printf '%h\n' | sort -u | while read -r folder; do
        printf '\n## `%s/`\n\n| file | what it is |\n|---|---|\n' "$folder"
        for file in "$folder"/*.?pp; do
            [[ $file == *.hpp || ! -e ${file%.cpp}.hpp ]] && row "$file"
        done
    done
}

if [[ ${1:-} == --write ]]; then
    write >"$page"
    exit
fi
diff <(write) "$page" && exit 0
echo "$page differs from the opening comments: tests/docs/rooms.sh --write" >&2
exit 1
