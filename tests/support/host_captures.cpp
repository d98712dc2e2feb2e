#include <dissect/base/packet.hpp>
#include <tests/simulator/simulation.hpp>
#include <tests/support/host_captures.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace qps::transport {

using namespace qps::dissect;

namespace {

Scenario scenario_of(Draws& draws, std::uint64_t seed, std::uint32_t run) {
    constexpr std::array kKinds{WorkKind::send, WorkKind::write, WorkKind::write_with_immediate, WorkKind::read,
                                WorkKind::fetch_add};
    Scenario scenario;
    scenario.seed = seed;
    for (std::uint64_t i = 0, count = 1 + draws.below(12); i < count; ++i)
        scenario.messages.push_back({.kind = kKinds[draws.below(kKinds.size())],
                                     .bytes = static_cast<std::uint32_t>(draws.below(30'000)),
                                     .from = draws.chance(0.7) ? End::a : End::b});
    scenario.queue_pairs = static_cast<std::uint32_t>(1 + draws.below(3));
    scenario.first_qpn = Qpn{0x11 + 16 * run};  // hosts that talk in several runs use others each time
    scenario.counts_identifications = draws.chance(0.7);
    scenario.ack_every = static_cast<std::uint32_t>(1 + draws.below(5));
    const double worst = draws.chance(0.7) ? 0.03 : 0;
    for (LinkFaults* faults : {&scenario.link.a_to_b, &scenario.link.b_to_a}) faults->loss = draws.unit() * worst;
    return scenario;
}

void add_run(const Simulated& simulated, std::uint64_t a, std::uint64_t b, Duration later, ClusterTraffic& traffic) {
    Packet packet;
    for (const CapturedFrame& captured : simulated.frames) {
        Frame frame;
        frame.bytes = captured.bytes;
        frame.wire_length = captured.wire_length;
        frame.link = simulated.link;
        frame.time = captured.time + later;
        decode(frame, packet);
        traffic.add(packet);
        send_between(traffic.observations.back(), a, b);
    }
}

void note_truth(const Truth& truth, std::uint64_t a, std::uint64_t b, HostCaptures& made) {
    for (const FlowTruth& flow : truth.flows) {
        made.requests += flow.requests.size();
        for (const Transmission& sent : flow.requests)
            if (sent.disposition.lost)
                made.lost.emplace(cluster_host(flow.from == End::a ? a : b), flow.responder_qp, sent.psn.value());
        for (const Transmission& sent : flow.responses)
            if (sent.disposition.lost)
                made.lost_answers.emplace(cluster_host(flow.from == End::a ? a : b), flow.responder_qp,
                                          sent.psn.value());
    }
}

}  // namespace

HostCaptures captures_of_hosts(std::uint64_t seed) {
    Draws draws(seed * 6007 + 29);
    const std::uint64_t hosts = 2 + draws.below(39);
    HostCaptures made;
    std::map<std::uint64_t, HostCapture> captures;  // by host
    const auto capture_of = [&](std::uint64_t host) -> HostCapture& {
        const auto [place, is_new] = captures.try_emplace(host);
        if (is_new) {
            place->second.host = host;
            place->second.clock = Duration{static_cast<std::int64_t>(draws.below(10'000'000'000)) - 5'000'000'000};
        }
        return place->second;
    };
    for (std::uint32_t run = 0, count = 1 + static_cast<std::uint32_t>(draws.below(std::min<std::uint64_t>(hosts, 12)));
         run < count; ++run) {
        Scenario scenario = scenario_of(draws, seed * 64 + run, run);
        const std::uint64_t a = draws.below(hosts), b = (a + 1 + draws.below(hosts - 1)) % hosts;
        const Duration later{static_cast<std::int64_t>(draws.below(200'000))};
        scenario.tap.place = TapPlace::end_a;
        const Simulated at_a = simulate(scenario);
        scenario.tap.place = TapPlace::end_b;
        add_run(at_a, a, b, later + capture_of(a).clock, capture_of(a).traffic);
        add_run(simulate(scenario), a, b, later + capture_of(b).clock, capture_of(b).traffic);
        note_truth(at_a.truth, a, b, made);
        made.connections += scenario.queue_pairs;
        made.at_both_ends += scenario.queue_pairs;
    }
    for (auto& [host, capture] : captures) {
        std::ranges::stable_sort(capture.traffic.observations, {}, &Observation::time);
        for (std::size_t i = 0; i < capture.traffic.observations.size(); ++i)
            capture.traffic.observations[i].frame = FrameIndex{i + 1};
        made.captures.push_back(std::move(capture));
    }
    return made;
}

}  // namespace qps::transport
