#include <transport-replay/model/totals.hpp>

namespace qps::transport {

void Totals::add(const Connection& connection) {
    for (const End end : {End::a, End::b}) {
        const Way& way = connection.way(end);
        for (std::size_t kind = 0; kind < messages.size(); ++kind) messages[kind] += way.messages[kind];
        message_bytes += way.message_bytes;
        retransmitted_packets += way.incidents->retransmitted;
        // Of Ultra Ethernet nothing tells who doubled them.
        if (connection.service != dissect::Service::uet) duplicated_packets += way.incidents->duplicated;
        sequence_naks += way.incidents->sequence_naks;
        rnr_naks += way.incidents->rnr_naks;
        fatal_naks += way.incidents->fatal_naks;
        acks += way.acks;
        // Marks of the others are counted where their CNPs are.
        if (connection.service == dissect::Service::uet || connection.service == dissect::Service::iwarp)
            ce_marked += way.incidents->congestion_experienced;
        timeouts += connection.timeouts(end);
    }
}

void Retired::add(const Connection& connection) {
    ++connections;
    packets += connection.all_packets();
    bytes += connection.all_bytes();
    totals.add(connection);
}

void Totals::add(const Totals& others) {
    for (std::size_t kind = 0; kind < messages.size(); ++kind) messages[kind] += others.messages[kind];
    message_bytes += others.message_bytes;
    management += others.management;
    retransmitted_packets += others.retransmitted_packets;
    duplicated_packets += others.duplicated_packets;
    sequence_naks += others.sequence_naks;
    rnr_naks += others.rnr_naks;
    fatal_naks += others.fatal_naks;
    acks += others.acks;
    ce_marked += others.ce_marked;
    cnps += others.cnps;
    timeouts += others.timeouts;
}

void Retired::add(const Retired& others) {
    connections += others.connections;
    packets += others.packets;
    bytes += others.bytes;
    under_way += others.under_way;
    with_problems += others.with_problems;
    totals.add(others.totals);
}

}  // namespace qps::transport
