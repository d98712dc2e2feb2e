#!/bin/bash
# What the documents point at exists: paths and sources of this repository in backticks, pages of the site (links: links.sh). Each page
# has its place in the site. README has 150 lines at most. The template of a pull request asks what CONTRIBUTING.md says that a review looks at.
# Prints FILE:LINE: TEXT of every offence; exit code 1 if there is one.
#   SOURCE   the root of the checkout (default: the one with this file)
set -uo pipefail
export LC_ALL=C
cd "${SOURCE:-$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..}" || exit 2
pages=(*.md docs/*.md docs/guide/*.md docs/dev/[!r]*.md captures/README.md agent/README.md tests/lab/README.md)
rooms='agent|bench|captures|cli|cmake|dissect|docs|examples|gui|packaging|tests|transport-replay'

offences() {
    local page number text target
    for page in "${pages[@]}"; do
        # A path may be a pattern (walk_*.cpp), or a name without its ending (tests/lab/conform, gui/window/actions).
        while IFS=: read -r number text; do
            target=${text//\`/}
            [[ $target != *CASE* ]] || continue  # stands for any
            compgen -G "$target" >/dev/null || compgen -G "$target.?pp" >/dev/null || echo "$page:$number: there is no $target"
        done < <(grep -noE '`('"$rooms"')/[A-Za-z0-9_./*-]*`' "$page")
    done
    # A source by its name alone.
    find agent bench cli dissect docs gui tests transport-replay -type f -printf '%f\n' | sort -u >"$names"
    while IFS=: read -r page number text; do
        target=${text//\`/}
        target=${target//./\\.}
        grep -qxE "${target//\*/.*}" "$names" || echo "$page:$number: there is no $text"
    done < <(grep -noE '`[a-z0-9_*]+\.(cpp|hpp|sh)`' HACKING.md CONTRIBUTING.md docs/dev/[!r]*.md | grep -vE '`(run|test|bench)\.sh`')
    while IFS= read -r text; do
        grep -qxF -- "$text" .github/PULL_REQUEST_TEMPLATE.md || echo ".github/PULL_REQUEST_TEMPLATE.md:1: the review list of CONTRIBUTING.md has: $text"
    done < <(sed -n '/^## Review/,$s/^\([0-9]\. [^?]*[?.]\).*/\1/p' CONTRIBUTING.md)
    # The pages of the site are those that there are.
    while IFS=: read -r number text; do
        [[ -f $text ]] || echo "packaging/site/mkdocs.yml:$number: there is no $text"
    done < <(sed -n '/^nav:/,$ { /\.md$/ { =; s/.* //; p; } }' packaging/site/mkdocs.yml | paste -d : - -)
    for page in README.md docs/*.md docs/guide/*.md; do
        grep -q ": $page\$" packaging/site/mkdocs.yml || echo "packaging/site/mkdocs.yml:1: $page has no place in the navigation"
    done
    awk 'END { if (NR > 150) print FILENAME ":" NR ": more than 150 lines" }' README.md
}

names=$(mktemp)
trap 'rm -f -- "$names"' EXIT
found=$(offences)
[[ -n $found ]] || exit 0
printf '%s\n' "$found"
exit 1
