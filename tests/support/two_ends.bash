# A wire between two network namespaces that a test makes: `here`, 10.9.0.1, and `there`, 10.9.0.2. Sourced by scripts of tests.

# need_two_ends "AF_XDP needs": ends the test as skipped, with a message, where that cannot be.
need_two_ends() {
    [[ $(id -u) == 0 ]] || { echo "SKIPPED: $1 root"; exit 77; }
    command -v ip >/dev/null || { echo "SKIPPED: there is no ip (Debian package iproute2)"; exit 77; }
    command -v python3 >/dev/null || { echo "SKIPPED: there is no python3"; exit 77; }
    command -v nsenter >/dev/null || { echo "SKIPPED: there is no nsenter (Debian package util-linux)"; exit 77; }
    unshare --net true 2>/dev/null || { echo "SKIPPED: no network namespace can be made here"; exit 77; }
}

# make_two_ends SECONDS: within a namespace made by `unshare --net`. The other one lasts at most so long, and ends with the script.
make_two_ends() {
    unshare --net sleep "$1" &
    other=$!
    trap 'kill $other 2>/dev/null || true' EXIT
    for _ in {1..50}; do
        [[ $(readlink "/proc/$other/ns/net") == "$(readlink /proc/self/ns/net)" ]] || break
        sleep 0.1
    done
    ip link add here type veth peer name there
    ip link set there netns "$other"
    ip link set lo up
    ip address add 10.9.0.1/24 dev here
    ip link set here up
    there ip address add 10.9.0.2/24 dev there
    there ip link set there up
}
there() { nsenter --net="/proc/$other/ns/net" "$@"; }
