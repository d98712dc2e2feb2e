#include <transport-replay/collectives/nccl_channel.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

// Of the first lines of data. The low-latency protocol puts a flag, that counts up, behind each word of four bytes:
// words only.
constexpr std::size_t kSampled = 64;
constexpr std::uint64_t kLowLatencySlot = 65536;

std::uint64_t sample_of(Bytes payload, bool low_latency) {
    if (payload.size() < sizeof(std::uint64_t)) return 0;
    std::uint64_t sum = 0xcbf2'9ce4'8422'2325;  // FNV-1a
    for (std::size_t at = 0; at + 4 <= std::min(payload.size(), kSampled); at += low_latency ? 8 : 4)
        sum = (sum ^ read_le<std::uint32_t>(payload, at)) * 0x100'0000'01b3;
    return std::max<std::uint64_t>(sum, 1);
}

}  // namespace

void NcclChannel::offer(const NcclOffer& offer, Instant time, FrameIndex frame, Psn psn, NcclEvents& events) {
    if (offer.index <= newest_) return;  // one that came late, or was seen
    if (newest_ != 0 && offer.index == newest_ + 1) ++counted_;
    const bool first = newest_ == 0;
    newest_ = offer.index;
    size_ = std::max(size_, offer.size);
    if (sender_ && *sender_ != offer.sender) contradicted_ = true;
    sender_ = contradicted_ ? std::nullopt : std::optional(offer.sender);
    const bool fresh = pending_.empty() && open_ == 0 && (!first || offer.index == 1);
    if (events.take())
        offers_.push_back(
            {.time = time, .arrived = time, .frame = frame, .index = offer.index, .psn = psn, .fresh = fresh});
    if (pending_.size() == kMostPending) pending_.erase(pending_.begin());
    pending_.push_back({offer.address, offer.index});
}

void NcclChannel::acknowledge(Psn psn, Instant time) {
    for (; arrived_ < offers_.size() && !psn.before(offers_[arrived_].psn); ++arrived_)
        offers_[arrived_].arrived = std::max(offers_[arrived_].time, time);
}

bool NcclChannel::waits_for(std::uint64_t address) const {
    return std::ranges::any_of(pending_, [&](const Pending& one) { return one.address == address; });
}

std::optional<std::uint32_t> NcclChannel::begin(std::uint64_t address, Instant time, FrameIndex frame,
                                                NcclEvents& events) {
    std::uint64_t index = 0;
    if (const auto found = std::ranges::find(pending_, address, &Pending::address); found != pending_.end()) {
        index = found->index;
        pending_.erase(found);
    }
    if (!events.take()) return std::nullopt;
    ++open_;
    messages_.push_back({.begin = time, .end = time, .frame = frame, .index = index});
    return static_cast<std::uint32_t>(messages_.size() - 1);
}

void NcclChannel::add(std::uint32_t message, Bytes payload, std::uint32_t bytes, Instant time) {
    NcclMessage& one = messages_[message];
    if (one.bytes == 0 && bytes != 0) one.sample = sample_of(payload, size_ == kLowLatencySlot);
    one.bytes += bytes;
    one.end = std::max(one.end, time);
}

void NcclChannel::end(std::uint32_t message) {
    if (messages_[message].ended) return;
    messages_[message].ended = true;
    if (open_ != 0) --open_;
}

}  // namespace qps::transport
