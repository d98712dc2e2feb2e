// Two endpoints on a simulated link under virtual time with exchanges between them, all of it out of one seed:
// addresses, speeds, MTUs, depths, faults.
#pragma once

#include <tests/support/dialogue.hpp>
#include <transport-replay/live/device/sim_device.hpp>

namespace qps::tests {

struct WorldWish {
    transport::LinkFaults worst{};  // each way up to that
    bool any_type = true;           // UC and UD, too; else RC alone
    bool huge = true;               // now and then messages of up to kHuge
    bool plenty = false;            // receives for everything: nobody waits for one
    std::vector<transport::ExactFault> exact{};
};

class World {
public:
    World(std::uint64_t seed, const WorldWish& wish);

    // To the end: all connected, done, parted, forgotten. What went wrong, or nothing.
    [[nodiscard]] std::string run();
    // What went over the wire, as end a saw it, or b, or the middle.
    [[nodiscard]] std::vector<transport::CapturedFrame> take_recording() { return wire_->link.take_recording(); }
    [[nodiscard]] dissect::Duration lasted() const;
    [[nodiscard]] std::uint64_t turns() const { return turns_; }
    [[nodiscard]] transport::live::Endpoint& endpoint(std::size_t side) { return endpoints_[side]; }
    [[nodiscard]] const std::vector<std::unique_ptr<Dialogue>>& exchanges() const { return dialogues_; }

private:
    [[nodiscard]] transport::live::EndpointSettings settings_of(std::size_t side);
    void open_host(std::size_t side);
    void plan(const WorldWish& wish);
    void turn();
    [[nodiscard]] std::optional<dissect::Instant> due();
    [[nodiscard]] std::string stuck(const char* why);
    [[nodiscard]] std::string leaks();

    std::uint64_t seed_;
    transport::Draws draws_;
    dissect::Instant start_{1'700'000'000'000'000'000};
    dissect::Instant now_ = start_;
    transport::AddressSpace space_{};
    bool ipv4_ = true;
    std::size_t interface_mtu_ = 1500;
    transport::PathMtu mtu_{};
    std::optional<std::uint16_t> vlan_{};
    std::uint8_t dscp_ = 0;
    bool batched_ = false;  // what is posted goes out in the same turn as answers
    ExchangeFaults faults_{};
    std::shared_ptr<transport::live::SimWire> wire_;
    std::vector<transport::live::Endpoint> endpoints_;
    std::array<ExchangeHost, 2> hosts_{};
    std::vector<std::unique_ptr<Dialogue>> dialogues_;
    std::uint64_t turns_ = 0;
    bool kept_back_ = false;
};

}  // namespace qps::tests
