#!/bin/bash
# Builds the Debian packages of this checkout: build.sh [FOLDER]; they come into FOLDER (default: build/deb).
#
#   QPSCOPE_BUILD=FOLDER   takes the programs of a build that is there (build/release, ...) instead of building them
#
# Needs what debian/control lists under Build-Depends: apt-get build-dep ./build/deb/tree, or mk-build-deps.
set -euo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..")
out=$(readlink -m "${1:-$root/build/deb}")
[[ -z ${QPSCOPE_BUILD:-} ]] || QPSCOPE_BUILD=$(readlink -f "$QPSCOPE_BUILD")
export QPSCOPE_BUILD=${QPSCOPE_BUILD:-}
[[ -n $QPSCOPE_BUILD ]] || unset QPSCOPE_BUILD
mkdir -p "$out"
rm -rf "${out:?}/tree"
mkdir "$out/tree"
if git -C "$root" rev-parse >/dev/null 2>&1; then git -C "$root" ls-files -z | (cd "$root" && tar --null -T - -cf -) | tar -C "$out/tree" -xf -
else (cd "$root" && tar --exclude=./build -cf - .) | tar -C "$out/tree" -xf -; fi
"$root/packaging/version/commit.sh" --record "$out/tree"
cp -r "$out/tree/packaging/deb/debian" "$out/tree/debian"
version=$(sed -n '1s/^qpscope (\(.*\)) .*/\1/p' "$out/tree/debian/changelog")
[[ $version == "$(sed -n 's/^project(qpscope VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")" ]] || { echo "build.sh: debian/changelog has version $version, CMakeLists.txt another one" >&2; exit 1; }
(cd "$out/tree" && dpkg-buildpackage -b -us -uc ${QPSCOPE_BUILD:+-d})
ls -l "$out"/*.deb
