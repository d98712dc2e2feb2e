#include <transport-replay/model/totals.hpp>

namespace qps::transport {

void Totals::add(const Connection& connection) {
    for (const End end : {End::a, End::b}) {
        const Way& way = connection.way(end);
        for (std::size_t kind = 0; kind < messages.size(); ++kind) messages[kind] += way.messages[kind];
        message_bytes += way.message_bytes;
        retransmitted_packets += way.retransmitted;
        duplicated_packets += way.duplicated;
        sequence_naks += way.sequence_naks;
        rnr_naks += way.rnr_naks;
        fatal_naks += way.fatal_naks;
        acks += way.acks;
        const bool known = connection.way(other(end)).unread_answers == 0;  // else it may have been a NAK
        if (known) timeouts += way.recovery(RecoveryKind::timeout).triggers;
    }
}

void Retired::add(const Connection& connection) {
    ++connections;
    packets += connection.packets();
    bytes += connection.bytes();
    totals.add(connection);
}

}  // namespace qps::transport
