// ScriptQp: what a run knows of a queue pair that a script plays packet by packet, or of queue pair 1.
//
// PSNs have two spaces, that of our requests with the device's responses, and that of the device's requests with ours;
// a script's +N is relative to the first PSN of the space. The pattern in payloads goes on from packet to packet of a
// message: where it stands follows from the PSN of the message's first packet, so that a packet that is sent again has
// the same bytes again.
//
// What the device sends decides about nothing but `next` and the beginnings of messages, of which kMostBeginnings are
// kept.
#pragma once

#include <transport-replay/conformance/script/script.hpp>
#include <transport-replay/live/endpoint.hpp>

#include <array>
#include <deque>

namespace qps::transport::conformance::stage {

inline constexpr std::size_t kMostBeginnings = 64;  // of messages of a stream: a script resends of the last few
inline constexpr std::uint64_t kUsualFill = 1;      // the seed of payloads that say nothing

struct Beginning {
    dissect::Psn psn;
    std::uint64_t offset = 0;  // of the pattern there
};

// Who sent a packet, and in whose PSNs it is counted.
enum class Sender : std::uint8_t { us, device };
struct Stream {
    std::deque<Beginning> beginnings;
    void begin(dissect::Psn psn, std::uint64_t offset) {
        if (beginnings.size() >= kMostBeginnings) beginnings.pop_front();
        beginnings.push_back({psn, offset});
    }
    // Where in the pattern the payload of a packet that is no message's first begins: behind its message's packets, all
    // of them full.
    [[nodiscard]] std::uint64_t offset_at(dissect::Psn psn, std::uint32_t mtu) const {
        for (auto each = beginnings.rbegin(); each != beginnings.rend(); ++each)
            if (psn - each->psn >= 0) return each->offset + static_cast<std::uint64_t>(psn - each->psn) * mtu;
        return 0;
    }
};

// XRC: the end that serves, at the device's agent or ours, by the agent's numbers; and how requests name its shared
// receive queue.
struct ExtendedEnd {
    script::Side side = script::Side::device;
    std::uint64_t domain = 0;  // 0: it has none of these, for nobody but the script serves there
    std::uint64_t cq = 0;
    std::uint64_t srq = 0;
    bool made_domain = false;  // else another one's
    Srqn number{};
};

struct ScriptQp {
    std::string name;
    script::EndKind kind = script::EndKind::raw;
    dissect::Service service = dissect::Service::rc;
    bool serves = false;      // XRC: the device's half serves, else it asks
    bool management = false;  // queue pair 1
    dissect::Qpn ours{};
    dissect::Qpn theirs{};
    dissect::Psn our_first;    // of our requests
    dissect::Psn their_first;  // of the device's
    std::uint32_t mtu = 1024;
    dissect::Qkey qkey{0x1111'1111};
    std::optional<std::uint64_t> agent_qp;         // at the device's agent
    std::optional<std::uint64_t> our_qp;           // at ours
    ExtendedEnd extended;                          // of XRC
    std::uint32_t our_comm = 0, their_comm = 0;    // of a connection that the CM made: to take it down
    dissect::Psn next;                             // of our requests: the first that the device has not acknowledged
    dissect::Psn next_sent;                        // the first that we have not sent
    dissect::Psn last_request;                     // of the device
    std::array<std::array<Stream, 2>, 2> streams;  // [sender][request or response]
    std::deque<live::ClaimedFrame> arrived;        // and not looked at
    std::vector<const script::PacketLine*> allowed;
};

// The first PSN of the space that a packet is counted in.
[[nodiscard]] constexpr bool in_our_space(Sender sender, bool request) { return (sender == Sender::us) == request; }

}  // namespace qps::transport::conformance::stage
