#!/bin/bash
# Every relative link of a Markdown file of this repository leads to a file that is there, and every anchor to a heading of it.
# Anchors are those of GitHub; packaging/site gives the pages of the site the same. Needs no network: links to other hosts are not followed.
# Prints FILE:LINE: TEXT of every offence; exit code 1 if there is one.
#
#   links.sh          all Markdown files that git knows, or that are there where git is not
#   links.sh --self   every kind of wrong link is found, and no right one
#
#   SOURCE   the root of the checkout (default: the one with this file)
set -uo pipefail
export LC_ALL=C
self=$(readlink -f "${BASH_SOURCE[0]}")

# Prints "anchor FILE#SLUG" of each heading, "link FILE LINE TARGET" of each link. Blocks of code have neither.
read_pages() {  # FILE...
    awk '
        FNR == 1 { fenced = 0 }
        /^```/ { fenced = !fenced; next }
        fenced || /^    / { next }
        /^#+ / {
            text = tolower($0)
            sub(/^#+ +/, "", text)
            sub(/ +#*$/, "", text)
            while (match(text, /\]\([^)]*\)/)) text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
            gsub(/[^a-z0-9 _-]/, "", text)
            gsub(/ /, "-", text)
            place = FILENAME "#" text
            print "anchor", place (seen[place]++ ? "-" (seen[place] - 1) : "")
        }
        {
            rest = $0
            while (match(rest, /<a id="[^"]*"/)) {
                print "anchor", FILENAME "#" substr(rest, RSTART + 7, RLENGTH - 8)
                rest = substr(rest, RSTART + RLENGTH)
            }
            rest = $0
            gsub(/`[^`]*`/, "", rest)
            while (match(rest, /\]\([^) ]*/)) {
                print "link", FILENAME, FNR, substr(rest, RSTART + 2, RLENGTH - 2)
                rest = substr(rest, RSTART + RLENGTH)
            }
        }' "$@"
}

offences() {  # FILE...
    local kind page number target file anchor
    local -A anchors=()
    read_pages "$@" >"$scratch/read"
    while read -r kind page number target; do
        if [[ $kind == anchor ]]; then anchors[$page]=1; fi
    done <"$scratch/read"
    while read -r kind page number target; do
        [[ $kind == link && $target != *:* ]] || continue
        file=${target%%#*}
        anchor=''
        [[ $target != *#* ]] || anchor=${target#*#}
        if [[ -z $file ]]; then file=$page
        elif [[ $file == /* ]]; then echo "$page:$number: $target begins at the root of a machine"; continue
        else file=$(realpath -ms --relative-to=. "$(dirname "$page")/$file")
        fi
        if [[ ! -e $file ]]; then echo "$page:$number: no file for the link $target"
        elif [[ -n $anchor && $file == *.md && -z ${anchors[$file#$anchor]-} ]]; then echo "$page:$number: no heading for the link $target"
        fi
    done <"$scratch/read"
}

scratch=$(mktemp -d)
trap 'rm -rf -- "${scratch:?}"' EXIT

expect() {  # GOOD|BAD TEXT
    printf '%b' "$2" >page.md
    local found
    found=$(offences page.md other.md)
    if [[ $1 == bad && -z $found ]]; then echo "not found: $2"; failures=$((failures + 1)); fi
    if [[ $1 == good && -n $found ]]; then echo "found although it is right: $2: $found"; failures=$((failures + 1)); fi
}

if [[ ${1:-} == --self ]]; then
    failures=0
    mkdir "$scratch/here"
    cd "$scratch/here" || exit 2
    printf '# One `thing`, and (two) words_here: a-b\n\n## Twice\n\n## Twice\n\n<a id="own"></a>\n\n```\n# no heading\n```\n' >other.md
    expect good '[a](other.md)\n'
    expect good '[a](other.md#one-thing-and-two-words_here-a-b), [b](other.md#twice-1) [c](other.md#own)\n'
    expect good '# Here\n\n[a](#here) ![b](./other.md) [c](https://example.org/nothing#x) [d](mailto:a@b)\n'
    expect good '    [a](nothing.md)\n\n```\n[a](nothing.md)\n```\n\n`[a](nothing.md)`\n'
    expect bad '[a](nothing.md)\n'
    expect bad 'text ![a](nothing.png)\n'
    expect bad '[a](other.md#nothing)\n'
    expect bad '[a](other.md#no-heading)\n'
    expect bad '[a](other.md#twice-2)\n'
    expect bad '[a](#here)\n'
    expect bad '[a](other.md), [b](../here/nothing.md)\n'
    expect bad "[a]($scratch/here/other.md)\n"
    ((failures == 0))
    exit
fi

cd "${SOURCE:-$(dirname "$self")/../..}" || exit 2
mapfile -t pages < <(git ls-files -- '*.md' 2>/dev/null | while IFS= read -r page; do [[ ! -f $page ]] || echo "$page"; done)
((${#pages[@]})) || mapfile -t pages < <(find . -path ./build -prune -o -name '*.md' -type f -printf '%P\n')
found=$(offences "${pages[@]}")
[[ -n $found ]] || exit 0
printf '%s\n' "$found"
exit 1
