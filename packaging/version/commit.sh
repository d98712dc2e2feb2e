#!/bin/sh
# Which commit this checkout is of:
#
#   commit.sh                         1a2b3c4d5e6f; "1a2b3c4d5e6f, modified" where a tracked file differs from it; nothing where it is unknown
#   commit.sh --time                  its time in seconds since 1970, for archives that are the same whenever they are made
#   commit.sh --record FOLDER         writes it into FOLDER, a copy of the checkout that git knows nothing of
#   commit.sh --source FILE VERSION   writes the source of version.hpp, if it changes
#
# What `git archive` or --record wrote into the file `commit` beside this one counts; else the repository whose root this checkout is.
set -eu
here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
# A hook of git has these, and builds by root are of a checkout that is somebody else's.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX
git_here() { GIT_OPTIONAL_LOCKS=0 git -c "safe.directory=$root" -c core.fsmonitor=false -C "$root" "$@" 2>/dev/null; }

# HASH TIME [modified], or nothing.
whole() {
    recorded=$(sed -n '/^[0-9a-f]\{40,\} [0-9]\{1,\}\( modified\)\{0,1\}$/p' "$here/commit" 2>/dev/null || true)
    if [ -n "$recorded" ]; then
        echo "$recorded"
    elif command -v git >/dev/null && [ "$(git_here rev-parse --show-toplevel)" = "$root" ] && known=$(git_here log -1 --format='%H %ct'); then
        [ -z "$(git_here status --porcelain --untracked-files=no)" ] || known="$known modified"
        echo "$known"
    fi
}
short() { sed 's/^\([0-9a-f]\{12\}\)[0-9a-f]* [0-9]*/\1/; s/ modified$/, modified/'; }

case ${1:-} in
    '') whole | short ;;
    --time)
        time=$(whole | cut -d ' ' -f 2)
        echo "${time:-$(stat -c %Y "$here/commit")}"
        ;;
    --record)
        known=$(whole)
        [ -z "$known" ] || echo "$known" >"$2/packaging/version/commit"
        ;;
    --source)
        commit=$(whole | short)
        text="$3${commit:+ ($commit)}"
        new=$(printf '%s\n' '#include <packaging/version/version.hpp>' '' "const char* qps::version_text() { return \"$text\"; }")
        [ "$(cat "$2" 2>/dev/null || true)" = "$new" ] || printf '%s\n' "$new" >"$2"
        ;;
    *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2 ;;
esac
