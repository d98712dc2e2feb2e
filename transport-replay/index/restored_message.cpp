// A message of an open capture again as a Message.
#include <dissect/base/opcode.hpp>
#include <transport-replay/index/restored_message.hpp>

#include <array>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::array kVerbs{
    Verb::send,         Verb::write, Verb::write,       Verb::read_request,
    Verb::compare_swap, Verb::flush, Verb::atomic_write};  // by MessageKind; which atomic its packet says
static_assert(kVerbs.size() == kMessageKindNames.size());

// Over TCP packets have no opcodes and messages no PSNs; those of Ultra Ethernet are not kept in rows.
void restore_stream(Message& message, const CaptureIndex& index, const MessageRow& row) {
    const PacketRow& first = index.row(message.first_frame);
    message.service = first.kind() == ObservationKind::stream ? Service::iwarp : Service::uet;
    message.verb = kVerbs[static_cast<std::size_t>(row.kind())];
    message.first_time = message.last_time = first.time();
    message.starts = message.ends = true;
    if (index.has(message.last_frame)) message.last_time = index.row(message.last_frame).time();
    if (index.has(message.answer_frame)) message.answer_time = index.row(message.answer_frame).time();
}

}  // namespace

Message restored(const CaptureIndex& index, const MessageRow& row) {
    Message message;
    message.outcome = row.outcome();
    message.nak_code = row.nak_code();
    message.bytes = row.bytes();
    message.retransmissions = row.retransmissions();
    message.first_frame = row.first_frame();
    message.last_frame = row.last_frame();
    message.answer_frame = row.answer_frame().value_or(FrameIndex{});
    if (!index.has(message.first_frame)) return message;
    const PacketRow& first = index.row(message.first_frame);
    if (first.kind() == ObservationKind::stream || first.kind() == ObservationKind::ultra_ethernet) {
        restore_stream(message, index, row);
        return message;
    }
    const OpcodeRow& opcode = info(first.opcode());
    message.service = opcode.service;
    message.verb = opcode.verb;
    message.first = first.psn();
    message.last = message.first + (row.psns() == 0 ? 0 : row.psns() - 1);
    message.first_time = first.time();
    message.starts = begins_message(opcode.place);
    if (index.has(message.last_frame)) {
        const PacketRow& last = index.row(message.last_frame);
        const OpcodeRow& row_of_last = info(last.opcode());
        message.last_time = last.time();
        message.ends = row_of_last.ends_message();
        message.with_immediate = row_of_last.has_immediate();
    }
    if (index.has(message.answer_frame)) message.answer_time = index.row(message.answer_frame).time();
    return message;
}

void add_operands(Message& message, PacketReader& reader) {
    const auto read = [&reader](FrameIndex frame, Observation& observation) {
        const Packet* packet = frame == FrameIndex{} ? nullptr : reader.read(frame);
        if (packet == nullptr) return false;
        observe(*packet, observation);
        return true;
    };
    Observation seen;
    if (read(message.first_frame, seen)) {
        message.access = seen.access;
        message.atomic = seen.atomic;
    }
    Observation last;
    if (read(message.last_frame, last)) {
        message.immediate = last.immediate;
        message.invalidate = last.invalidate;
    }
    Observation answer;
    if (is_atomic(message.verb) && read(message.answer_frame, answer)) message.atomic_result = answer.atomic_result();
}

}  // namespace qps::transport
