// A wire with data, CE marks, CNPs and pauses, and all that watches congestion on it.
#pragma once

#include <dissect/packet/build.hpp>
#include <tests/support/durations.hpp>
#include <tests/support/observations.hpp>
#include <transport-replay/analysis/lane.hpp>
#include <transport-replay/watch/pauses.hpp>

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace qps::tests {

using namespace dissect;
using namespace transport;

inline constexpr std::uint64_t kNet = 0xc0000200;  // 192.0.2.0
inline constexpr std::uint64_t kSender = kNet + 1, kReceiver = kNet + 2;

// All that is watched of congestion.
struct Watched {
    CongestionTracker marks;
    PauseTracker pauses;
    IncastTracker incasts;
    std::uint64_t packets = 0;
    Instant now{};

    void observe(const Observation& observation) {
        now = packets == 0 ? observation.time : std::max(now, observation.time);
        pauses.remember(observation);
        pauses.observe(observation);
        marks.observe(observation);
        if (Lane::carries_data(observation)) incasts.observe(observation, packets);
        ++packets;
    }
    [[nodiscard]] CongestionReport finish() {
        CongestionReport report = marks.finish(now);
        pauses.finish(now, report);
        tell_incasts(incasts.finish(), incasts.dropped(), report);
        report.packets = packets;
        return report;
    }
};

struct CongestedWire {
    Watched tracker;
    std::uint64_t frame = 0;
    BitsPerSecond speed{};

    void put(const PacketSpec& spec, std::int64_t time, bool corrupt = false) {
        std::vector<std::byte> bytes = build(spec);
        if (corrupt) bytes.back() ^= std::byte{1};  // of the ICRC
        Frame one = frame_of(spec, bytes);
        one.time = Instant{time};
        one.index = FrameIndex{++frame};
        one.link_speed = speed;
        Packet packet;
        decode(one, packet);
        Observation observation;
        observe(packet, observation);
        tracker.observe(observation);
    }
    static PacketSpec between(std::uint8_t opcode, std::uint64_t from, std::uint64_t to, std::uint64_t qp) {
        PacketSpec spec = transport_packet(Opcode{opcode}, Network::roce_v2_ipv4);
        set(spec, "ip.src", from);
        set(spec, "ip.dst", to);
        set(spec, "infiniband.bth.destqp", qp);
        return spec;
    }
    void data(std::int64_t time, bool marked = false, std::uint64_t qp = 0x22, std::size_t length = 64,
              std::uint64_t from = kSender) {
        PacketSpec spec = between(0x04, from, kReceiver, qp);
        set(spec, "ip.dsfield.ecn", marked ? 3 : 2);
        spec.payload.resize(length);
        put(spec, time);
    }
    void tagged(std::int64_t time, std::uint64_t to, std::optional<unsigned> priority, std::size_t length = 64) {
        PacketSpec spec = between(0x04, kSender, kReceiver, 0x22);
        set(spec, "eth.dst", to);
        if (priority) {
            spec.headers.insert(spec.headers.begin() + 1, {LayerKind::vlan});
            set(spec, "vlan.priority", *priority);
        }
        spec.payload.resize(length);
        put(spec, time);
    }
    void cnp(std::int64_t time, std::uint64_t qp = 0x21) { put(between(0x81, kReceiver, kSender, qp), time); }
    void pause(std::int64_t time, std::optional<unsigned> priority, std::uint64_t quanta,
               std::optional<std::uint64_t> from = {}) {
        PacketSpec spec;
        spec.headers = {
            {LayerKind::ethernet}, {LayerKind::mac_control}, {priority ? LayerKind::mac_pfc : LayerKind::mac_pause}};
        if (priority) {
            set(spec, "macc.cbfc.enbv", 1U << *priority);
            set(spec, fmt::format("macc.cbfc.pause_time.c{}", *priority), quanta);
        } else {
            set(spec, "macc.pause_time", quanta);
        }
        if (from) set(spec, "eth.src", *from);
        put(spec, time);
    }
};

}  // namespace qps::tests
