#include <gui/packets/corresponding.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace qps::gui {

using namespace dissect;
using transport::MessageRow;
using transport::PacketRow;

namespace {

bool carriesOf(const PacketRows& rows, const MessageRow& message, const PacketRow& row) {
    return transport::carries(message, rows.row(message.first_frame()), rows.row(message.last_frame()), row);
}

// The first request packet that was seen may not be its first.
bool asks(const PacketRows& rows, const MessageRow& message, FrameIndex frame, const PacketRow& row) {
    return row.from() == message.requester() && message.first_frame() <= frame && frame <= message.last_frame() &&
           (frame == message.first_frame() || frame == message.last_frame() || carriesOf(rows, message, row));
}

// A response that comes before the last one of a READ.
bool responds(const PacketRows& rows, const MessageRow& message, FrameIndex frame, const PacketRow& row) {
    return row.from() != message.requester() && message.first_frame() < frame &&
           frame < message.answer_frame().value_or(FrameIndex{}) && carriesOf(rows, message, row);
}

std::string psnRange(Psn first, Psn last) {
    if (first.value() <= last.value()) return fmt::format("{}..{}", first.value(), last.value());
    return fmt::format("{}..{}, 0..{}", first.value(), Psn::kMask, last.value());
}

}  // namespace

namespace {

// Its place among the messages.
std::optional<std::uint64_t> placeOfMessage(const PacketRows& rows, FrameIndex frame) {
    const auto* messages = rows.messages();
    const PacketRow row = rows.row(frame);
    if (messages == nullptr || !row.connection()) return std::nullopt;
    std::optional<std::uint64_t> answered;
    std::optional<std::uint64_t> responded;
    const std::uint64_t count = messages->size();
    for (std::uint64_t i = 0; i < count; ++i) {
        const MessageRow& message = (*messages)[i];
        if (message.connection() != *row.connection() || frame < message.first_frame()) continue;
        if (asks(rows, message, frame, row)) return i;
        if (message.answer_frame() == frame) answered = i;
        else if (responds(rows, message, frame, row)) responded = i;
    }
    return answered ? answered : responded;
}

}  // namespace

std::optional<MessageRow> messageOf(const PacketRows& rows, FrameIndex frame) {
    const auto place = placeOfMessage(rows, frame);
    return place ? std::optional((*rows.messages())[*place]) : std::nullopt;
}

std::optional<MessageFrames> messageFramesOf(const PacketRows& rows, FrameIndex frame) {
    constexpr std::size_t kMostFrames = 4096;
    constexpr std::uint64_t kMostLookedAt = 1 << 20;  // rows: some milliseconds
    const auto place = placeOfMessage(rows, frame);
    if (!place) return std::nullopt;
    const MessageRow message = (*rows.messages())[*place];
    const std::uint64_t last =
        std::to_underlying(std::max(message.last_frame(), message.answer_frame().value_or(FrameIndex{})));
    MessageFrames found{.number = *place + 1, .frames = {}};
    const std::uint64_t first = std::to_underlying(message.first_frame());
    for (std::uint64_t at = first; at < last && at - first < kMostLookedAt && found.frames.size() < kMostFrames; ++at) {
        const PacketRow row = rows.row(FrameIndex{at});
        if (row.connection() != message.connection()) continue;
        if (asks(rows, message, FrameIndex{at}, row) || responds(rows, message, FrameIndex{at}, row))
            found.frames.push_back(static_cast<std::uint32_t>(at));
    }
    found.frames.push_back(static_cast<std::uint32_t>(last));
    return found;
}

std::optional<FrameIndex> correspondingTo(const PacketRows& rows, FrameIndex frame) {
    const std::optional<MessageRow> message = messageOf(rows, frame);
    if (!message) return std::nullopt;
    return asks(rows, *message, frame, rows.row(frame)) ? message->answer_frame()
                                                        : std::optional(message->first_frame());
}

namespace {

// Over TCP: the bytes of its request packets, what answers it, and of a READ the response.
std::string streamFilterOf(const PacketRows& rows, const MessageRow& message) {
    const PacketRow first = rows.row(message.first_frame());
    const PacketRow last = rows.row(message.last_frame());
    const std::uint32_t begin = first.tcp_sequence();
    const std::uint32_t end = last.tcp_sequence() + last.payload_length() - 1;
    const std::string bytes =
        begin <= end ? fmt::format("{}..{}", begin, end) : fmt::format("{}..{}, 0..{}", begin, UINT32_MAX, end);
    const auto answer = message.answer_frame();
    const bool read =
        message.kind() == transport::MessageKind::read || message.kind() == transport::MessageKind::atomic;
    std::string filter = fmt::format(
        "rdma.connection == {} and frame.number in {{{}..{}}} and (rdma.from == {} and tcp.seq_raw in {{{}}}",
        std::to_underlying(message.connection()), std::to_underlying(message.first_frame()),
        std::to_underlying(std::max(message.last_frame(), answer.value_or(message.last_frame()))),
        message.requester() == transport::End::a ? 'a' : 'b', bytes);
    if (read) filter += " or iwarp_rdma.opcode in {READ_RESPONSE, ATOMIC_RESPONSE}";
    if (answer) filter += fmt::format(" or frame.number == {}", std::to_underlying(*answer));
    return filter + ")";
}

// Of Ultra Ethernet: requests with its number, or its only one; and what answers it.
std::string contextFilterOf(const PacketRows& rows, const MessageRow& message) {
    const std::uint16_t id = rows.row(message.first_frame()).uet_message();
    const std::string requests = id != 0 ? fmt::format("uet.ses.std.message_id == {}", id)
                                         : fmt::format("uet.pds.psn == {}", rows.row(message.first_frame()).uet_psn());
    std::string filter = fmt::format(
        "rdma.connection == {} and frame.number in {{{}..{}}} and rdma.from == {} and {}",
        std::to_underlying(message.connection()), std::to_underlying(message.first_frame()),
        std::to_underlying(std::max(message.last_frame(), message.answer_frame().value_or(message.last_frame()))),
        message.requester() == transport::End::a ? 'a' : 'b', requests);
    if (const auto answer = message.answer_frame())
        filter += fmt::format(" or frame.number == {}", std::to_underlying(*answer));
    return filter;
}

}  // namespace

std::string messageFilterOf(const PacketRows& rows, FrameIndex frame) {
    const auto place = placeOfMessage(rows, frame);
    if (!place) return {};
    const MessageRow& message = (*rows.messages())[*place];
    if (rows.row(message.first_frame()).kind() != transport::ObservationKind::transport) return filterOf(rows, message);
    return fmt::format("rdma.message == {}", *place + 1);
}

std::string filterOf(const PacketRows& rows, const MessageRow& message) {
    if (rows.row(message.first_frame()).kind() == transport::ObservationKind::stream)
        return streamFilterOf(rows, message);
    if (rows.row(message.first_frame()).kind() == transport::ObservationKind::ultra_ethernet)
        return contextFilterOf(rows, message);
    const Psn first = rows.row(message.first_frame()).psn();
    const Psn last = first + (message.psns() == 0 ? 0 : message.psns() - 1);
    const char asker = message.requester() == transport::End::a ? 'a' : 'b';
    const char answerer = message.requester() == transport::End::a ? 'b' : 'a';
    const FrameIndex end = std::max(message.last_frame(), message.answer_frame().value_or(message.last_frame()));
    std::string filter =
        fmt::format("rdma.connection == {} and frame.number in {{{}..{}}} and infiniband.bth.psn in {{{}}} and "
                    "(rdma.from == {} and rdma.request == 1 or rdma.from == {} and rdma.request == 0)",
                    std::to_underlying(message.connection()), std::to_underlying(message.first_frame()),
                    std::to_underlying(end), psnRange(first, last), asker, answerer);
    // An ACK of later packets answers it too.
    if (const auto answer = message.answer_frame())
        filter += fmt::format(" or frame.number == {}", std::to_underlying(*answer));
    return filter;
}

}  // namespace qps::gui
