#include <gui/recorder/privilege.hpp>

#include <array>
#include <climits>
#include <cstdint>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace qps::recorder {

namespace {

// The sets of this thread, in two halves of 32 capabilities (capabilities(7), _LINUX_CAPABILITY_VERSION_3).
using Sets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

bool read_sets(Sets& sets) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    return syscall(SYS_capget, &header, sets.data()) == 0;
}

bool clear_sets() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const Sets none{};
    return syscall(SYS_capset, &header, none.data()) == 0;
}

}  // namespace

bool may_capture() {
    static_assert(CAP_NET_RAW < 32);  // in the first half
    Sets sets{};
    return read_sets(sets) && (sets[0].effective & (std::uint32_t{1} << CAP_NET_RAW)) != 0;
}

bool drop_privileges() {
    const gid_t group = getgid();
    const uid_t user = getuid();
    if (setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) return false;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return false;
    Sets left{};
    if (!clear_sets() || !read_sets(left)) return false;
    for (const auto& half : left)
        if ((half.effective | half.permitted | half.inheritable) != 0) return false;
    return true;
}

std::string remedy() {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    const std::string self =
        length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "qpscope-capture";
    return "sudo setcap cap_net_raw+ep '" + self + "'";
}

}  // namespace qps::recorder
