# The one list of Debian packages, by purpose, and what installs those that are missing. Sourced by run.sh, test.sh, bench.sh.

# purpose  package  what it is for. Of alternatives, NAME|NAME, the first that this release has is taken; NAME>=VERSION must be as new.
qpscope_packages='
build  g++                 the compiler
build  cmake               the build
build  ninja-build         the build
build  pkg-config          finds libraries for the build
build  ccache              keeps compiled files, so that a second build is quick
build  libboost-dev>=1.81|libboost1.81-dev  containers and checksums; 1.81 is the first with unordered_flat_map
build  libfmt-dev          text formatting
build  libcli11-dev        command line arguments
build  nlohmann-json3-dev  JSON read: earlier reports; the tests read what we write
build  libisal-dev         CRC-32 at the speed of memory
build  libpcap-dev         live capture and BPF filters
build  libre2-dev          regular expressions in filters
build  libssl-dev          HMAC-SHA256 of the secret that an agent and its clients share (libcrypto)
build  libseccomp-dev      programs that read captures give up the system calls that they do not need
build  libsqlite3-dev      tables of an export, for readers of databases
build  libxdp-dev          AF_XDP, a way of frames past the network stack (with libbpf)
build  zlib1g-dev          captures compressed with gzip
build  libzstd-dev         captures compressed with zstd
window  qt6-base-dev       the window
window  qt6-svg-dev        pictures saved as SVG
bundle  zstd               packs the folder of the window (packaging/static/window)
bundle  fonts-dejavu-core  its fonts
bundle  xkb-data           its keyboard tables
bundle  libx11-data        its tables of dead keys
bundle  libxcursor-dev     themes of the pointer, which Qt looks for
test   catch2              the test framework
test   zstd                makes compressed captures for the tests, and the archive of the corpus of the fuzzers
test   fonts-dejavu-core   the one font that the tests of the window use
test   xvfb                a screen for the tests of the window that need one
test   xdotool             keys and clicks for them
test   xauth               that screen is for those who made it
test   devscripts          hardening-check, a second opinion on how programs are hardened; where it is missing that test is skipped
test   git                 a repository for the test of releases
test   iproute2            network namespaces for the tests of live capture
clang  clang-19            the second compiler
asan   clang-19            the compiler whose sanitizers take constant tables of functions
asan   libclang-rt-19-dev  the sanitizers
lint   clang-tidy-19       the linter
lint   clang-format-19     how lines stand
fuzz   clang-19            the compiler that has libFuzzer
fuzz   libclang-rt-19-dev  libFuzzer and the sanitizers
afl    afl++               another fuzzer, with other eyes
coverage  llvm-19          counts what fuzzers reach
test   python3-jsonschema  validates our JSON
test   libxml2-utils       validates our JUnit XML
test   groff               reads the manual pages
test   mandoc              reads them too
test   zsh                 completes command lines
test   fish                completes command lines
test   chromium            prints reports, and shows them; where it is missing that test is skipped
test   poppler-utils       reads what was printed
test   tshark              a second opinion on every field; where it is missing that test is skipped
agent  libibverbs-dev      the agent beside a device under test; without these two it is not built, and nothing else misses them
agent  librdmacm-dev       connections of that device
interop  qemu-system-x86  the machines of the interoperability lab
interop  cpio             packs what they boot from
interop  kmod             finds the modules they need
interop  xz-utils         unpacks kernels and modules
interop  zstd             unpacks kernels
interop  iproute2         the namespace and bridge of the lab
screenshots  xvfb         a screen for the pictures of the window
screenshots  xdotool      keys for them
screenshots  imagemagick  takes them and makes them small
cluster  slurm-wlm        the scheduler that captures are shared out by
cluster  munge            how its daemons know each other
cluster  iproute2         the namespace that it is in
packages  debootstrap     an empty Debian to build packages in
static  debootstrap       an empty Debian to build the static files in
static  qemu-user-static  runs that of the other architecture
static  iproute2          the veth between two of them
bench  tshark              the rival that we measure ourselves against
bench  zstd                makes a compressed capture to measure
'

# NAME, or NAME>=VERSION if VERSION, the second argument, is as new.
is_enough() { [[ $1 != *'>='* ]] || dpkg --compare-versions "$2" ge "${1#*>=}"; }
# The first of the alternatives that apt can install, or the first of them, so that apt says what is wrong.
choose_package() {
    local each candidate
    for each in ${1//|/ }; do
        [[ $1 == *'|'* ]] || break  # nothing to choose: apt is not asked, which takes a second
        candidate=$(LC_ALL=C apt-cache policy "${each%%>=*}" 2>/dev/null | sed -n 's/^ *Candidate: //p')
        [[ -n $candidate && $candidate != '(none)' ]] && is_enough "$each" "$candidate" || continue
        echo "${each%%>=*}"
        return
    done
    each=${1%%|*}
    echo "${each%%>=*}"
}

# Installs what is missing for the purposes given; says what and why before. Returns 1 with a sentence where it cannot.
need_packages() {
    local purpose package why each version log as_root=(env DEBIAN_FRONTEND=noninteractive)
    local purposes=" $* " lacking='' missing=''
    local -A installed=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "qpscope: no Debian here, so nothing is installed for you; packaging/packages.sh lists what is needed" >&2
        return 0
    fi
    # shellcheck disable=SC2046  # the words are package names
    while read -r _ each version; do installed[$each]=$version; done < <(dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' \
        $(awk 'NF {print $2}' <<<"$qpscope_packages" | tr '|' '\n' | sed 's/>=.*//') 2>/dev/null | grep '^installed ' || true)
    while read -r purpose package why; do
        [[ -n $purpose && $purposes == *" $purpose "* ]] || continue
        for each in ${package//|/ }; do
            version=${installed[${each%%>=*}]:-}
            [[ -n $version ]] && is_enough "$each" "$version" && continue 2
        done
        lacking+="$package $why"$'\n'
    done <<<"$qpscope_packages"
    [[ -n $lacking ]] || return 0

    if [[ $(id -u) != 0 ]]; then
        if command -v sudo >/dev/null; then as_root=(sudo "${as_root[@]}"); else as_root=(); fi
    fi
    echo "qpscope: installing what is missing:" >&2
    log=$(mktemp)
    # Only then is it known what there is to choose from.
    [[ ${#as_root[@]} == 0 ]] || "${as_root[@]}" apt-get update -q -o Acquire::Retries=3 </dev/null >"$log" 2>&1 || true
    while read -r package why; do
        [[ -n $package ]] || continue
        package=$(choose_package "$package")
        [[ " $missing " != *" $package "* ]] || continue
        printf '  %-20s %s\n' "$package" "$why" >&2
        missing+=" $package"
    done <<<"$lacking"
    if [[ ${#as_root[@]} == 0 ]]; then
        rm -f "$log"
        echo "qpscope: installing them needs root, and there is no sudo here; as root, run: apt-get install$missing" >&2
        return 1
    fi
    # shellcheck disable=SC2086  # the words of $missing are packages
    if ! "${as_root[@]}" apt-get install -q -y --no-install-recommends --no-remove \
             -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 $missing </dev/null >>"$log" 2>&1; then
        tail -n 30 "$log" >&2
        rm -f "$log"
        echo "qpscope: the packages could not be installed; apt says why above" >&2
        return 1
    fi
    rm -f "$log"
}
