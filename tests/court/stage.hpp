// A capture drawn packet by packet: hosts 192.0.2.N, a tap between them, a clock that the scene moves. Its truth is
// what was drawn.
//
// Packets are built by dissect/packet/build.hpp, which no finding comes from; what the program says of them is judged
// by the court's own reader.
#pragma once

#include <dissect/packet/build.hpp>
#include <tests/court/recording.hpp>

#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace qps::court {

using Setting = std::pair<std::string_view, std::uint64_t>;
using Settings = std::vector<Setting>;

inline constexpr std::int64_t kAMicrosecond = 1000, kAMillisecond = 1'000'000, kASecond = 1'000'000'000;

class Stage {
public:
    Recording recording{};

    void wait(std::int64_t nanoseconds) { clock_ += nanoseconds; }
    [[nodiscard]] std::int64_t now() const { return clock_; }
    // A microsecond after what was before.
    void put(const dissect::PacketSpec& spec);
    void put(Octets frame);
    void packet(std::uint8_t opcode, unsigned from, unsigned to, const Settings& settings, std::size_t bytes = 0);
    // The same with a payload.
    void message(std::uint8_t opcode, unsigned from, unsigned to, const Settings& settings, const Octets& payload);
    // One SEND of PSN 1000 * qp + number, and its ACK to queue pair qp + 1000; both ends' packets with settings of
    // their own.
    void send(unsigned from, unsigned to, std::uint64_t qp, unsigned number, const Settings& more = {},
              std::size_t bytes = 512);
    void acknowledge(unsigned from, unsigned to, std::uint64_t qp, unsigned number, const Settings& more = {});
    // `count` of either, in turn, from number `first`.
    void dialogue(unsigned a, unsigned b, std::uint64_t qp, unsigned count = 8, const Settings& of_a = {},
                  const Settings& of_b = {}, unsigned first = 0);
    // A message of communication management, as attribute 0x10 + `message`, of 192.0.2.a to 192.0.2.b.
    void cm(unsigned message, unsigned from, unsigned to, const Settings& settings);
    // REQ, REP and RTU of host 1 to host 2: queue pair 1021 asks 21, PSNs of host 1 begin with 21'000,
    // those of host 2 with 200: each names what the other begins with (12.6.5).
    void req(const Settings& more = {});
    void rep(const Settings& more = {});
    void rtu();
    void connect(const Settings& of_req = {}, const Settings& of_rep = {});

private:
    std::int64_t clock_ = 1'700'000'000 * kASecond;
};
[[nodiscard]] Settings joined(Settings first, const Settings& more);

// A scene that has a finding: three captures of it are drawn, of variant 0 to 2.
struct Scene {
    std::string_view finding;
    void (*play)(Stage&, unsigned variant);
};
inline constexpr unsigned kVariants = 3;

[[nodiscard]] std::span<const Scene> setup_scenes();
[[nodiscard]] std::span<const Scene> upper_scenes();
[[nodiscard]] std::span<const Scene> iwarp_scenes();
[[nodiscard]] std::span<const Scene> ultra_ethernet_scenes();
[[nodiscard]] std::span<const Scene> management_scenes();
[[nodiscard]] std::span<const Scene> pause_scenes();
[[nodiscard]] std::span<const Scene> bridging_scenes();
[[nodiscard]] std::span<const Scene> reachability_scenes();
[[nodiscard]] std::span<const Scene> beside_scenes();
[[nodiscard]] std::span<const Scene> security_scenes();
[[nodiscard]] std::span<const Scene> link_scenes();
[[nodiscard]] std::span<const Scene> network_scenes();
[[nodiscard]] std::span<const Scene> collective_scenes();

}  // namespace qps::court
