// The device under test as its host sees it: opened through librdmacm, so that rdma_cm and verbs speak of one; what it
// is, its addresses, its counters, what the kernel complains of.
//
// Reads what the kernel writes; nothing of a client comes here but which address it wants to reach.
#pragma once

#include <agent/objects.hpp>

namespace qps::agent {

struct DeviceChoice {
    std::string device{};  // empty: the first
    std::uint8_t port = 1;
    std::optional<std::uint8_t> gid_index{};
};

class Device {
public:
    // A sentence where there is none.
    [[nodiscard]] static std::unique_ptr<Device> open(const DeviceChoice& choice, std::string& why);
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device();

    [[nodiscard]] ibv_context* context() const { return context_; }
    [[nodiscard]] std::uint8_t port() const { return choice_.port; }
    // Of the source address for that destination: RoCEv2 and of the same kind, unless the user chose one.
    [[nodiscard]] std::uint8_t gid_index_for(const ibv_gid& destination) const;

    // The network interface below, or nothing.
    [[nodiscard]] std::string netdev() const;
    // This host becomes a member of the group on that interface; 0, or an errno.
    [[nodiscard]] int join(const ibv_gid& group, int& socket) const;

    [[nodiscard]] Answer hello() const;
    [[nodiscard]] Answer counters() const;
    [[nodiscard]] Answer kernel_log();
    // Forgets what the kernel complained of before.
    void begin_log();

private:
    explicit Device(const DeviceChoice& choice) : choice_(choice) {}
    [[nodiscard]] std::string sysfs() const;

    DeviceChoice choice_;
    ibv_context** list_ = nullptr;  // of librdmacm
    ibv_context* context_ = nullptr;
    int log_ = -1;
};

// IPv4 (mapped), IPv6, or a GID written so.
[[nodiscard]] std::optional<ibv_gid> gid_of(std::string_view text);
[[nodiscard]] std::string text_of_gid(const ibv_gid& gid);

}  // namespace qps::agent
