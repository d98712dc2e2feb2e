#include <algorithm>
#include <filesystem>
#include <fstream>

#include <agent/device.hpp>
#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace qps::agent {

namespace {

constexpr std::size_t kMostLogLines = 64;  // of an answer: a trace of the kernel has fewer
constexpr std::size_t kMostGids = 64;      // looked at; more only hosts of hundreds of addresses have

struct ErrnoName {
    int error;
    std::string_view name;
};
constexpr std::array kErrnoNames{ErrnoName{EPERM, "EPERM"},
                                 ErrnoName{ENOENT, "ENOENT"},
                                 ErrnoName{EINTR, "EINTR"},
                                 ErrnoName{EIO, "EIO"},
                                 ErrnoName{ENXIO, "ENXIO"},
                                 ErrnoName{EAGAIN, "EAGAIN"},
                                 ErrnoName{ENOMEM, "ENOMEM"},
                                 ErrnoName{EACCES, "EACCES"},
                                 ErrnoName{EFAULT, "EFAULT"},
                                 ErrnoName{EBUSY, "EBUSY"},
                                 ErrnoName{EEXIST, "EEXIST"},
                                 ErrnoName{ENODEV, "ENODEV"},
                                 ErrnoName{EINVAL, "EINVAL"},
                                 ErrnoName{ENOSPC, "ENOSPC"},
                                 ErrnoName{ERANGE, "ERANGE"},
                                 ErrnoName{ENOSYS, "ENOSYS"},
                                 ErrnoName{EPROTO, "EPROTO"},
                                 ErrnoName{EMSGSIZE, "EMSGSIZE"},
                                 ErrnoName{EOPNOTSUPP, "EOPNOTSUPP"},
                                 ErrnoName{EADDRINUSE, "EADDRINUSE"},
                                 ErrnoName{EADDRNOTAVAIL, "EADDRNOTAVAIL"},
                                 ErrnoName{ENETUNREACH, "ENETUNREACH"},
                                 ErrnoName{ENOBUFS, "ENOBUFS"},
                                 ErrnoName{EISCONN, "EISCONN"},
                                 ErrnoName{ENOTCONN, "ENOTCONN"},
                                 ErrnoName{ETIMEDOUT, "ETIMEDOUT"},
                                 ErrnoName{ECONNREFUSED, "ECONNREFUSED"},
                                 ErrnoName{EHOSTUNREACH, "EHOSTUNREACH"},
                                 ErrnoName{ECONNRESET, "ECONNRESET"}};

std::string first_line(const std::filesystem::path& file) {
    std::string line;
    std::ifstream stream(file);
    std::getline(stream, line);
    return line;
}

std::string_view name_of(std::uint32_t gid_type) {
    switch (gid_type) {
        case IBV_GID_TYPE_ROCE_V1: return "RoCEv1";
        case IBV_GID_TYPE_ROCE_V2: return "RoCEv2";
        default: return "IB";
    }
}

std::vector<ibv_gid_entry> gids_of(ibv_context* context, std::uint8_t port) {
    std::array<ibv_gid_entry, kMostGids> room{};
    const ssize_t count = ibv_query_gid_table(context, room.data(), room.size(), 0);
    std::vector<ibv_gid_entry> all;
    for (ssize_t i = 0; i < count; ++i)
        if (room[static_cast<std::size_t>(i)].port_num == port) all.push_back(room[static_cast<std::size_t>(i)]);
    return all;
}

// Addresses of different kinds do not reach each other.
enum class Reach : std::uint8_t { ipv4, link, wide };
Reach reach_of(const ibv_gid& gid) {
    if (gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80) return Reach::link;
    constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::equal(kMapped.begin(), kMapped.end(), gid.raw) ? Reach::ipv4 : Reach::wide;
}

std::uint64_t features_of(const ibv_device_attr_ex& attr) {
    const ibv_device_attr& plain = attr.orig_attr;
    std::uint64_t features = bit(Feature::cm);
    const auto add = [&](bool there, Feature feature) { features |= there ? bit(feature) : 0; };
    add(plain.atomic_cap != IBV_ATOMIC_NONE, Feature::atomic);
    add((plain.device_cap_flags & IBV_DEVICE_MEM_WINDOW) != 0 || plain.max_mw > 0, Feature::mw_1);
    add((plain.device_cap_flags & (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)) != 0, Feature::mw_2);
    add(plain.max_srq > 0, Feature::srq);
    add(plain.max_mcast_grp > 0, Feature::multicast);
    add((plain.device_cap_flags & IBV_DEVICE_XRC) != 0, Feature::xrc);
    // As in the kernel's uapi/rdma/ib_user_verbs.h; older headers of libibverbs lack the names.
    add((attr.device_cap_flags_ex >> 38 & 3) != 0, Feature::flush);
    add((attr.device_cap_flags_ex >> 40 & 1) != 0, Feature::atomic_write);
    return features;
}

std::uint64_t number_in(const std::filesystem::path& file, bool& there) {
    const auto number = transport::conformance::agent::text_of::number(first_line(file));
    there = number.has_value();
    return number.value_or(0);
}

}  // namespace

std::string name_of_errno(int error) {
    const auto* found = std::ranges::find(kErrnoNames, error, &ErrnoName::error);
    return found == kErrnoNames.end() ? "errno-" + std::to_string(error) : std::string(found->name);
}

std::shared_ptr<Pages> Pages::make(std::size_t size) {
    size = std::max<std::size_t>(size, 1);
    void* const begin = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return begin == MAP_FAILED ? nullptr : std::make_shared<Pages>(static_cast<std::byte*>(begin), size);
}
Membership::~Membership() {
    if (socket_ >= 0) close(socket_);
}
Pages::~Pages() { munmap(begin_, size_); }

std::optional<ibv_gid> gid_of(std::string_view text) {
    const std::string word(text);
    ibv_gid gid{};
    if (inet_pton(AF_INET6, word.c_str(), gid.raw) == 1) return gid;
    gid = {};
    if (inet_pton(AF_INET, word.c_str(), gid.raw + 12) != 1) return std::nullopt;
    gid.raw[10] = gid.raw[11] = 0xff;
    return gid;
}

std::string text_of_gid(const ibv_gid& gid) {
    std::array<char, INET6_ADDRSTRLEN> room{};
    const bool mapped = reach_of(gid) == Reach::ipv4;
    const void* const bytes = mapped ? gid.raw + 12 : gid.raw;
    const char* const text = inet_ntop(mapped ? AF_INET : AF_INET6, bytes, room.data(), room.size());
    return text == nullptr ? "?" : (mapped ? "::ffff:" : "") + std::string(text);
}

std::unique_ptr<Device> Device::open(const DeviceChoice& choice, std::string& why) {
    std::unique_ptr<Device> device(new Device(choice));
    int count = 0;
    device->list_ = rdma_get_devices(&count);
    std::string names;
    for (int i = 0; device->list_ != nullptr && i < count; ++i) {
        const std::string name = ibv_get_device_name(device->list_[i]->device);
        names += (names.empty() ? "" : ", ") + name;
        if (device->context_ == nullptr && (choice.device.empty() || choice.device == name))
            device->context_ = device->list_[i];
    }
    if (device->context_ == nullptr) {
        why = names.empty() ? "this host has no RDMA device"
                            : "no such device '" + choice.device + "': this host has " + names;
        return nullptr;
    }
    ibv_port_attr attr{};
    if (const int error = ibv_query_port(device->context_, choice.port, &attr); error != 0) {
        why = "port " + std::to_string(choice.port) + ": " + std::strerror(error);
        return nullptr;
    }
    fcntl(device->context_->async_fd, F_SETFL, O_NONBLOCK);
    device->log_ = ::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    device->begin_log();
    return device;
}

Device::~Device() {
    if (list_ != nullptr) rdma_free_devices(list_);
    if (log_ >= 0) close(log_);
}

std::string Device::sysfs() const {
    return std::string("/sys/class/infiniband/") + ibv_get_device_name(context_->device);
}

std::uint8_t Device::gid_index_for(const ibv_gid& destination) const {
    if (choice_.gid_index) return *choice_.gid_index;
    for (const ibv_gid_entry& each : gids_of(context_, choice_.port))
        if (each.gid_type == IBV_GID_TYPE_ROCE_V2 && reach_of(each.gid) == reach_of(destination))
            return static_cast<std::uint8_t>(each.gid_index);
    return 0;
}

std::string Device::netdev() const {
    const std::vector<ibv_gid_entry> gids = gids_of(context_, choice_.port);
    const std::string folder = sysfs() + "/ports/" + std::to_string(choice_.port) + "/gid_attrs/ndevs/";
    return gids.empty() ? std::string{} : first_line(folder + std::to_string(gids.front().gid_index));
}

// RoCEv2 packets to a group are IP's to let in.
int Device::join(const ibv_gid& group, int& socket) const {
    const bool narrow = reach_of(group) == Reach::ipv4;
    group_req request{};
    request.gr_interface = if_nametoindex(netdev().c_str());
    if (narrow) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        std::memcpy(&address.sin_addr, group.raw + 12, 4);
        std::memcpy(&request.gr_group, &address, sizeof address);
    } else {
        sockaddr_in6 address{};
        address.sin6_family = AF_INET6;
        std::memcpy(&address.sin6_addr, group.raw, 16);
        std::memcpy(&request.gr_group, &address, sizeof address);
    }
    socket = ::socket(narrow ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return errno;
    return setsockopt(socket, narrow ? IPPROTO_IP : IPPROTO_IPV6, MCAST_JOIN_GROUP, &request, sizeof request) == 0
               ? 0
               : errno;
}

Answer Device::hello() const {
    ibv_device_attr_ex attr{};
    ibv_port_attr port{};
    if (const int error = ibv_query_device_ex(context_, nullptr, &attr); error != 0)
        return refused(error, "ibv_query_device_ex");
    if (const int error = ibv_query_port(context_, choice_.port, &port); error != 0)
        return refused(error, "ibv_query_port");
    const ibv_device_attr& plain = attr.orig_attr;
    Answer answer;
    Fields& fields = answer.fields;
    fields.add(Key::protocol, kProtocolVersion).add(Key::agent, std::string_view("qpscope-agent"));
    utsname host{};
    if (uname(&host) == 0) fields.add(Key::kernel, std::string_view(host.release));
    fields.add(Key::device, std::string_view(ibv_get_device_name(context_->device)));
    std::error_code ignored;
    const auto driver = std::filesystem::read_symlink(sysfs() + "/device/driver", ignored).filename().string();
    if (!driver.empty()) fields.add(Key::driver, std::string_view(driver));
    const std::string_view firmware(plain.fw_ver, strnlen(plain.fw_ver, sizeof plain.fw_ver));
    if (!firmware.empty()) fields.add(Key::firmware, firmware);
    const std::string netdev = this->netdev();
    if (!netdev.empty()) {
        fields.add(Key::netdev, std::string_view(netdev));
        fields.add(Key::mac, std::string_view(first_line("/sys/class/net/" + netdev + "/address")));
    }
    fields.add(Key::port, std::uint64_t{choice_.port}).add(Key::guid, std::uint64_t{be64toh(plain.node_guid)});
    fields.add(Key::port_state, std::string_view(ibv_port_state_str(port.state)));
    fields.add(Key::mtu, static_cast<std::uint64_t>(port.active_mtu - IBV_MTU_256));
    for (const ibv_gid_entry& each : gids_of(context_, choice_.port))
        fields.add(Key::gid, std::to_string(each.gid_index) + "/" + std::string(name_of(each.gid_type)) + "/" +
                                 text_of_gid(each.gid));
    for (int i = 0; i < port.pkey_tbl_len; ++i) {
        __be16 pkey = 0;
        if (ibv_query_pkey(context_, choice_.port, i, &pkey) == 0 && pkey != 0)
            fields.add(Key::pkey, std::uint64_t{be16toh(pkey)});
    }
    fields.add(Key::features, features_of(attr) | bit(Feature::counters) | (log_ >= 0 ? bit(Feature::kernel_log) : 0));
    fields.add(Key::max_rd_atomic, static_cast<std::uint64_t>(plain.max_qp_rd_atom));
    fields.add(Key::max_init_rd_atomic, static_cast<std::uint64_t>(plain.max_qp_init_rd_atom));
    fields.add(Key::max_work, static_cast<std::uint64_t>(plain.max_qp_wr))
        .add(Key::max_sge, static_cast<std::uint64_t>(plain.max_sge));
    return answer;
}

Answer Device::counters() const {
    std::map<std::string, std::uint64_t> all;
    const std::string port = sysfs() + "/ports/" + std::to_string(choice_.port);
    for (const std::string& folder : {sysfs() + "/hw_counters", port + "/counters", port + "/hw_counters"}) {
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
            bool there = false;
            const std::uint64_t value = number_in(entry.path(), there);
            const std::string name = entry.path().filename().string();
            if (there && name != "lifespan") all[name] = value;
        }
    }
    ibv_port_attr attr{};
    if (ibv_query_port(context_, choice_.port, &attr) == 0) {
        all.emplace("bad_pkey_cntr", attr.bad_pkey_cntr);
        all.emplace("qkey_viol_cntr", attr.qkey_viol_cntr);
    }
    Answer answer;
    for (const auto& [name, value] : all) answer.fields.add(Key::counter, name + ":" + std::to_string(value));
    return answer;
}

void Device::begin_log() {
    if (log_ >= 0) lseek(log_, 0, SEEK_END);
}

// A record is PRIORITY,SEQUENCE,TIME,...;TEXT; warnings are 4 (linux Documentation/ABI/testing/dev-kmsg).
Answer Device::kernel_log() {
    if (log_ < 0) return refused(EACCES, "/dev/kmsg");
    Answer answer;
    std::array<char, 8192> room{};
    std::uint64_t more = 0;
    for (;;) {
        const ssize_t got = ::read(log_, room.data(), room.size());
        if (got < 0 && errno == EPIPE) continue;  // records were overwritten
        if (got <= 0) break;
        const std::string_view record(room.data(), static_cast<std::size_t>(got));
        const auto priority = transport::conformance::agent::text_of::number(record.substr(0, record.find(',')));
        if (!priority || (*priority & 7) > 4) continue;
        std::string_view text = record.substr(std::min(record.find(';'), record.size() - 1) + 1);
        text = text.substr(0, text.find('\n')).substr(0, 200);
        if (answer.fields.all().size() < kMostLogLines) answer.fields.add(Key::line, text);
        else ++more;
    }
    if (more > 0) answer.fields.add(Key::more, more);
    return answer;
}

}  // namespace qps::agent
