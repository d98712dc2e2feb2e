// PayloadStore: the payload of one connection's packets, kept until their message is complete.
#include "payload_store.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

bool has_payload(const Message& message) {
    return message.verb == Verb::send || message.verb == Verb::write || message.verb == Verb::read_request ||
           message.verb == Verb::atomic_write;
}

// Of the payload, where the message itself says it.
std::optional<std::uint64_t> length_of(const Message& message) {
    if ((message.verb != Verb::write && message.verb != Verb::read_request) || !message.access) return std::nullopt;
    return message.access->length;
}

}  // namespace

void PayloadStore::keep(const Observation& observation, const PacketStory& story) {
    const OpcodeRow& row = info(observation.opcode);
    if (observation.kind != ObservationKind::transport || story.corrupt || story.mirror_copy) return;
    if (!row.carries_payload || observation.payload_length == 0) return;
    if (held_ + observation.payload.size() > kMost) {
        refused_ += observation.payload.size();
        return;
    }
    const End requester = row.request ? story.from : other(story.from);
    Chunk& chunk = chunks_[static_cast<std::size_t>(requester)][observation.psn.value()];
    held_ -= chunk.bytes.size();
    held_ += observation.payload.size();
    chunk.frame = observation.frame;
    chunk.wire_length = observation.payload_length;
    chunk.bytes.assign(observation.payload.begin(), observation.payload.end());
}

Payload PayloadStore::take(End requester, const Message& message) {
    Chunks& chunks = chunks_[static_cast<std::size_t>(requester)];
    Payload payload;
    if (!has_payload(message)) return payload;
    std::uint64_t length = 0;  // on the wire
    const auto count = static_cast<std::uint32_t>(message.last - message.first) + 1;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Psn psn = message.first + i;
        const auto found = chunks.find(psn.value());
        if (found == chunks.end() || found->second.frame < message.first_frame) {
            if (payload.missing_packets++ == 0) payload.first_missing = psn;
        } else {
            const Chunk& chunk = found->second;
            payload.bytes.insert(payload.bytes.end(), chunk.bytes.begin(), chunk.bytes.end());
            payload.cut_bytes += chunk.wire_length - std::min<std::uint64_t>(chunk.wire_length, chunk.bytes.size());
            length += chunk.wire_length;
        }
        if (found == chunks.end()) continue;
        held_ -= found->second.bytes.size();
        chunks.erase(found);
    }
    if (const auto expected = length_of(message)) {
        payload.missing_bytes = *expected > length ? *expected - length : 0;
        if (payload.missing_bytes == 0) payload.missing_packets = 0;  // a WRITE or READ of no bytes
    } else if (count == 1 && message.bytes == 0) {
        payload.missing_packets = 0;
    }
    return payload;
}

}  // namespace qps::cli
