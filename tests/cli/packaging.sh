# What packages are made of, as far as it takes no minutes: versions agree, the bill of materials is that of the list of packages,
# maintainer scripts are sound, the RPM spec is read.
fail() { echo "FAILED: $*"; exit 1; }
cd "$SOURCE"
version=$(sed -n 's/^project(qpscope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[[ $("$QPSCOPE" --version) == "qpscope $version"?( \(*\)) ]] || fail "the program has another version"
[[ $(awk '/^## [0-9]/ {print $2; exit}' CHANGELOG.md) == "$version" ]] || fail "CHANGELOG.md begins with another version"
sed -n '1s/^qpscope (\(.*\)) .*/\1/p' packaging/deb/debian/changelog | grep -qxF "$version" || fail "debian/changelog has another version"
sed -n 's/^Version: *//p' packaging/rpm/qpscope.spec | grep -qxF "$version" || fail "the RPM spec has another version"
bash packaging/sbom.sh | diff packaging/sbom.spdx.json - || fail "packaging/sbom.sh > packaging/sbom.spdx.json"
for script in packaging/deb/debian/*.{postinst,postrm,config}; do sh -n "$script" || fail "$script"; done
bash -n packaging/deb/build.sh
if command -v rpmspec >/dev/null; then rpmspec -P packaging/rpm/qpscope.spec >/dev/null || fail "rpmspec"; fi
