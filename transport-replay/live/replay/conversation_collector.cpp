#include <dissect/base/opcode.hpp>
#include <transport-replay/live/replay/conversation_collector.hpp>
#include <transport-replay/model/memory_beside.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

// AETH syndrome types (9.7.5.1.1).
constexpr std::uint8_t kRnrNak = 1, kNak = 3;

bool has_payload(const Message& message) {
    return message.verb == Verb::send || message.verb == Verb::write || message.verb == Verb::read_request ||
           message.verb == Verb::atomic_write;
}

// Where each packet's payload stands: all but the last are as long as the path MTU.
std::uint64_t packet_size(const MessagePayload& payload, std::uint32_t packets, std::uint32_t mtu) {
    for (const PayloadPiece& piece : payload.pieces)
        if (piece.packet + 1 < packets) return piece.wire_length;
    return mtu;
}

std::uint64_t length_of(const Message& message, const MessagePayload& payload, std::uint64_t size) {
    if (message.verb == Verb::atomic_write) return sizeof(std::uint64_t);
    if (message.verb != Verb::send && message.access) return message.access->length;
    const std::uint64_t before = (message.span() - 1) * size;
    if (payload.pieces.empty()) return before;
    const PayloadPiece& last = payload.pieces.back();
    if (message.ends && last.packet + 1 == message.span()) return before + last.wire_length;
    return std::max(before, last.packet * size + last.wire_length);
}

RecordedPayload laid_out(const MessagePayload& payload, std::uint64_t length, std::uint64_t size) {
    RecordedPayload result;
    result.bytes.resize(length);
    std::uint64_t known = 0;  // everything before was dealt with
    const auto hole_until = [&](std::uint64_t end) {
        if (end > known) result.holes.push_back({known, end - known});
    };
    for (const PayloadPiece& piece : payload.pieces) {
        const std::uint64_t begin = piece.packet * size;
        if (begin < known || begin >= length) continue;  // lengths that contradict each other
        const std::uint64_t count = std::min<std::uint64_t>(piece.length, length - begin);
        hole_until(begin);
        std::copy_n(payload.bytes.begin() + static_cast<std::ptrdiff_t>(piece.begin), count,
                    result.bytes.begin() + static_cast<std::ptrdiff_t>(begin));
        known = begin + count;
    }
    hole_until(length);
    return result;
}

// They come as they ended. Of one end the order is that of the PSNs; both ends are merged by first packets, a packet
// that was recorded late standing where its message begins.
void put_in_order(std::vector<RecordedMessage>& messages) {
    struct SortKey {
        std::int64_t psn = 0;  // counted on where PSNs wrap
        FrameIndex frame{};
        std::size_t index = 0;
    };
    std::array<std::vector<SortKey>, 2> places;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        std::vector<SortKey>& ours = places[static_cast<std::size_t>(messages[i].from)];
        const Message& message = messages[i].message;
        const std::int64_t psn =
            ours.empty() ? message.first.value()
                         : ours.back().psn + (message.first - Psn(static_cast<std::uint32_t>(ours.back().psn)));
        ours.push_back({psn, message.first_frame, i});
    }
    std::vector<SortKey> all;
    for (std::vector<SortKey>& ours : places) {
        std::ranges::stable_sort(ours, {}, &SortKey::psn);
        FrameIndex latest{};
        for (SortKey& place : ours) place.frame = latest = std::max(latest, place.frame);
        std::vector<SortKey> merged;
        std::ranges::merge(all, ours, std::back_inserter(merged), {}, &SortKey::frame, &SortKey::frame);
        all = std::move(merged);
    }
    std::vector<RecordedMessage> ordered;
    ordered.reserve(messages.size());
    for (const SortKey& place : all) ordered.push_back(std::move(messages[place.index]));
    messages = std::move(ordered);
}

}  // namespace

ConversationCollector::ConversationCollector(const Timeline& timeline, ConnectionId uid, const MemoryBudget& memory)
    : timeline_(&timeline),
      uid_(uid),
      connection_(timeline.find(uid)),
      store_(bytes_beside(memory, Beside::waiting)),
      most_(bytes_beside(memory, Beside::conversation)) {
    recorded_.uid = uid;
    if (connection_ == nullptr) refusal_ = fmt::format("no such connection {}", std::to_underlying(uid));
    else describe();
}

void ConversationCollector::describe() {
    const Connection& connection = *connection_;
    recorded_.service = connection.service;
    for (const End end : {End::a, End::b}) recorded_.ends[static_cast<std::size_t>(end)].who = connection.end(end);
    recorded_.mtu = std::max(connection.ways[0].path_mtu, connection.ways[1].path_mtu);
    if (recorded_.mtu == 0) recorded_.mtu = connection.cm_path_mtu.value_or(0);
    recorded_.requester = connection.ways[0].requests == 0 && connection.ways[1].requests != 0 ? End::b : End::a;
    if (connection.cm_attempt && *connection.cm_attempt < timeline_->cm.attempts.size())
        describe_set_up(timeline_->cm.attempts[*connection.cm_attempt]);
    recorded_.gaps.one_way = connection.one_way();
    if (connection.service != Service::rc && connection.service != Service::uc)
        refusal_ = fmt::format("connection {} is {}: only RC and UC connections can be replayed",
                               std::to_underlying(uid_), service_name(connection.service));
}

void ConversationCollector::describe_set_up(const CmAttempt& attempt) {
    recorded_.set_up = true;
    recorded_.requester = End::a;
    const auto take = [](RecordedEnd& end, const CmSide& side) {
        end.responder_resources = side.responder_resources;
        end.initiator_depth = side.initiator_depth;
        end.rnr_retry_count = side.rnr_retry_count;
        end.shared_receive_queue = side.shared_receive_queue.value_or(false);
        end.private_data = side.private_data;
    };
    const bool a_is_active = connection_->end(End::a).address == attempt.active.address &&
                             connection_->end(End::a).qpn == attempt.active.qpn;
    if (!a_is_active) recorded_.requester = End::b;
    const End active = recorded_.requester;
    take(recorded_.ends[static_cast<std::size_t>(active)], attempt.active);
    take(recorded_.ends[static_cast<std::size_t>(other(active))], attempt.passive);
    if (attempt.ip) recorded_.port = attempt.ip->port;
    recorded_.retry_count = attempt.retry_count;
    for (const CmRung& rung : attempt.ladder)
        if (rung.message == CmMessage::dreq && !recorded_.taken_down_by)
            recorded_.taken_down_by = rung.from_active ? active : other(active);
}

// Which end sent the packet; nothing where it is none of ours.
std::optional<End> ConversationCollector::sender(const Observation& observation, const PacketRecord& record) const {
    if (!record.connection || connection_ == nullptr) return std::nullopt;
    if (*record.connection != uid_ && timeline_->find(*record.connection) != nullptr)
        return std::nullopt;  // it stayed another one
    for (const End end : {End::a, End::b}) {
        const transport::Endpoint& from = connection_->end(end);
        const transport::Endpoint& to = connection_->end(other(end));
        if (observation.flow.source == from.address && observation.flow.destination == to.address &&
            to.qpn == observation.flow.destination_qp)
            return end;
    }
    return std::nullopt;
}

void ConversationCollector::packet(const Observation& observation, const PacketRecord& record) {
    if (refusal_ || observation.kind != ObservationKind::transport || record.corrupt || record.mirror_copy) return;
    const auto from = sender(observation, record);
    if (!from) return;
    PacketRecord ours = record;
    ours.from = *from;
    store_.keep(observation, ours);
    keep_marks(*from, observation);
}

void ConversationCollector::keep_marks(End from, const Observation& observation) {
    const bool request = info(observation.opcode).request;
    std::vector<Mark>& marks = marks_[static_cast<std::size_t>(request ? from : other(from))];
    std::optional<MarkKind> kind;
    if (request && observation.solicited) kind = MarkKind::solicited;
    if (!request && observation.acknowledgment) {
        const Acknowledgment& answer = *observation.acknowledgment;
        if (answer.type() == kRnrNak) kind = MarkKind::rnr;
        if (answer.type() == kNak && answer.code() == 0) kind = MarkKind::sequence;
    }
    if (!kind) return;
    if (marks.size() == kMaxMarks) marks.erase(marks.begin(), marks.begin() + kMaxMarks / 2);
    marks.push_back({*kind, observation.psn, observation.frame, observation.time});
}

void ConversationCollector::take_marks(RecordedMessage& recorded) {
    const Message& message = recorded.message;
    std::erase_if(marks_[static_cast<std::size_t>(recorded.from)], [&](const Mark& mark) {
        if (message.covers(mark.psn) && mark.frame >= message.first_frame) {
            switch (mark.kind) {
                case MarkKind::rnr:
                    ++recorded.rnr_naks;
                    recorded.last_rnr = mark.time;
                    recorded.last_rnr_frame = mark.frame;
                    break;
                case MarkKind::sequence: ++recorded.sequence_naks; break;
                case MarkKind::solicited: recorded.solicited = true; break;
            }
            return true;
        }
        return mark.psn.before(message.first);  // of messages that are gone
    });
}

void ConversationCollector::message(ConnectionId connection, End requester, const Message& message) {
    if (refusal_ || connection != uid_) return;
    if (recorded_.messages.size() == kMaxConversationMessages) {
        refusal_ = fmt::format("connection {} has more than {}", std::to_underlying(uid_),
                               counted(kMaxConversationMessages, "message"));
        return;
    }
    if (!has_room(kMessageCost)) return;
    RecordedMessage& recorded = recorded_.messages.emplace_back();
    recorded.from = requester;
    recorded.message = message;
    take_marks(recorded);
    if (!has_payload(message)) return;
    const MessagePayload payload = store_.take(requester, message);
    const std::uint64_t size = packet_size(payload, message.span(), recorded_.mtu != 0 ? recorded_.mtu : kUnknownMtu);
    const bool unanswered_read = message.verb == Verb::read_request && payload.pieces.empty();
    const std::uint64_t length =
        unanswered_read && message.outcome != Outcome::completed ? 0 : length_of(message, payload, size);
    const std::uint64_t captured = payload.bytes.size();
    if (length > captured && length - captured > kMaxHoleOfMessage) {
        refusal_ = fmt::format("a message of connection {} has {}, of which {} were captured", std::to_underlying(uid_),
                               bytes_text(length), bytes_text(captured));
        return;
    }
    // It may be missing in as many places as it has pieces.
    if (!has_room(length + (payload.pieces.size() + 1) * sizeof(ByteRange))) return;
    recorded.payload = laid_out(payload, length, size);
}

// Takes so many bytes more of the memory, or refuses.
bool ConversationCollector::has_room(std::uint64_t bytes) {
    bytes_ += bytes;
    if (bytes_ <= most_) return true;
    refusal_ =
        fmt::format("connection {} carries more than {}, the part of the memory that holds it: --memory grants more",
                    std::to_underlying(uid_), bytes_text(most_));
    recorded_.messages = {};
    return false;
}

std::expected<RecordedConversation, std::string> ConversationCollector::finish() {
    if (!refusal_ && recorded_.messages.empty())
        refusal_ = fmt::format("connection {} has no messages", std::to_underlying(uid_));
    if (refusal_) return std::unexpected(*refusal_);
    put_in_order(recorded_.messages);
    for (const RecordedMessage& each : recorded_.messages) {
        const std::uint64_t missing = each.payload.missing();
        if (!each.is_playable()) ++recorded_.gaps.unplayable;
        else if (missing != 0) ++recorded_.gaps.incomplete;
        recorded_.gaps.missing_bytes += missing;
    }
    recorded_.gaps.let_go = store_.let_go();
    return std::move(recorded_);
}

}  // namespace qps::transport::live
