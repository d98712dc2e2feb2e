// PayloadStore: the payload of one connection's packets, kept until the message they belong to is complete.
//
// A SEND or WRITE has its payload in its requests, a READ in the responses to it; both bear PSNs of the requester, so
// one map for each end holds both. What comes again replaces what was there: it is the same, and what is old may be of
// another round of the PSNs. What an attacker could feed: packets of messages that never end, of a byte each; `most`
// bounds what is kept, and where it is reached the older half goes.
#pragma once

#include <transport-replay/model/message.hpp>
#include <transport-replay/model/packet_record.hpp>

#include <array>
#include <cstddef>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

// The payload of one packet in that of its message.
struct PayloadPiece {
    std::uint32_t packet = 0;       // its place in the message, from 0
    std::uint32_t wire_length = 0;  // of which the capture may have cut off the end
    std::size_t begin = 0;          // in MessagePayload::bytes
    std::size_t length = 0;
};

// The payload of a message, in order.
struct MessagePayload {
    std::vector<std::byte> bytes;
    std::vector<PayloadPiece> pieces;   // of the packets that were captured
    std::uint32_t missing_packets = 0;  // PSNs of which no packet with payload was captured
    std::uint64_t missing_bytes = 0;    // where the length of the message tells
    dissect::Psn first_missing;         // of missing_packets
    std::uint64_t cut_bytes = 0;        // payload that the capture cut off
};

class PayloadStore {
public:
    static constexpr std::size_t kMost = std::size_t{1} << 28;  // bytes that wait: more than any NIC has outstanding
    static constexpr std::size_t kChunkCost = 160;  // of a packet, beside its payload: in a table that doubles

    explicit PayloadStore(std::size_t most = kMost) : most_(most) {}
    [[nodiscard]] std::size_t most() const { return most_; }
    void keep(const Observation& observation, const PacketRecord& record);
    // Hands out what was kept of a message, and forgets it.
    [[nodiscard]] MessagePayload take(End requester, const Message& message);
    // Bytes that were let go because too many waited.
    [[nodiscard]] std::uint64_t let_go() const { return let_go_; }

private:
    struct Chunk {
        dissect::FrameIndex frame{};
        std::uint32_t wire_length = 0;  // of the payload
        std::vector<std::byte> bytes;
    };
    using Chunks = boost::unordered_flat_map<std::uint32_t, Chunk>;  // by PSN

    [[nodiscard]] std::vector<std::uint32_t> kept_of(End requester, const Message& message, std::uint32_t count) const;
    void forget_older_half();

    std::size_t most_;
    std::array<Chunks, 2> chunks_;  // by requester
    std::size_t held_ = 0;          // with kChunkCost
    std::uint64_t let_go_ = 0;
};

}  // namespace qps::transport
