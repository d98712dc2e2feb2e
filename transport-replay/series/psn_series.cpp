#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/psn_series.hpp>

#include <map>
#include <unordered_map>

namespace qps::transport::series {

using namespace dissect;

namespace {

// How many PSNs the READs of a requester cover, by their first frame.
using ReadSpans = std::unordered_map<FrameIndex, std::uint32_t>;

// Sequence numbers of 32 bits, TCP's and those of Ultra Ethernet, as numbers that go on.
class ByteCounter {
public:
    [[nodiscard]] bool begun() const { return begun_; }
    [[nodiscard]] std::int64_t near(std::uint32_t sequence) const {
        return begun_ ? last_ + static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(last_ & UINT32_MAX))
                      : sequence;
    }
    std::int64_t take(std::uint32_t sequence) {
        last_ = near(sequence);
        begun_ = true;
        return last_;
    }

private:
    std::int64_t last_ = 0;
    bool begun_ = false;
};

class Drawing {
public:
    Drawing(const Timeline& timeline, ConnectionId connection, End requester, ReadSpans spans)
        : requester_(requester), spans_(std::move(spans)) {
        if (const Connection* known = timeline.find(connection))
            series_.of(PsnMark::request).reserve(known->way(requester).requests);
        for (const Recovery& recovery : timeline.recoveries)
            if (recovery.connection == connection && recovery.requester == requester)
                recoveries_.emplace(recovery.trigger, &recovery);
    }

    void take(const PacketRow& row, FrameIndex frame) {
        if (row.kind() == ObservationKind::stream) return take_segment(row, {row.time(), 0, frame, 1});
        if (row.kind() == ObservationKind::ultra_ethernet)
            return take_packet_of_context(row, {row.time(), 0, frame, 1});
        if (row.kind() != ObservationKind::transport || row.has(Mark::mirror_copy) || row.icrc() == CrcStatus::bad)
            return;
        const OpcodeRow& opcode = info(row.opcode());
        if (!opcode.defined || opcode.verb == Verb::notify) return;
        const PsnPoint point{row.time(), 0, frame, 1};
        if (opcode.request && row.from() == requester_) take_request(row, opcode, point);
        else if (!opcode.request && row.from() != requester_) take_answer(row, opcode, point);
    }

    PsnSeries finish() {
        for (const auto& [trigger, recovery] : recoveries_) add_wait(*recovery, counter_.near(recovery->psn));
        return std::move(series_);
    }

private:
    void take_request(const PacketRow& row, const OpcodeRow& opcode, PsnPoint point) {
        point.y = counter_.take(row.psn());
        if (opcode.verb == Verb::read_request) point.psns = span_of(point);
        const bool again = row.has(Mark::retransmission) || row.has(Mark::duplicated);
        series_.of(again ? PsnMark::retransmission : PsnMark::request).push_back(point);
        if (row.has(Mark::gap)) {
            point.psns = 1;
            series_.of(PsnMark::gap).push_back(point);
        }
        add_waits(point);
    }

    void take_segment(const PacketRow& row, PsnPoint point) {
        if (row.has(Mark::mirror_copy)) return;
        series_.stream = true;
        if (row.from() != requester_) {
            point.y = bytes_.near(row.tcp_acknowledged());
            return bytes_.begun() ? acknowledge(point, point.y) : void();
        }
        if (row.payload_length() == 0) return;
        point.y = bytes_.take(row.tcp_sequence());
        point.psns = row.payload_length();
        const bool again = row.has(Mark::retransmission) || row.has(Mark::duplicated);
        series_.of(again ? PsnMark::retransmission : PsnMark::request).push_back(point);
        if (row.arrival() != Arrival::ahead) return;
        point.psns = 1;
        series_.of(PsnMark::gap).push_back(point);
    }

    // PSNs of 32 bits, sent over many paths: that one is due is known of none. What answers them names what came, not
    // up to where.
    void take_packet_of_context(const PacketRow& row, PsnPoint point) {
        if (row.from() != requester_ || !row.arrival() || row.has(Mark::mirror_copy)) return;
        point.y = bytes_.take(row.uet_psn());
        const bool again = row.has(Mark::retransmission) || row.has(Mark::duplicated);
        series_.of(again ? PsnMark::retransmission : PsnMark::request).push_back(point);
    }

    void take_answer(const PacketRow& row, const OpcodeRow& opcode, PsnPoint point) {
        point.y = counter_.near(row.psn());
        const std::uint8_t syndrome = row.syndrome().value_or(0);
        const auto type = static_cast<SyndromeType>(Acknowledgment{syndrome, {}}.type());
        if (opcode.verb == Verb::read_response || opcode.verb == Verb::atomic_acknowledge)
            series_.of(PsnMark::response).push_back(point);
        else if (type == SyndromeType::rnr_nak) series_.of(PsnMark::rnr_nak).push_back(point);
        else if (type == SyndromeType::nak)
            series_.of(Acknowledgment{syndrome, {}}.code() == 0 ? PsnMark::sequence_nak : PsnMark::fatal_nak)
                .push_back(point);
        if (row.has(Mark::unmatched)) return;
        if (type == SyndromeType::ack && row.syndrome()) note_credits(syndrome, point);
        // A NAK acknowledges all before the PSN that it names (9.7.5.1.2).
        acknowledge(point, type == SyndromeType::ack ? point.y : point.y - 1);
        add_waits(point);
    }

    void note_credits(std::uint8_t syndrome, const PsnPoint& point) {
        const std::uint8_t code = Acknowledgment{syndrome, {}}.code();
        if (code >= kCredits.size()) return;  // no limit
        const std::int64_t credits = kCredits[code];
        if (series_.credits.empty() || series_.credits.back().y != credits)
            series_.credits.push_back({point.time, credits, point.frame});
    }

    void acknowledge(PsnPoint point, std::int64_t psn) {
        std::vector<PsnPoint>& line = series_.of(PsnMark::acknowledged);
        if (!line.empty() && psn <= line.back().y) return;
        point.y = psn;
        line.push_back(point);
    }

    // A READ that is asked for again, from its middle perhaps, covers what is left of it.
    std::uint32_t span_of(const PsnPoint& point) {
        const auto known = spans_.find(point.frame);
        if (known != spans_.end()) reads_[point.y] = known->second;
        const auto after = reads_.upper_bound(point.y);
        if (after == reads_.begin()) return 1;
        const auto& [first, psns] = *std::prev(after);
        const std::int64_t left = first + psns - point.y;
        return left > 0 ? static_cast<std::uint32_t>(left) : 1;
    }

    // Where a record's PSN lies is known best when its trigger passes.
    void add_waits(const PsnPoint& point) {
        for (auto next = recoveries_.begin(); next != recoveries_.end() && next->first <= point.frame;
             next = recoveries_.erase(next))
            add_wait(*next->second, counter_.near(next->second->psn));
    }

    void add_wait(const Recovery& recovery, std::int64_t psn) {
        series_.waits.push_back(
            {recovery.time.begin(), recovery.time.end(), psn, recovery.kind, recovery.trigger, recovery.resumed});
    }

    End requester_;
    ReadSpans spans_;
    PsnCounter counter_;
    ByteCounter bytes_;
    std::map<std::int64_t, std::uint32_t> reads_;            // first PSN, how many
    std::multimap<FrameIndex, const Recovery*> recoveries_;  // that did not pass yet, by trigger
    PsnSeries series_;
};

}  // namespace

std::optional<PsnSeries> psn_series(const CaptureIndex& index, const Timeline& timeline, ConnectionId connection,
                                    End requester, const Stop& stop) {
    ReadSpans spans;
    const auto note_read = [&](const MessageRow& message, std::uint64_t) {
        if (message.connection() == connection && message.requester() == requester &&
            message.kind() == MessageKind::read)
            spans.emplace(message.first_frame(), message.psns());
    };
    if (!scan(index.messages, 0, index.messages.size(), stop, note_read)) return std::nullopt;
    Drawing drawing(timeline, connection, requester, std::move(spans));
    const auto take = [&](const PacketRow& row, std::uint64_t position) {
        if (row.connection() == connection && !row.has(Mark::timeless)) drawing.take(row, frame_at(position));
    };
    if (!scan(index.packets, 0, index.packets.size(), stop, take)) return std::nullopt;
    return drawing.finish();
}

}  // namespace qps::transport::series
