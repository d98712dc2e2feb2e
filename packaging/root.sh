# An empty Debian to build or to test in, made by debootstrap from where this machine has its packages. Sourced by
# packaging/static/build, tests/packages/run and tests/static/window.sh.

# make_base FOLDER RELEASE: FOLDER/base.tar, made once; every system begins as a copy of it. Exits with 77 where it cannot be made.
make_base() {
    local folder=$1 release=$2 mirror setting
    [[ $(id -u) == 0 ]] || { echo "SKIPPED: an empty Debian needs root"; exit 77; }
    command -v debootstrap >/dev/null || { echo "SKIPPED: there is no debootstrap (Debian package debootstrap)"; exit 77; }
    [[ ! -e $folder/base.tar ]] || return 0
    mkdir -p "$folder"
    # Of Debian itself: others have a component of that name, too, and security has another label. Its suite changes with the years.
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Component: main' 'Label: Debian' 2>/dev/null | head -n 1)
    [[ -n $mirror ]] || mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Component: main' | head -n 1)
    rm -rf --one-file-system "${folder:?}/base"
    debootstrap --variant=minbase --include=ca-certificates "$release" "$folder/base" "$mirror" >"$folder/debootstrap.log" 2>&1 ||
        { tail -n 5 "$folder/debootstrap.log"; echo "SKIPPED: no empty Debian of release $release can be made here"; exit 77; }
    # Its packages come from where those of this machine do; of another release, from the mirror that it was made of. Settings of apt
    # that are a package's are left to that package.
    for setting in /etc/apt/apt.conf.d/*; do dpkg-query -S "$setting" >/dev/null 2>&1 || cp -a "$setting" "$folder/base/etc/apt/apt.conf.d/"; done
    if [[ $release == "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" ]]; then
        cp -a /etc/apt/sources.list.d "$folder/base/etc/apt/"
        rm -f "$folder/base/etc/apt/sources.list"
        [[ ! -e /etc/apt/sources.list ]] || cp -L /etc/apt/sources.list "$folder/base/etc/apt/"
        cp -a /usr/share/keyrings/. "$folder/base/usr/share/keyrings/"
    fi
    tar -C "$folder/base" -cf "$folder/base.part" .
    mv "$folder/base.part" "$folder/base.tar"
    rm -rf --one-file-system "${folder:?}/base"
}

# inside_root ROOT COMMAND [FOLDER...]: runs a command of bash in a root, where FOLDERs of this machine are seen under their own
# names. All mounts are of that command alone and gone with it: who removes the root afterwards removes nothing else.
inside_root() {
    # shellcheck disable=SC2016  # expanded in there
    unshare --mount --propagation private bash -euc '
        root=$1 command=$2
        shift 2
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        for folder in "$@"; do
            mkdir -p "$root$folder"
            mount --bind "$folder" "$root$folder"
        done
        exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
            bash -euo pipefail -c "$command"' inside_root "$@" </dev/null
}
