#!/bin/bash
# The corpus of the fuzzers: tests/fuzz/corpus.tar.zst, an archive with NAME/INPUT for every fuzzer.
#
#   corpus.sh unpack FOLDER   the inputs come into FOLDER; again only where the archive changed
#   corpus.sh pack FOLDER     makes the archive of FOLDER, whose folders are called as fuzzers are
#   corpus.sh list            NAME INPUTS BYTES of every fuzzer, and the sums
#   corpus.sh check FOLDER    every fuzzer has inputs, and FOLDER holds the archive, byte for byte; exit code 1 where not
#
# Same inputs, same archive: names in order, no times, no owners. CMake unpacks it, and knows Zstandard itself; pack and check need
# GNU tar and zstd.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
archive=$here/corpus.tar.zst
cmake=${CMAKE:-cmake}
unpacked=.unpacked  # in the folder: the sum of the archive, then what came out of it
fail() { echo "corpus.sh: $*" >&2; exit 1; }

fuzzers() { find "$here" -maxdepth 1 -name '*.cpp' ! -name replay_main.cpp -printf '%f\n' | sed 's/\.cpp$//' | LC_ALL=C sort; }
sum() { sha256sum <"$archive" | cut -d ' ' -f 1; }
inputs() { "$cmake" -E tar tf "$archive" | grep -v '/$'; }
# What can be in the archive: an input in the folder of its fuzzer. Nothing else is unpacked or removed.
named() { grep -E '^[a-z_]+/[A-Za-z0-9_][A-Za-z0-9_.-]*$'; }

# The archive before it is compressed.
stream() {
    (cd "$1" && find . -mindepth 2 -maxdepth 2 -type f -printf '%P\n') | named | LC_ALL=C sort |
        tar --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=0644 -C "$1" --verbatim-files-from -T - -cf -
}

unpack() {
    local folder=$1
    mkdir -p "$folder"
    [[ $(head -n 1 "$folder/$unpacked" 2>/dev/null) != "$(sum)" ]] || return 0
    # What an earlier archive left there goes, file by file.
    if [[ -e $folder/$unpacked ]]; then
        tail -n +2 "$folder/$unpacked" | named | (cd "$folder" && xargs -r -d '\n' rm -f --)
    fi
    local names
    names=$(inputs)
    [[ -n $names && $(wc -l <<<"$names") == $(named <<<"$names" | wc -l) ]] || fail "$archive has other files than NAME/INPUT, or none"
    # First what will come, then the files, the sum at last: an interrupted run is done again, and leaves nothing behind.
    printf '%s\n' interrupted "$names" >"$folder/$unpacked"
    (cd "$folder" && "$cmake" -E tar xf "$archive")
    printf '%s\n' "$(sum)" "$names" >"$folder/$unpacked"
}

pack() {
    local folder=$1 made
    check_names "$folder"
    made=$(mktemp "$archive.XXXXXX")
    stream "$folder" | zstd -q -19 -c >"$made" || { rm -f "$made"; fail "no archive could be made of $folder"; }
    chmod 644 "$made"
    mv "$made" "$archive"
}

# Every fuzzer has at least one input in FOLDER, every folder there a fuzzer, every input a name that can be packed.
check_names() {
    local name other
    for name in $(fuzzers); do
        [[ -n $(find "$1/$name" -maxdepth 1 -type f -print -quit 2>/dev/null) ]] || fail "fuzzer $name has no inputs in $1"
    done
    other=$(cd "$1" && find . -mindepth 1 -maxdepth 1 ! -name "$unpacked" -printf '%P\n' | grep -vxF "$(fuzzers)" | head -n 1 || true)
    [[ -z $other ]] || fail "$1/$other is no fuzzer's"
    other=$(cd "$1" && find . -mindepth 2 ! -type d -printf '%P\n' | grep -vE '^[a-z_]+/[A-Za-z0-9_][A-Za-z0-9_.-]*$' | head -n 1 || true)
    [[ -z $other ]] || fail "$1/$other cannot be packed: names are letters, digits, _, - and ."
}

check() {
    local beside
    beside=$(find "$here/corpus" -type f -printf '%P\n' -quit 2>/dev/null || true)
    [[ -z $beside ]] || fail "tests/fuzz/corpus/$beside is not in the archive, and nothing reads it: unpack, add it, pack"
    check_names "$1"
    cmp <(stream "$1") <(zstd -q -d -c "$archive") || fail "$1 is not what $archive holds"
    [[ $(inputs | wc -l) == $(stream "$1" | tar -tf - | wc -l) ]] || fail "CMake reads other files from $archive than tar does"
    echo "$(inputs | wc -l) inputs of $(fuzzers | wc -l) fuzzers"
}

list() {
    zstd -q -d -c "$archive" | tar -tvf - | awk '{ split($6, of, "/"); ++inputs[of[1]]; bytes[of[1]] += $3; ++all; sum += $3 }
        END { for (name in inputs) print name, inputs[name], bytes[name] | "sort"; close("sort"); print "all", all, sum }'
}

case ${1:-}:$# in
    unpack:2 | pack:2 | check:2) "$1" "$(readlink -m "$2")" ;;
    list:1) list ;;
    *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
