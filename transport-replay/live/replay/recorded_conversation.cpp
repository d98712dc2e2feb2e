#include <transport-replay/live/replay/recorded_conversation.hpp>

namespace qps::transport::live {

using namespace dissect;

std::uint64_t RecordedPayload::missing() const {
    std::uint64_t sum = 0;
    for (const ByteRange& hole : holes) sum += hole.length;
    return sum;
}

std::uint64_t RecordedMessage::bytes_to_post() const {
    if (message.verb == Verb::read_request) return message.access ? message.access->length : 0;
    return is_atomic() ? sizeof(std::uint64_t) : payload.bytes.size();
}

bool RecordedMessage::is_playable() const {
    switch (message.verb) {
        case Verb::send: return message.starts;
        case Verb::write:
        case Verb::read_request:
        case Verb::flush:
        case Verb::atomic_write: return message.access.has_value();
        case Verb::compare_swap:
        case Verb::fetch_add: return message.access && message.atomic;
        default: return false;
    }
}

}  // namespace qps::transport::live
