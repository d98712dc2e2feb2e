#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/index/message_frames.hpp>
#include <transport-replay/index/named_sets.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

using dissect::FrameIndex;

namespace {

struct Member {
    std::uint32_t message = 0;  // from 0
    std::uint32_t frame = 0;
};

// A message while its packets pass.
struct Passing {
    std::uint32_t message = 0;
    dissect::Psn first;
    std::uint64_t end = 0;  // its last frame
};

// The messages of an index by the frames that they begin with.
std::vector<std::uint32_t> in_order(const CaptureIndex& index) {
    std::vector<std::uint32_t> order(index.messages.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    std::ranges::stable_sort(order, {}, [&](std::uint32_t message) { return index.messages[message].first_frame(); });
    return order;
}

// All pairs, in the order of the frames.
std::vector<Member> members_of(const CaptureIndex& index) {
    std::vector<Member> members;
    boost::unordered_flat_map<ConnectionId, std::vector<Passing>> passing;
    const std::vector<std::uint32_t> order = in_order(index);
    auto next = order.begin();
    for (std::uint64_t frame = 1; frame <= index.packets.size(); ++frame) {
        for (; next != order.end() && std::to_underlying(index.messages[*next].first_frame()) <= frame; ++next) {
            const MessageRow& row = index.messages[*next];
            if (!index.has(row.first_frame())) continue;
            const std::uint64_t end =
                std::to_underlying(std::max(row.last_frame(), row.answer_frame().value_or(FrameIndex{})));
            passing[row.connection()].push_back({*next, index.row(row.first_frame()).psn(), end});
        }
        const PacketRow& packet = index.row(FrameIndex{frame});
        if (packet.kind() != ObservationKind::transport || !packet.connection()) continue;
        const auto found = passing.find(*packet.connection());
        if (found == passing.end()) continue;
        std::erase_if(found->second, [&](const Passing& one) { return one.end < frame; });
        std::size_t own = 0;
        for (const Passing& one : found->second) {
            const MessageRow& row = index.messages[one.message];
            const bool answers = row.answer_frame() == FrameIndex{frame};
            if (!belongs_to(row, one.first, FrameIndex{frame}, packet) ||
                (!answers && own++ >= MessageFrames::kMostOfPacket))
                continue;
            members.push_back({one.message, static_cast<std::uint32_t>(frame)});
        }
    }
    return members;
}

}  // namespace

MessageFrames::MessageFrames(const CaptureIndex& index)
    : messages_(index.packets.size()), starts_(index.messages.size() + 1) {
    const std::vector<Member> members = members_of(index);
    for (const Member& member : members) {
        ++starts_[member.message + 1];
        std::uint32_t& of_frame = messages_[member.frame - 1];
        of_frame = std::max(of_frame, member.message + 1);
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    std::vector<std::uint32_t> places(starts_.begin(), starts_.end());
    frames_.resize(members.size());
    for (const Member& member : members) frames_[places[member.message]++] = member.frame;
}

std::uint64_t MessageFrames::message_of(FrameIndex frame) const {
    const std::uint64_t number = std::to_underlying(frame);
    return number == 0 || number > messages_.size() ? 0 : messages_[number - 1];
}

std::span<const std::uint32_t> MessageFrames::frames_of(std::uint64_t message) const {
    if (message == 0 || message >= starts_.size()) return {};
    return std::span(frames_).subspan(starts_[message - 1], starts_[message] - starts_[message - 1]);
}

}  // namespace qps::transport
