# What the guests of the lab boot from: per kernel the uncompressed kernel (its own decompression takes seconds under
# emulation) and one initramfs with the modules and the programs that the cases need, and the libraries of those. Sourced by lab.
#
# Everything comes as Debian packages from the mirror that this machine's apt is set up with, checked by apt as always, through
# an apt of our own beside it: nothing of the machine changes, and no root is needed.

guest_suite=bookworm  # the release of the guests, whatever this machine runs
guest_packages='dash busybox-static iproute2 ethtool iputils-ping rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest'
guest_programs='bin/dash bin/ip bin/ss bin/ping sbin/tc sbin/ethtool usr/bin/rdma usr/bin/ibv_* usr/bin/ib_*
    usr/bin/cmtime usr/bin/mckey usr/bin/rcopy usr/bin/riostream usr/bin/rping usr/bin/rstream usr/bin/ucmatose usr/bin/udaddy
    usr/bin/udpong usr/bin/rdma_*'
guest_modules='virtio_pci virtio_net 9pnet_virtio 9p rdma_rxe rdma_ucm ib_umad crc32_generic crc32_pclmul sch_netem sch_tbf 8021q'
# kernel  its package: what this depends on is the newest of the series
guest_kernels="
6.1   linux-image-amd64/$guest_suite
6.12  linux-image-amd64/$guest_suite-backports
"

# The first mirror of apt's that is of this machine's own release; Debian's releases are all on the same ones.
mirror() {
    local release
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(SITE)' 'Created-By: Packages' 2>/dev/null |
        awk -v release="$release" '$1 == release && $2 == "main" {print $3; exit}'
}

# apt-get and apt-cache as if of a machine without packages, with everything they keep in $work.
guest_apt() {
    local tool=$1 keep=$work/apt
    shift
    "$tool" -q -o Dir::Etc::sourcelist="$keep/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null \
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::lists="$keep/lists" -o Dir::State::status="$keep/status" \
        -o Dir::State::extended_states="$keep/extended" -o Dir::Cache="$keep" -o Dir::Cache::archives="$keep/archives" -o APT::Sandbox::User= \
        -o APT::Architecture=amd64 -o APT::Install-Recommends=0 -o Debug::NoLocking=1 -o Acquire::Retries=3 "$@" </dev/null
}

fetch_packages() {
    local from=${QPSCOPE_LAB_MIRROR:-$(mirror)} key=/usr/share/keyrings/debian-archive-keyring.gpg signed='' suite
    [[ -n $from ]] || die "apt of this machine knows no Debian mirror; set QPSCOPE_LAB_MIRROR to the address of one"
    [[ ! -e $key ]] || signed="[signed-by=$key] "
    mkdir -p "$work"/apt/{lists,archives}/partial
    : >"$work/apt/status"
    for suite in $guest_suite $guest_suite-backports; do echo "deb $signed$from $suite main"; done >"$work/apt/sources.list"
    guest_apt apt-get update
    # shellcheck disable=SC2086  # words
    guest_apt apt-get install -y --download-only $guest_packages
    local kernel meta package
    while read -r kernel meta; do
        [[ -n $kernel ]] || continue
        package=$(guest_apt apt-cache show "$meta" | sed -n 's/^Depends: \([^ ]*\).*/\1/p' | head -n 1)
        [[ $package == linux-image-"$kernel".* ]] || die "the mirror has ${package:-nothing} where kernel $kernel was expected"
        mkdir -p "$work/kernel-$kernel"
        (cd "$work/kernel-$kernel" && guest_apt apt-get download "$package" && dpkg-deb -x ./*.deb . && rm ./*.deb)
    done <<<"$guest_kernels"
}

# The kernel inside a bzImage: the header says where its compressed form lies; the last four bytes of that are its length.
unpack_kernel() {  # BZIMAGE OUT
    local sectors start length
    sectors=$(od -An -tu1 -j497 -N1 "$1")
    start=$(od -An -tu4 -j584 -N4 "$1")
    length=$(od -An -tu4 -j588 -N4 "$1")
    tail -c +$(((sectors + 1) * 512 + start + 1)) "$1" | head -c $((length - 4)) >"$work/payload"
    case $(od -An -tx1 -N4 "$work/payload") in
        ' fd 37 7a 58') xz -dc "$work/payload" >"$2" ;;
        ' 28 b5 2f fd') zstd -qdc "$work/payload" >"$2" ;;
        *) die "$1 is compressed in a way that is not known here" ;;
    esac
}

copy_programs() {  # FROM TO
    local from=$1 to=$2 lib=lib/x86_64-linux-gnu program
    local paths=$from/$lib:$from/usr/$lib programs=()
    mkdir -p "$to"/{bin,lib64,"$lib",etc,proc,sys,dev,tmp,run,usr/lib}
    ln -s "../../$lib" "$to/usr/$lib"
    ln -s bin "$to/sbin"
    # shellcheck disable=SC2086  # words and patterns
    programs=($(cd "$from" && ls -d $guest_programs "usr/$lib/libibverbs/"librxe-*.so))
    mkdir -p "$to/etc/libibverbs.d" "$to/$lib/libibverbs"
    cp "$from/etc/libibverbs.d/rxe.driver" "$to/etc/libibverbs.d/"
    cp -r "$from/usr/$lib/tc" "$to/$lib/"  # netem's distributions
    cp -L "$from/bin/busybox" "$to/bin/"
    cp -L "$from/$lib/libgcc_s.so.1" "$to/$lib/"  # opened at run time by whoever ends a thread
    for program in "${programs[@]}"; do
        case $program in *.so) cp -L "$from/$program" "$to/$lib/libibverbs/" ;; *) cp -L "$from/$program" "$to/bin/" ;; esac
        head -c 4 "$from/$program" | grep -q ELF || continue
        "$from/$lib/ld-linux-x86-64.so.2" --library-path "$paths" --list "$from/$program"
    done | awk '/=> \//{print $3}' | sort -u | xargs cp -L -t "$to/$lib"
    cp -L "$from/$lib/ld-linux-x86-64.so.2" "$to/lib64/"
    ln -s dash "$to/bin/sh"
    ln -s busybox "$to/bin/modprobe"
    install -m 755 "$lab_home/guest/init" "$to/init"
}

copy_modules() {  # FROM TO
    local from=$1 to=$2 version module file
    version=$(ls "$from/lib/modules")
    depmod -b "$from" "$version"
    for module in $guest_modules; do modprobe -d "$from" -S "$version" --show-depends "$module"; done |
        awk '/^insmod/ {print $2}' | sort -u | while read -r file; do
            module=$to/${file#"$from/"}
            mkdir -p "${module%/*}"
            case $file in *.xz) xz -dc "$file" >"${module%.xz}" ;; *) cp "$file" "$module" ;; esac
        done
    cp "$from/lib/modules/$version"/modules.{builtin,order} "$to/lib/modules/$version/"
    depmod -b "$to" "$version"
}

pack() { (cd "$1" && find . | sort | cpio --quiet -o -H newc -R 0:0); }

# Into a folder of its own that takes the image's name only when it is whole.
build_image() {  # FOLDER
    local work=$1.new package kernel meta
    rm -rf "$work"
    mkdir -p "$work"
    fetch_packages || return 1
    for package in "$work"/apt/archives/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work" --one-top-level=packages --exclude='./usr/share'; done
    copy_programs "$work/packages" "$work/programs"
    while read -r kernel meta; do
        [[ -n $kernel ]] || continue
        unpack_kernel "$work/kernel-$kernel"/boot/vmlinuz-* "$work/vmlinux-$kernel"
        copy_modules "$work/kernel-$kernel" "$work/modules-$kernel"
        { pack "$work/programs" && pack "$work/modules-$kernel"; } >"$work/initrd-$kernel"
    done <<<"$guest_kernels"
    rm -rf "$work"/{apt,packages,programs,payload} "$work"/{kernel,modules}-*
    rm -rf "$1"
    mv "$work" "$1"
}
