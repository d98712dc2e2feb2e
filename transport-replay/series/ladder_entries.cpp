#include <transport-replay/series/ladder_entries.hpp>

#include <array>
#include <deque>

namespace qps::transport::series {

using namespace dissect;

namespace {

// A message while its packets pass.
struct UnderWay {
    std::uint32_t entry = 0;
    std::uint32_t message = 0;  // among those of the index
    Psn first;
    FrameIndex end{};  // its last packet, or what answered it
};

FrameIndex last_of(const CaptureIndex& index, const MessageRow& message) {
    const FrameIndex last = index.has(message.last_frame()) ? message.last_frame() : message.first_frame();
    return std::max(last, message.answer_frame().value_or(last));
}

// What only acknowledges in a protocol that acknowledges bytes or packets, not messages: it is of none of them alone.
bool only_acknowledges(const PacketRow& row) {
    if (row.kind() == ObservationKind::stream) return row.payload_length() == 0;
    return row.kind() == ObservationKind::ultra_ethernet && row.uet_answers();
}

}  // namespace

// Goes through the packets of a connection once, beside its messages that are under way.
class LadderGathering {
public:
    LadderGathering(const CaptureIndex& index, ConnectionId connection) : index_(index) {
        made_.connection_ = connection;
    }

    bool find_messages(const Stop& stop) {
        const auto take = [&](const MessageRow& message, std::uint64_t at) {
            if (message.connection() == made_.connection_ && time_of(index_, message.first_frame()))
                messages_.push_back(static_cast<std::uint32_t>(at));
        };
        if (!scan(index_.messages, 0, index_.messages.size(), stop, take)) return false;
        std::ranges::stable_sort(messages_, {}, [&](std::uint32_t at) { return index_.messages[at].first_frame(); });
        return true;
    }

    void take(const PacketRow& row, FrameIndex frame) {
        if (row.connection() != made_.connection_ || row.has(Mark::timeless)) return;
        const auto place = static_cast<std::uint32_t>(made_.frames_.size());
        const std::size_t before = made_.entries_.size();
        if (before < LadderEntries::kMostEntries) begin_messages(frame, place);
        std::optional<std::uint32_t> found = owner_of(row, frame);
        if (!found && made_.entries_.size() != before) found = newest_;
        if (!found && made_.entries_.size() < LadderEntries::kMostEntries) {
            found = static_cast<std::uint32_t>(made_.entries_.size());
            made_.entries_.push_back({place, place, 0});
        }
        if (!found || (place >= LadderEntries::kMostPackets && made_.entries_.size() == before)) {
            ++made_.left_out_;
            return;
        }
        const std::uint32_t owner = *found;
        made_.frames_.push_back(static_cast<std::uint32_t>(frame));
        made_.owners_.push_back(owner);
        made_.entries_[owner].last = place;
    }

    LadderEntries finish() { return std::move(made_); }

private:
    void begin_messages(FrameIndex frame, std::uint32_t place) {
        for (; next_ < messages_.size(); ++next_) {
            const MessageRow& message = index_.messages[messages_[next_]];
            if (message.first_frame() > frame) return;
            if (message.first_frame() < frame) continue;  // its packets are of another connection: rows that contradict
            newest_ = static_cast<std::uint32_t>(made_.entries_.size());
            made_.entries_.push_back({place, place, messages_[next_] + 1});
            auto& some = under_way_[static_cast<std::size_t>(message.requester())];
            some.push_back(
                {*newest_, messages_[next_], index_.row(message.first_frame()).psn(), last_of(index_, message)});
            if (some.size() > room_) make_room(some, frame);
        }
    }

    // Those that have ended go; of more than are looked at, the oldest.
    void make_room(std::deque<UnderWay>& some, FrameIndex now) const {
        std::erase_if(some, [&](const UnderWay& one) { return one.end < now; });
        while (some.size() > room_ / 2) some.pop_front();
    }

    std::optional<std::uint32_t> owner_of(const PacketRow& row, FrameIndex frame) {
        const bool by_requester = row.kind() != ObservationKind::transport || info(row.opcode()).request;
        const End requester = by_requester ? row.from() : other(row.from());
        auto owner = Scope::notifies(row) ? std::nullopt : find(requester, row, frame);
        // The responses of iWARP's READs are segments like any others.
        if (!owner && row.kind() == ObservationKind::stream) owner = find(other(requester), row, frame);
        if (!owner && only_acknowledges(row)) owner = newest_;
        return owner;
    }

    std::optional<std::uint32_t> find(End requester, const PacketRow& row, FrameIndex frame) {
        auto& some = under_way_[static_cast<std::size_t>(requester)];
        while (!some.empty() && some.front().end < frame) some.pop_front();
        // Their PSNs rise as a rule: then the last one that begins no later is it.
        const auto after = std::ranges::partition_point(some, [&](const UnderWay& one) {
            return row.kind() != ObservationKind::transport || row.psn() - one.first >= 0;
        });
        if (after != some.begin() && carries(*std::prev(after), row, frame)) return std::prev(after)->entry;
        const std::size_t looked = std::min(some.size(), LadderEntries::kMostLookedAt);
        for (std::size_t i = 0; i < looked; ++i)
            if (const UnderWay& one = some[some.size() - 1 - i]; carries(one, row, frame)) return one.entry;
        for (std::size_t i = 0; i < looked; ++i)
            if (const UnderWay& one = some[some.size() - 1 - i]; index_.messages[one.message].answer_frame() == frame)
                return one.entry;
        return std::nullopt;
    }

    [[nodiscard]] bool carries(const UnderWay& one, const PacketRow& row, FrameIndex frame) const {
        if (one.end < frame) return false;
        const MessageRow& message = index_.messages[one.message];
        const FrameIndex last = index_.has(message.last_frame()) ? message.last_frame() : message.first_frame();
        return transport::carries(message, index_.row(message.first_frame()), index_.row(last), row);
    }

    static constexpr std::size_t room_ = 4 * LadderEntries::kMostLookedAt;

    const CaptureIndex& index_;
    std::vector<std::uint32_t> messages_;  // of the connection, by their first packets
    std::size_t next_ = 0;                 // of them, that did not begin yet
    std::array<std::deque<UnderWay>, 2> under_way_;
    std::optional<std::uint32_t> newest_;  // entry of the message that began last
    LadderEntries made_;
};

std::optional<LadderEntries> LadderEntries::of(const CaptureIndex& index, ConnectionId connection, const Stop& stop) {
    LadderGathering gathering(index, connection);
    if (!gathering.find_messages(stop)) return std::nullopt;
    const auto take = [&](const PacketRow& row, std::uint64_t at) { gathering.take(row, frame_at(at)); };
    if (!scan(index.packets, 0, index.packets.size(), stop, take)) return std::nullopt;
    return gathering.finish();
}

std::size_t LadderEntries::position_of(FrameIndex frame) const {
    const auto after = std::ranges::upper_bound(entries_, frame, {},
                                                [&](const Entry& entry) { return FrameIndex{frames_[entry.first]}; });
    return after == entries_.begin() ? 0 : static_cast<std::size_t>(after - entries_.begin()) - 1;
}

std::optional<std::size_t> LadderEntries::entry_of(const CaptureIndex& index, FrameIndex frame) const {
    if (entries_.empty() || !time_of(index, frame) || index.row(frame).connection() != connection_) return std::nullopt;
    const auto found = std::ranges::lower_bound(frames_, std::to_underlying(frame), {},
                                                [](std::uint32_t each) { return std::uint64_t{each}; });
    if (found == frames_.end() || *found != std::to_underlying(frame))  // past the bounds, or later than the reading
        return left_out_ != 0 ? std::optional(position_of(frame)) : std::nullopt;
    return owners_[static_cast<std::size_t>(found - frames_.begin())];
}

}  // namespace qps::transport::series
