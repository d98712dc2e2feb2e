#include <dissect/base/packet.hpp>
#include <tests/simulator/simulation.hpp>
#include <tests/support/cluster_traffic.hpp>

#include <algorithm>
#include <array>

namespace qps::transport {

using namespace qps::dissect;

void ClusterTraffic::add(const Packet& packet) {
    Observation& made = observations.emplace_back();
    observe(packet, made);
    const std::vector<std::byte>& kept = bytes.emplace_back(made.payload.begin(), made.payload.end());
    made.payload = kept;
}

Address cluster_host(std::uint64_t number) { return {{0, 0xffff'0a00'0000 + number}, AddressSpace::roce_v2}; }

// The same two hosts again and again are not what a cluster is: every run of the simulator gets two hosts of its own
// out of some.
void send_between(Observation& observation, std::uint64_t a, std::uint64_t b) {
    const bool from_a = observation.flow.source == address_of(End::a, Network::roce_v2_ipv4);
    observation.flow.source = cluster_host(from_a ? a : b);
    observation.flow.destination = cluster_host(from_a ? b : a);
    observation.flow_hash = FlowHash{}(observation.flow);
    observation.hosts_hash =
        static_cast<std::uint32_t>(hash_of(observation.flow.source) + hash_of(observation.flow.destination));
    observation.packet_hash = mix(observation.packet_hash + observation.flow_hash);
}

namespace {

Scenario scenario_of(Draws& draws, std::uint64_t seed) {
    constexpr std::array kSomeKinds{WorkKind::send, WorkKind::write, WorkKind::write_with_immediate, WorkKind::read,
                                    WorkKind::fetch_add};
    Scenario scenario;
    scenario.seed = seed;
    for (std::uint64_t i = 0, count = 1 + draws.below(8); i < count; ++i)
        scenario.messages.push_back({.kind = kSomeKinds[draws.below(kSomeKinds.size())],
                                     .bytes = static_cast<std::uint32_t>(draws.below(20'000)),
                                     .from = draws.chance(0.7) ? End::a : End::b});
    scenario.queue_pairs = static_cast<std::uint32_t>(1 + draws.below(3));
    scenario.first_qpn = Qpn{static_cast<std::uint32_t>(0x11 + 16 * draws.below(4))};
    scenario.counts_identifications = draws.chance(0.7);
    scenario.ack_every = static_cast<std::uint32_t>(1 + draws.below(5));
    const double worst = draws.chance(0.5) ? 0.05 : 0;
    for (LinkFaults* faults : {&scenario.link.a_to_b, &scenario.link.b_to_a})
        *faults = {draws.unit() * worst, draws.unit() * worst, draws.unit() * worst, draws.unit() * worst,
                   draws.unit() * worst};
    scenario.tap.place = static_cast<TapPlace>(draws.below(3));
    return scenario;
}

}  // namespace

ClusterTraffic cluster_of(std::uint64_t seed) {
    Draws draws(seed * 7919 + 17);
    const std::uint64_t hosts = 2 + draws.below(39);
    ClusterTraffic traffic;
    for (std::uint64_t run = 0, count = 1 + draws.below(std::min<std::uint64_t>(hosts, 16)); run < count; ++run) {
        const Simulated simulated = simulate(scenario_of(draws, seed * 64 + run));
        const std::uint64_t a = draws.below(hosts),
                            b = draws.chance(0.3) ? 0 : draws.below(hosts);  // some receive from many
        const Duration shift{static_cast<std::int64_t>(draws.below(200'000))};
        Packet packet;
        for (const CapturedFrame& captured : simulated.frames) {
            Frame frame;
            frame.bytes = captured.bytes;
            frame.wire_length = captured.wire_length;
            frame.link = simulated.link;
            frame.time = captured.time + shift;
            decode(frame, packet);
            traffic.add(packet);
            send_between(traffic.observations.back(), a, a == b ? b + 100 : b);
        }
    }
    std::ranges::stable_sort(traffic.observations, {}, &Observation::time);
    for (std::size_t i = 0; i < traffic.observations.size(); ++i) traffic.observations[i].frame = FrameIndex{i + 1};
    return traffic;
}

}  // namespace qps::transport
