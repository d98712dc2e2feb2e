// What two connected queue pairs are to do to each other, drawn from a seed before anything happens: every work
// request, every byte of memory before, and what each byte must be at the end. Nothing here knows of packets.
#pragma once

#include <transport-replay/live/faults.hpp>
#include <transport-replay/live/verbs/adapter.hpp>

#include <array>
#include <optional>
#include <vector>

namespace qps::tests {

inline constexpr std::byte kFill{0xa5};          // of memory that nobody may touch, or has not yet
inline constexpr std::uint32_t kGuard = 64;      // bytes of it around everything
inline constexpr std::uint32_t kHuge = 300'000;  // the longest message

// A part of a side's memory, by where it begins.
struct Piece {
    std::uint32_t at = 0;
    std::uint32_t length = 0;
};

struct Step {
    transport::verbs::WrOpcode opcode = transport::verbs::WrOpcode::send;
    transport::verbs::SendFlags flags{};
    std::vector<Piece> pieces{};  // of one's own memory: what is sent, or where it comes to
    std::uint32_t remote = 0;     // in the peer's memory
    std::optional<unsigned>
        window{};  // of the peer, through which it is reached, or which is invalidated; of one's own to bind
    transport::verbs::AtomicValues atomic{};
    transport::verbs::FlushRange flush{};
    std::uint32_t imm = 0;
    std::vector<std::byte> content{};  // what is carried; of an ATOMIC the original value
};

// A window that shows a part of what peers may change.
struct WindowPlan {
    transport::verbs::MwType type = transport::verbs::MwType::type_2;
    Piece shows{};
};

struct SidePlan {
    std::vector<std::byte> memory{};  // as it is at first
    std::vector<std::byte> image{};   // as it must be in the end
    Piece pattern{};                  // what is sent, and what peers may read
    Piece open{};                     // what peers may change
    Piece own{};                      // where answers come to
    std::vector<WindowPlan> windows{};
    std::vector<Step> steps{};
    std::vector<std::size_t> messages{};  // those of the PEER's steps that take a receive here, in order
    std::uint32_t longest_receive = 0;
    std::uint32_t receives = 4;  // posted at a time
    transport::verbs::QpCap cap{};
    bool signal_all = false;
    bool shared = false;      // its receives are the side's shared ones
    std::uint32_t burst = 4;  // work requests posted at once
    std::uint8_t resources = 16;
    std::uint8_t depth = 16;
    std::uint8_t rnr_timer = 1;
};

struct ExchangePlan {
    transport::verbs::QpType type = transport::verbs::QpType::rc;
    std::array<SidePlan, 2> sides{};
    std::size_t caller = 0;  // which side connects
    std::size_t closer = 0;  // which one disconnects
    bool both_close = false;
};

struct ExchangeWish {
    transport::verbs::QpType type = transport::verbs::QpType::rc;
    std::uint32_t mtu = 1024;
    bool huge = false;  // messages of up to kHuge
    std::uint32_t steps = 14;
    bool shared = false;
    bool plenty = false;  // receives for everything
};

[[nodiscard]] ExchangePlan plan_exchange(transport::Draws& draws, const ExchangeWish& wish);

}  // namespace qps::tests
