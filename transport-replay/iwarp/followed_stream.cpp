#include <transport-replay/iwarp/followed_stream.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

std::size_t StreamPayloads::cost_of(const Held& held) {
    std::size_t cost = 0;
    for (const Piece& piece : held.pieces) cost += piece.bytes.size() + kPieceCost;
    return cost;
}

void StreamPayloads::keep(const StreamPayload& segment) {
    if (segment.length == 0) return;
    if (held_ + segment.bytes.size() + kPieceCost > most_) forget_older_half();
    Held& held = messages_[{segment.requester, segment.message.value()}];
    held.last_frame = segment.frame;
    held.pieces.push_back({segment.offset, segment.length, {segment.bytes.begin(), segment.bytes.end()}});
    held_ += segment.bytes.size() + kPieceCost;
}

void StreamPayloads::forget_older_half() {
    std::vector<FrameIndex> frames;
    for (const auto& [key, held] : messages_) frames.push_back(held.last_frame);
    if (frames.empty()) return;
    const auto middle = frames.begin() + static_cast<std::ptrdiff_t>(frames.size() / 2);
    std::ranges::nth_element(frames, middle);
    std::erase_if(messages_, [&](const auto& entry) {
        if (*middle < entry.second.last_frame) return false;
        held_ -= cost_of(entry.second);
        for (const Piece& piece : entry.second.pieces) let_go_ += piece.bytes.size();
        return true;
    });
}

MessagePayload StreamPayloads::take(End requester, const Message& message) {
    MessagePayload payload;
    payload.first_missing = message.first;
    std::uint64_t reached = 0;  // bytes of the message before that
    if (const auto found = messages_.find({requester, message.first.value()}); found != messages_.end()) {
        std::ranges::stable_sort(found->second.pieces, {}, &Piece::offset);
        std::uint32_t number = 0;
        for (const Piece& piece : found->second.pieces) {
            if (piece.offset < reached) continue;  // the same bytes again
            payload.missing_bytes += piece.offset - reached;
            payload.pieces.push_back({number++, piece.length, payload.bytes.size(), piece.bytes.size()});
            payload.bytes.insert(payload.bytes.end(), piece.bytes.begin(), piece.bytes.end());
            payload.cut_bytes += piece.length - std::min<std::uint64_t>(piece.length, piece.bytes.size());
            reached = piece.offset + piece.length;
        }
        held_ -= cost_of(found->second);
        messages_.erase(found);
    }
    const bool said = message.verb == Verb::read_request && message.access;
    if (said && message.access->length > reached) payload.missing_bytes += message.access->length - reached;
    return payload;
}

void FollowedStream::observe(const Observation& observation, bool followed) {
    if (!streams_) streams_ = std::make_unique<Streams>();
    followed_ = followed;
    PacketRecord record;
    streams_->iwarp.observe(observation, {streams_->tracker, streams_->ulp, nobody_, &keep_}, record);
    streams_->tracker.ended().clear();
    if (!streams_->tracker.retired().empty()) streams_->tracker.forget_retired();
}

}  // namespace qps::transport
