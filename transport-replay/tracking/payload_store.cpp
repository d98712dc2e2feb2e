// PayloadStore: the payload of one connection's packets, kept until their message is complete.
#include <transport-replay/tracking/payload_store.hpp>

#include <algorithm>
#include <optional>

namespace qps::transport {

using namespace dissect;

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

void PayloadStore::keep(const Observation& observation, const PacketRecord& record) {
    const OpcodeRow& row = info(observation.opcode);
    if (observation.kind != ObservationKind::transport || record.corrupt || record.mirror_copy) return;
    if (!row.carries_payload || observation.payload_length == 0) return;
    if (held_ + observation.payload.size() + kChunkCost > most_) forget_older_half();
    const End requester = row.request ? record.from : other(record.from);
    const auto [at, is_new] = chunks_[static_cast<std::size_t>(requester)].try_emplace(observation.psn.value());
    Chunk& chunk = at->second;
    if (is_new) held_ += kChunkCost;
    held_ -= chunk.bytes.size();
    held_ += observation.payload.size();
    chunk.frame = observation.frame;
    chunk.wire_length = observation.payload_length;
    chunk.bytes.assign(observation.payload.begin(), observation.payload.end());
}

void PayloadStore::forget_older_half() {
    std::vector<FrameIndex> frames;
    for (const Chunks& chunks : chunks_)
        for (const auto& [psn, chunk] : chunks) frames.push_back(chunk.frame);
    if (frames.empty()) return;
    const auto middle = frames.begin() + static_cast<std::ptrdiff_t>(frames.size() / 2);
    std::ranges::nth_element(frames, middle);
    for (Chunks& chunks : chunks_)
        erase_if(chunks, [&](const auto& entry) {
            if (*middle < entry.second.frame) return false;
            held_ -= entry.second.bytes.size() + kChunkCost;
            let_go_ += entry.second.bytes.size();
            return true;
        });
}

// Where in the message the packets are that were kept, in order. A message may claim millions.
std::vector<std::uint32_t> PayloadStore::kept_of(End requester, const Message& message, std::uint32_t count) const {
    const Chunks& chunks = chunks_[static_cast<std::size_t>(requester)];
    std::vector<std::uint32_t> offsets;
    const auto is_of = [&](const Chunk& chunk) {
        return chunk.frame >= message.first_frame;
    };  // not of an older round of the PSNs
    if (count <= chunks.size()) {
        for (std::uint32_t i = 0; i < count; ++i)
            if (const auto found = chunks.find((message.first + i).value());
                found != chunks.end() && is_of(found->second))
                offsets.push_back(i);
        return offsets;
    }
    for (const auto& [psn, chunk] : chunks)
        if (message.covers(Psn(psn)) && is_of(chunk))
            offsets.push_back(static_cast<std::uint32_t>(Psn(psn) - message.first));
    std::ranges::sort(offsets);
    return offsets;
}

MessagePayload PayloadStore::take(End requester, const Message& message) {
    Chunks& chunks = chunks_[static_cast<std::size_t>(requester)];
    MessagePayload payload;
    if (!has_payload(message)) return payload;
    const auto count = static_cast<std::uint32_t>(message.last - message.first) + 1;
    const std::vector<std::uint32_t> present = kept_of(requester, message, count);
    std::uint64_t length = 0;  // on the wire
    for (const std::uint32_t offset : present) {
        const auto found = chunks.find((message.first + offset).value());
        const Chunk& chunk = found->second;
        payload.pieces.push_back({offset, chunk.wire_length, payload.bytes.size(), chunk.bytes.size()});
        payload.bytes.insert(payload.bytes.end(), chunk.bytes.begin(), chunk.bytes.end());
        payload.cut_bytes += chunk.wire_length - std::min<std::uint64_t>(chunk.wire_length, chunk.bytes.size());
        length += chunk.wire_length;
        held_ -= chunk.bytes.size() + kChunkCost;
        chunks.erase(found);
    }
    payload.missing_packets = count - static_cast<std::uint32_t>(present.size());
    std::uint32_t in_order = 0;
    while (in_order < present.size() && present[in_order] == in_order) ++in_order;
    payload.first_missing = message.first + in_order;
    if (const auto expected = length_of(message)) {
        payload.missing_bytes = *expected > length ? *expected - length : 0;
        if (payload.missing_bytes == 0) payload.missing_packets = 0;  // a WRITE or READ of no bytes
    } else if (count == 1 && message.bytes == 0) {
        payload.missing_packets = 0;
    }
    return payload;
}

}  // namespace qps::transport
