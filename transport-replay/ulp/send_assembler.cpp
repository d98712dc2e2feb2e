#include <transport-replay/ulp/send_assembler.hpp>

namespace qps::transport {

using namespace dissect;

UlpMessage datagram(const Observation& observation, const PacketRecord& record) {
    UlpMessage message;
    message.connection = *record.connection;
    message.from = record.from;
    message.bytes = observation.payload;
    message.length = observation.payload_length;
    message.begun = message.time = observation.time;
    message.first_frame = message.last_frame = observation.frame;
    message.psn = observation.psn;
    message.immediate = observation.immediate;
    return message;
}

// Handed out before: it comes again because its answer was late.
bool SendAssembler::is_known(Psn psn) const { return any_ && !newest_.before(psn); }

std::optional<UlpMessage> SendAssembler::take(const Observation& observation, const PacketRecord& record,
                                              ByteShare& share, bool keeps) {
    const Place place = info(observation.opcode).place;
    const bool begins = begins_message(place);
    if (record.arrival == Arrival::restart) any_ = false;
    // A packet that came late is older than the newest message and new all the same.
    if (is_known(observation.psn) && record.arrival != Arrival::late) return std::nullopt;
    if (begins) {
        message_ = {};
        message_.connection = *record.connection;
        message_.from = record.from;
        message_.begun = observation.time;
        message_.first_frame = observation.frame;
        message_.psn = observation.psn;
        held_.clear();
        open_ = true;
    } else if (!open_ || observation.psn != next_) {
        return std::nullopt;
    }
    next_ = observation.psn + 1;
    message_.length += observation.payload_length;
    message_.time = observation.time;
    message_.last_frame = observation.frame;
    message_.immediate = observation.immediate;
    message_.invalidate = observation.invalidate;
    if (place == Place::only) {
        message_.bytes = observation.payload;
    } else {
        const Bytes more = slice(observation.payload, 0, kMostHeld - held_.size());
        if (keeps && held_.size() + observation.payload_length >= message_.length) held_.append(share, more);
        if (place != Place::last) return std::nullopt;
        message_.bytes = held_.bytes();
    }
    open_ = false;
    if (!any_ || newest_.before(observation.psn)) newest_ = observation.psn;
    any_ = true;
    return message_;
}

}  // namespace qps::transport
