#include <dissect/base/bytes.hpp>
#include <transport-replay/series/statistics.hpp>

#include <algorithm>
#include <cmath>

namespace qps::transport::series {

using namespace dissect;

namespace {

std::size_t length_class(std::uint32_t length) {
    const auto above = std::ranges::upper_bound(kLengthBounds, length);
    return static_cast<std::size_t>(above - kLengthBounds.begin()) - 1;
}

// The byte that IPv4 calls type of service and IPv6 traffic class; nothing where the packet has no IP.
std::optional<std::uint8_t> traffic_byte(const Packet& packet) {
    const Layer& network = packet.layer_storage[packet.network_layer];
    const Bytes bytes = packet.bytes_of(network);
    if (bytes.size() < 2) return std::nullopt;
    if (network.kind == LayerKind::ipv4) return read_be<std::uint8_t>(bytes, 1);
    if (network.kind == LayerKind::ipv6) return static_cast<std::uint8_t>(read_be<std::uint16_t>(bytes, 0) >> 4);
    return std::nullopt;
}

}  // namespace

std::string_view ecn_name(std::uint8_t ecn) {
    constexpr std::array<std::string_view, 4> kNames{"Not-ECT", "ECT(1)", "ECT(0)", "CE"};
    return kNames[ecn & 3U];
}

double HostsPorts::entropy() const {
    double sum = 0;
    std::uint64_t told = 0;
    for (const auto& [port, count] : packets) told += count;
    for (const auto& [port, count] : packets) {
        const double share = static_cast<double>(count) / static_cast<double>(told);
        sum -= share * std::log2(share);
    }
    return std::max(0.0, sum);
}

double HostsPorts::greatest_share() const {
    std::uint64_t most = 0;
    for (const auto& [port, count] : packets) most = std::max(most, count);
    return all.packets == 0 ? 0 : static_cast<double>(most) / static_cast<double>(all.packets);
}

void Statistics::count_port(const Observation& observation) {
    const Hosts hosts{observation.flow.source, observation.flow.destination};
    auto found = ports.find(hosts);
    if (found == ports.end()) {
        if (ports.size() == kMostPairs) {
            ++untold_pairs;
            return;
        }
        found = ports.try_emplace(hosts).first;
    }
    HostsPorts& pair = found->second;
    pair.all.add({1, observation.wire_length});
    if (const auto port = pair.packets.find(observation.udp_source_port); port != pair.packets.end()) ++port->second;
    else if (told_ports_ < kMostPorts) {
        pair.packets.emplace(observation.udp_source_port, 1);
        ++told_ports_;
    } else ++pair.untold;
    tell_queue_pair(pair, observation.flow.destination_qp);
}

void Statistics::tell_queue_pair(HostsPorts& pair, Qpn queue_pair) {
    if (pair.queue_pairs.contains(queue_pair)) return;
    pair.more_queue_pairs |=
        pair.queue_pairs.size() == HostsPorts::kMostQueuePairs || told_queue_pairs_ == kMostQueuePairs;
    if (pair.more_queue_pairs) return;
    pair.queue_pairs.insert(queue_pair);
    ++told_queue_pairs_;
}

void Statistics::count(const Packet& packet) {
    dissect::count(census, packet);
    const Share one{1, packet.frame.wire_bytes()};
    lengths[length_class(packet.frame.wire_bytes())].add(one);
    if (packet.encapsulation == Encapsulation::none) return;
    Observation observation;
    observe(packet, observation);
    if (const auto traffic = traffic_byte(packet)) {
        const auto dscp = static_cast<std::uint8_t>(*traffic >> 2);
        classes[{dscp, observation.pcp, static_cast<std::uint8_t>(*traffic & 3U)}].add(one);
    }
    if (packet.encapsulation == Encapsulation::roce_v2 && observation.kind == ObservationKind::transport)
        count_port(observation);
}

void Statistics::add(Statistics&& next) {
    dissect::add(census, next.census);
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i].add(next.lengths[i]);
    for (const auto& [name, share] : next.classes) classes[name].add(share);
    for (auto& [hosts, from] : next.ports) {
        auto found = ports.find(hosts);
        if (found == ports.end() && ports.size() == kMostPairs) {
            untold_pairs += from.all.packets;
            continue;
        }
        if (found == ports.end()) found = ports.try_emplace(hosts).first;
        HostsPorts& to = found->second;
        to.all.add(from.all);
        to.untold += from.untold;
        for (const auto& [port, count] : from.packets) {
            if (const auto known = to.packets.find(port); known != to.packets.end()) known->second += count;
            else if (told_ports_ < kMostPorts) {
                to.packets.emplace(port, count);
                ++told_ports_;
            } else to.untold += count;
        }
        to.more_queue_pairs |= from.more_queue_pairs;
        for (const Qpn queue_pair : from.queue_pairs) tell_queue_pair(to, queue_pair);
    }
    untold_pairs += next.untold_pairs;
    unreadable += next.unreadable;
}

std::optional<Statistics> statistics(const std::shared_ptr<const CaptureIndex>& index, std::uint64_t packets,
                                     const RowSet* only, const PassWatch& watch) {
    Statistics sum;
    const auto begin = [&] {
        return [&, reader = PacketReader(index)](std::uint64_t piece) mutable {
            Statistics part;
            const std::uint64_t end = std::min(packets, (piece + 1) * RowSet::kPieceRows);
            for (std::uint64_t row = piece * RowSet::kPieceRows; row < end; ++row) {
                const FrameIndex frame{row + 1};
                if (only != nullptr && !only->contains(frame)) continue;
                if ((row & 0xffU) == 0 && watch.stop()) break;
                if (const Packet* packet = reader.read(frame)) part.count(*packet);
                else ++part.unreadable;
            }
            return part;
        };
    };
    if (!pass_pieces<Statistics>(pieces_of(packets), watch, begin,
                                 [&](Statistics&& part) { sum.add(std::move(part)); }))
        return std::nullopt;
    return sum;
}

}  // namespace qps::transport::series
