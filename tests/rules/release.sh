#!/bin/bash
# What packaging/release --check holds:  release.sh [--self]
# The version and its date are the same in all files that name them, and the changelog has what a release must. With --self: in a copy
# where one of them differs it is found, each by the name of its file; and no release is built of a checkout that is not clean. What is
# not released yet is left out of the copy: a release refuses it, which has a case of its own.
set -uo pipefail
here=$(readlink -f "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..")
if [[ ${1:-} != --self ]]; then
    exec bash "$here/packaging/release" --check
fi

scratch=$(mktemp -d)
trap 'rm -rf "${scratch:?}"' EXIT
version=$(sed -n 's/^project(qpscope VERSION \([0-9.]*\).*/\1/p' "$here/CMakeLists.txt")
failed=0
complain() { echo "release.sh: $*"; failed=1; }
fresh() {
    rm -rf "${scratch:?}/tree"
    mkdir "$scratch/tree"
    cp "$here/CMakeLists.txt" "$here/CHANGELOG.md" "$scratch/tree/"
    cp -r "$here/packaging" "$scratch/tree/"
    sed -i '/^## Unreleased/,/^## [0-9]/{/^## [0-9]/!d}' "$scratch/tree/CHANGELOG.md"
}
# FILE SED WHAT...: after these changes the check must fail, for each of them with a line that has WHAT.
plant() {
    local before found wanted=()
    fresh
    while [[ $# -gt 0 ]]; do
        before=$(cat "$scratch/tree/$1")
        sed -i -E "$2" "$scratch/tree/$1"
        [[ $before != "$(cat "$scratch/tree/$1")" ]] || complain "nothing changed in $1: $2"
        wanted+=("$3")
        shift 3
    done
    found=$(bash "$scratch/tree/packaging/release" --check) && complain "not seen: ${wanted[*]}"
    for before in "${wanted[@]}"; do
        grep -qF -- "$before" <<<"$found" || complain "it should say '$before', and says: $found"
    done
}
fresh
bash "$scratch/tree/packaging/release" --check >/dev/null || complain "a right tree is found wrong"
any="${version//./\\.}"
deb=packaging/deb/debian/changelog spec=packaging/rpm/qpscope.spec desktop=packaging/desktop/org.qpscope.qpscope.metainfo.xml
plant CMakeLists.txt 's/(project\(qpscope VERSION )[0-9.]+/\19.9.9/' 'no heading'
plant CMakeLists.txt 's/(project\(qpscope VERSION )[0-9.]+/\1next/' 'no version of three numbers'
plant CHANGELOG.md "s/^(## $any) .*/\\1 (soon)/" 'no heading'
plant CHANGELOG.md "0,/^## $any/s/^## $any.*/## 9.9.9 (2026-01-01)\n\n&/" "CHANGELOG.md: '9.9.9'" \
    packaging/packages.sh 's/^(build +libre2-dev).*/\1  other words/' packaging/sbom.spdx.json
plant $deb '1s/\(.*\)/(9.9.9)/' "$deb: '9.9.9'" $spec 's/^(Version: *).*/\19.9.9/' "$spec: '9.9.9'" \
    $desktop "s/version=\"$any\"/version=\"9.9.9\"/" "metainfo.xml: '9.9.9'" \
    CHANGELOG.md "0,/^\* /s/^\* .*/* $(printf 'x%.0s' {1..140})/" 'more than 140' \
    CHANGELOG.md "/^## $any/,/^## /{/^### /a ### Other
}" "a heading 'Other'"
plant $deb 's/20[0-9][0-9] 00:00/1999 00:00/' "$deb: '1999-" $spec '/^%changelog/,$s/ 20[0-9][0-9] / 1999 /' "$spec: '1999-" \
    $spec "s/- $any-1/- 9.9.9-1/" "$spec: '9.9.9'" $desktop 's/<release (.*) date="[^"]*"/<release \1 date="1999-01-01"/' "'1999-01-01'" \
    packaging/sbom.spdx.json "s/qpscope-$any/qpscope-9.9.9/" packaging/sbom.spdx.json
# Every heading without a line, and of a version that ends in .0 without the heading.
emptied=() lacking=()
while read -r heading; do
    emptied+=(CHANGELOG.md "/^## $any/,/^## [^$version]/{/^### $heading/,/^##/s/^\* /- /}" "nothing below '### $heading'")
    lacking+=(CHANGELOG.md "0,/^### $heading/s/^### $heading//" "lacks '### $heading'")
done < <(bash "$here/packaging/release" --notes | sed -n 's/^### //p')
[[ ${#emptied[@]} -gt 0 ]] || complain "the notes have no headings"
plant "${emptied[@]}"
[[ $version != *.0 ]] || plant "${lacking[@]}"

# A release of the copy: not before it is a clean commit, all of it in one folder, and nothing of another commit beside it.
fresh
cd "$scratch/tree" || exit 1
made() { bash packaging/release --only source,sbom,notes "$scratch/made" 2>&1; }
refused() { [[ $1 == *"$2"* ]] || complain "it should say '$2', and says: $1"; }
printf 'build/\n' >.gitignore
refused "$(made)" 'this is none'
git() { command git -c user.name=tester -c user.email=tester@localhost -c init.defaultBranch=main "$@"; }
export GIT_CEILING_DIRECTORIES=$scratch GIT_CONFIG_GLOBAL=/dev/null
git init -q . && git add -A && git commit -q -m one
echo change >>LICENSE
refused "$(made)" 'has changes'
rm LICENSE
made >/dev/null || complain "a clean checkout: $(made)"
(cd "$scratch/made" && sha256sum --quiet -c SHA256SUMS) || complain "SHA256SUMS are not those of the files"
for file in COMMIT "qpscope-$version.tar.gz" "qpscope-$version.spdx.json" "qpscope-$version-notes.md"; do
    grep -qF "  $file" "$scratch/made/SHA256SUMS" || complain "$file is not in SHA256SUMS"
done
tar -xOzf "$scratch/made/qpscope-$version.tar.gz" "qpscope-$version/CHANGELOG.md" | cmp - CHANGELOG.md || complain "the source is another"
grep -q '^### ' "$scratch/made/qpscope-$version-notes.md" || complain "the notes have no headings"
before=$(cat "$scratch/made/SHA256SUMS")
made >/dev/null && [[ $before == "$(cat "$scratch/made/SHA256SUMS")" ]] || complain "the same commit makes other files"
sed -i '0,/^## /s/^## /## Unreleased\n\n* new\n\n&/' CHANGELOG.md
git commit -qam two
refused "$(made)" 'not released'
git revert --no-edit HEAD >/dev/null
refused "$(made)" 'files of another commit'
exit $failed
