// Two programs that tell each other of queue pairs over TCP, and then use them: segments and packets into an analysis.
#pragma once

#include <dissect/base/bytes.hpp>
#include <tests/support/analysed_wire.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace qps::tests {

// A TCP connection of host 1 with host 2, and RDMA between them.
struct Programs {
    static constexpr std::uint32_t kClientPort = 40000, kServerPort = 18515;
    static constexpr std::byte kSyn{0x02}, kFin{0x01}, kAck{0x10};
    AnalysedWire wire;
    std::array<std::uint32_t, 2> seq{1000, 5000};

    void segment(std::size_t from, std::uint32_t at, const std::string& data, std::byte flags = kAck) {
        std::vector<std::byte> bytes(20);
        dissect::write_bits(bytes, 32, 32, at);
        bytes[12] = std::byte{0x50};
        bytes[13] = flags;
        for (const char c : data) bytes.push_back(static_cast<std::byte>(c));
        transport::Observation made;
        made.kind = transport::ObservationKind::stream;
        made.frame = dissect::FrameIndex{++wire.clock};
        made.time = dissect::Instant{static_cast<std::int64_t>(wire.clock * 1000)};
        const auto port = [&](std::size_t end) { return dissect::Qpn{end == 0 ? kClientPort : kServerPort}; };
        made.flow = {AnalysedWire::host(from == 0 ? 1 : 2), AnalysedWire::host(from == 0 ? 2 : 1), port(1 - from),
                     port(from)};
        made.flow_hash = transport::FlowHash{}(made.flow);
        made.packet_hash = transport::mix(wire.clock);
        made.payload = bytes;
        made.payload_length = static_cast<std::uint32_t>(data.size());
        made.wire_length = 100;
        wire.analysis.observe(made);
    }
    void say(std::size_t from, const std::string& data) {
        segment(from, seq[from], data);
        seq[from] += static_cast<std::uint32_t>(data.size());
    }
    void skip(std::size_t from, std::size_t bytes) { seq[from] += static_cast<std::uint32_t>(bytes); }
    // SENDs of host 1 to queue pair `b`, which queue pair `a` gets the ACKs of.
    void send(std::uint32_t a, std::uint32_t b, std::uint32_t psn, unsigned count = 8) {
        for (unsigned i = 0; i < count; ++i) {
            wire.packet(1, 2, b, kRcSendOnly, psn + i);
            wire.packet(2, 1, a, kRcAcknowledge, psn + i);
        }
    }
    transport::Timeline finish() { return wire.analysis.finish(); }
};

[[nodiscard]] inline std::uint32_t qp_number(const transport::Endpoint& end) {
    return end.qpn ? static_cast<std::uint32_t>(*end.qpn) : 0;
}
// "17-33 exchange", by the queue pair of host 2.
[[nodiscard]] inline std::vector<std::string> host_pairs(const transport::Timeline& timeline) {
    std::vector<std::string> said;
    for (const transport::Connection& connection : timeline.connections) {
        const bool turned = connection.ends[0].address == AnalysedWire::host(2);
        said.push_back(fmt::format("{}-{} {}", qp_number(connection.ends[turned ? 1 : 0]),
                                   qp_number(connection.ends[turned ? 0 : 1]),
                                   transport::kJoinedByNames[static_cast<std::size_t>(connection.joined_by)]));
    }
    std::ranges::sort(said);
    return said;
}
using HostPairNames = std::vector<std::string>;

}  // namespace qps::tests
