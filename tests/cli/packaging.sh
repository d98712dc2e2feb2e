# What packages are made of, as far as it takes no minutes: the program has the version of the sources, lists of packages agree,
# maintainer scripts are sound, the RPM spec is read. That all sources have one version is for tests/rules/release.sh.
fail() { echo "FAILED: $*"; exit 1; }
cd "$SOURCE"
version=$(sed -n 's/^project(qpscope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[[ $("$QPSCOPE" --version) == "qpscope $version"?( \(*\)) ]] || fail "the program has another version"
for script in packaging/deb/debian/*.{postinst,postrm,config}; do sh -n "$script" || fail "$script"; done
bash -n packaging/deb/build.sh
if command -v rpmspec >/dev/null; then rpmspec -P packaging/rpm/qpscope.spec >/dev/null || fail "rpmspec"; fi
