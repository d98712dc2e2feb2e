# --version names the commit where one is known: of a checkout, changed or not, of an archive of it, of a copy; and nothing false elsewhere.
fail() { echo "FAILED: $*"; exit 1; }
command -v git >/dev/null || { echo "SKIPPED: there is no git"; exit 77; }
number=$(sed -n 's/^project(qpscope VERSION \([0-9.]*\).*/\1/p' "$SOURCE/CMakeLists.txt")
said=$("$QPSCOPE" --version)
[[ $said =~ ^qpscope\ "$number"(\ \(([0-9a-f]{12})(, modified)?\))?$ ]] || fail "the program says '$said'"
built=${BASH_REMATCH[2]:-}
# More may have been committed since the program was built.
if [[ -n $("$SOURCE/packaging/version/commit.sh") ]]; then
    [[ -n $built ]] || fail "no commit: $said"
    [[ ! -e $SOURCE/.git ]] || git -c safe.directory='*' -C "$SOURCE" cat-file -e "$built^{commit}" || fail "there is no commit $built"
fi

find . -mindepth 1 -delete
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
commit() { git -C "$1" -c user.name=a -c user.email=a@example.org commit -qam "$2"; }
is() {  # TREE EXPECTED
    local found
    found=$("$1/packaging/version/commit.sh")
    [[ $found == "$2" ]] || fail "$1: '$found' instead of '$2'"
}
tree=$PWD/tree
mkdir -p "$tree/packaging"
# As committed, whether this checkout is a repository or an archive of one.
cp -r "$SOURCE/packaging/version" "$tree/packaging/"
# shellcheck disable=SC2016  # git expands it
echo '$Format:%H %ct$' >"$tree/packaging/version/commit"
is "$tree" ''
git init -q "$tree"
is "$tree" ''  # no commit yet
git -C "$tree" add .
commit "$tree" first
whole=$(git -C "$tree" rev-parse HEAD)
is "$tree" "${whole:0:12}"
[[ $("$tree/packaging/version/commit.sh" --time) == "$(git -C "$tree" log -1 --format=%ct)" ]] || fail "another time"
touch "$tree/packaging/version/version.hpp" "$tree/new"
is "$tree" "${whole:0:12}"  # nothing tracked has another content

mkdir archive
git -C "$tree" archive HEAD | tar -C archive -xf -
is "$PWD/archive" "${whole:0:12}"
[[ $(archive/packaging/version/commit.sh --time) == "$(git -C "$tree" log -1 --format=%ct)" ]] || fail "an archive has another time"

# Inside of another repository an archive is what it was, and a copy without record is unknown.
git init -q .
git add archive
commit . outer
is "$PWD/archive" "${whole:0:12}"
cp -r archive copy
rm copy/packaging/version/commit
is "$PWD/copy" ''

echo '# more' >>"$tree/packaging/version/CMakeLists.txt"
is "$tree" "${whole:0:12}, modified"
"$tree/packaging/version/commit.sh" --record "$PWD/copy"
is "$PWD/copy" "${whole:0:12}, modified"

# The source is written when it changes, and not else.
"$tree/packaging/version/commit.sh" --source source.cpp 9.8.7
grep -qF "\"9.8.7 (${whole:0:12}, modified)\"" source.cpp || fail "$(cat source.cpp)"
touch -d @1000000000 source.cpp
"$tree/packaging/version/commit.sh" --source source.cpp 9.8.7
[[ $(stat -c %Y source.cpp) == 1000000000 ]] || fail "written without a change"
commit "$tree" second
"$tree/packaging/version/commit.sh" --source source.cpp 9.8.7
grep -qF "\"9.8.7 ($(git -C "$tree" rev-parse HEAD | cut -c 1-12))\"" source.cpp || fail "$(cat source.cpp)"
