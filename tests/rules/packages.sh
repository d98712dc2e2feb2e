#!/bin/bash
# What is needed stands in packaging/packages.sh; the packages ask for the same:  packages.sh RULE [ROOT]
#   agree      debian/control, the RPM spec and the Containerfile need what the list has, versions and alternatives included
#   versions   no package that is asked for is of one version of a library, unless it is an alternative
#   self       both find what they are there to find
# Prints every offence; exit code 1 if there is one.
set -uo pipefail
export LC_ALL=C
rule=${1:?rule}
self=$(readlink -f "${BASH_SOURCE[0]}")
root=$(readlink -f "${2:-$(dirname "$self")/../..}")
cd "$root" || exit 2
list=packaging/packages.sh control=packaging/deb/debian/control spec=packaging/rpm/qpscope.spec container=packaging/container/Containerfile
guide=docs/library.md

# What a package of Debian is called where RPM is.
rpm_names='
libboost-dev boost-devel
libcli11-dev cli11-devel
libfmt-dev fmt-devel
libibverbs-dev rdma-core-devel
libisal-dev isa-l-devel
libpcap-dev libpcap-devel
librdmacm-dev rdma-core-devel
libre2-dev re2-devel
libseccomp-dev libseccomp-devel
libsqlite3-dev sqlite-devel
libssl-dev openssl-devel
libxdp-dev libxdp-devel
libzstd-dev libzstd-devel
nlohmann-json3-dev json-devel
qt6-base-dev qt6-qtbase-devel
qt6-svg-dev qt6-qtsvg-devel
zlib1g-dev zlib-devel
'
# The libraries of the list: "libboost-dev (>= 1.81) | libboost1.81-dev", as control has them.
listed() {
    awk '$1 == "build" || $1 == "window" || $1 == "agent" {print $2}' "$list" | grep -- '-dev' | sort -u | sed 's/>=\([^|]*\)/ (>= \1)/g; s/|/ | /g'
}
# A field of control with what it continues on, an entry a line: entries FIELD [PACKAGE].
entries() {
    awk -v field="$1:" -v package="${2:-}" '
        /^#/ { next }
        /^Package:/ { now = $2 }
        /^[^ ]/ { on = ($1 == field && now == package); sub(/^[^ ]+/, "") }
        on { print }' "$control" | tr ',' '\n' | sed 's/^ *//; s/ *$//; /^$/d'
}
rule_agree() {
    local needed rpm least
    listed | while read -r needed; do
        entries Build-Depends | grep -qxF "$needed" || echo "$control: Build-Depends lacks $needed"
        rpm=$(awk -v name="${needed%% *}" '$1 == name {print $2}' <<<"$rpm_names")
        [[ -n $rpm ]] || { echo "$self: what is ${needed%% *} called where RPM is?"; continue; }
        least=$(sed -n 's/^[^ ]* (>= \([^)]*\)).*/ >= \1/p' <<<"$needed")
        grep -qE "^BuildRequires: +$rpm${least:-( .*)?}\$" "$spec" || echo "$spec: BuildRequires lacks $rpm$least"
    done
    entries Build-Depends | grep -- '-dev' | while read -r needed; do
        listed | grep -qxF "$needed" || echo "$list: lacks $needed, which $control needs"
    done
    entries Depends libqpscope-dev | grep -- '-dev' | while read -r needed; do
        listed | grep -qxF "$needed" || echo "$control: libqpscope-dev needs $needed, which $list has not"
        rpm=$(awk -v name="${needed%% *}" '$1 == name {print $2}' <<<"$rpm_names")
        grep -qE "^Requires: +$rpm( .*)?\$" "$spec" || echo "$spec: the package devel does not require $rpm"
        grep -qF -- "${needed%% *}" "$guide" || echo "$guide: does not name ${needed%% *}"
    done
    grep -q 'need_packages build' "$container" || echo "$container: does not install what $list has"
    ! grep -nE 'apt-get install.* [a-z0-9.+-]+-dev' "$container" | sed "s|^|$container:|" | grep .
}
# Words that are a shared library by its version (libfmt9, libssl3, zlib1g), or a -dev of one version without an alternative.
rule_versions() {
    local file
    for file in "$list" "$control" "$spec" "$container"; do
        sed 's/#.*//' "$file" | awk -v list="$list" -v file="$file" '
            file == list { if (NF < 2 || $1 !~ /^[a-z]+$/) next; $0 = $2 }
            { line = $0; gsub(/[^a-z0-9.+|-]+/, " ", line); gsub(/ *[|] */, "|", line); n = split(line, words, " ")
              for (i = 1; i <= n; ++i)
                  if (words[i] ~ /^(lib[a-z0-9.+-]*[a-z-][0-9.]*[0-9](t64)?|zlib1g)$/ || words[i] ~ /^[a-z]+[0-9]+[.][0-9]+-dev$/)
                      print file ":" FNR ": " words[i] " is of one version" }'
    done
    ! grep -nE '(debian|ubuntu):[a-z]' "$container" | sed "s|^|$container:|; s|\$|  -- one release alone|" | grep .
}
# A copy of these files in which one thing is changed must offend.
rule_self() {
    local what tree
    tree=$(mktemp -d)
    plant() {  # RULE FILE SED
        rm -rf "${tree:?}/packaging" "${tree:?}/docs"
        for what in "$list" "$control" "$spec" "$container" "$guide"; do mkdir -p "$tree/$(dirname "$what")" && cp "$what" "$tree/$what"; done
        sed -i "$3" "$tree/$2"
        ! cmp -s "$2" "$tree/$2" || echo "$self: '$3' changes nothing in $2"
        ! bash "$self" "$1" "$tree" >/dev/null || echo "$self: rule $1 does not see '$3' in $2"
    }
    plant agree "$list" 's/^build  libpcap-dev.*//'
    plant agree "$list" 's/^build  zlib1g-dev/&\nbuild  libnew-dev  a new library\n&/'
    plant agree "$control" 's/^  *libre2-dev,$//'
    plant agree "$control" 's/libboost-dev (>= 1.81) | //'
    plant agree "$control" 's/^               libfmt-dev,/&\n               liblzma-dev,/'
    plant agree "$spec" 's/boost-devel >= 1.81/boost-devel/'
    plant agree "$spec" 's/^Requires:       re2-devel//'
    plant agree "$spec" 's/^BuildRequires:  libxdp-devel//'
    plant agree "$container" 's/need_packages build agent/true/'
    plant agree "$container" 's/install -y/& libfmt-dev/'
    plant versions "$container" 's/install -y/& libfmt9/'
    plant versions "$container" 's/install -y/& zlib1g/'
    plant versions "$container" 's/debian:\${DEBIAN}/debian:trixie/'
    plant versions "$list" 's/libboost-dev>=1.81|//'
    plant versions "$control" 's/libcap2-bin/libssl3t64/'
    plant versions "$control" 's/libpcap-dev/libpcap0.8/'
    rm -rf "$tree"
}

case $rule in
    agree | versions | self) ;;
    *) echo "packages.sh: unknown rule $rule" >&2; exit 2 ;;
esac
offences=$("rule_$rule")
[[ -n $offences ]] || exit 0
printf '%s\n' "$offences"
exit 1
