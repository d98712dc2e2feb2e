// Scenes of loss, disorder and refusals that simulated captures have too seldom, and of what captures lack, double and
// cut.
#include <tests/court/derive.hpp>
#include <tests/court/exhibits.hpp>
#include <tests/court/stage.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace qps::court {

namespace scenes {

namespace {

// Simulated traffic from host A of the simulator, with what the scene wants of it.
template <class Change> Recording simulated(unsigned variant, Change change) {
    constexpr std::uint64_t kSeeds = 700;
    transport::Scenario scenario = drawn_scenario(kSeeds + variant);
    scenario.link.a_to_b = scenario.link.b_to_a = {};
    scenario.receives = {};
    scenario.rnr_retries = transport::kInfiniteRnrRetries;
    for (transport::MessagePlan& message : scenario.messages)
        message = {.kind = transport::WorkKind::write, .bytes = 4000 + 1000 * variant, .from = transport::End::a};
    scenario.tap.place = transport::TapPlace::middle;
    change(scenario);
    return recorded(transport::simulate(scenario));
}

Recording derived(const Recording& whole, std::string_view name) {
    const auto all = derivations(false);
    const auto found = std::ranges::find(all, name, &Derivation::name);
    REQUIRE(found != all.end());
    return found->derive(whole);
}

// Answered until one is not: sent eight times or oftener, with an ACK timeout of 67.1 ms, and no more.
void retries_exceeded(Stage& stage, unsigned variant) {
    stage.dialogue(1, 2, 21, 8 + variant);
    for (unsigned i = 0; i < 8; ++i) {
        stage.send(1, 2, 21, 8 + variant);
        stage.wait((68 + variant) * kAMillisecond);
    }
    stage.wait(2 * kASecond);
    stage.dialogue(3, 4, 22);
}

// The link is away for a while: what three connections send at that time comes nowhere.
void stalled_together(Stage& stage, unsigned variant) {
    constexpr unsigned kPairs = 3;
    for (unsigned qp = 21; qp < 21 + kPairs; ++qp) stage.dialogue(1, 2, qp, 8 + variant);
    for (unsigned qp = 21; qp < 21 + kPairs; ++qp) stage.send(1, 2, qp, 8 + variant);
    stage.wait((300 + 100 * variant) * kAMillisecond);
    for (unsigned qp = 21; qp < 21 + kPairs; ++qp) {
        stage.dialogue(1, 2, qp, 4, {}, {}, 8 + variant);
        stage.wait(2 * kAMillisecond);
    }
}

// Eight connections with a UDP source port each, two of which take a path that loses packets.
void losses_by_udp_port(Stage& stage, unsigned variant) {
    constexpr unsigned kPairs = 8;
    unsigned next = 0;
    for (unsigned round = 0; round < 6 + variant; ++round, next += 4)
        for (unsigned qp = 21; qp < 21 + kPairs; ++qp) {
            const Settings port{{"udp.srcport", 49152 + 7 * qp}};
            if (qp >= 23) {
                stage.dialogue(1, 2, qp, 4, port, port, next);
                continue;
            }
            for (const unsigned i : {0U, 2U, 3U}) stage.send(1, 2, qp, next + i, port);
            stage.acknowledge(2, 1, qp, next + 1, joined(port, {{"infiniband.aeth.syndrome", 0x60}}));
            for (const unsigned i : {1U, 2U, 3U}) stage.send(1, 2, qp, next + i, port);
            stage.acknowledge(2, 1, qp, next + 3, port);
        }
}

// A port on the way has a smaller MTU: what is longer never arrives.
void losses_by_size(Stage& stage, unsigned variant) {
    stage.recording = simulated(variant, [&](transport::Scenario& scenario) {
        scenario.network = dissect::Network::roce_v2_ipv4;
        scenario.service = dissect::Service::rc;
        scenario.retries = transport::kMaxRetries;
        scenario.credits = false;
        scenario.between_posts = dissect::Duration{1'000'000};  // each is answered before the next
        scenario.queue_pairs = 3;
        scenario.mtu = transport::PathMtu::bytes_2048;
        scenario.link.longest = 1600;
        scenario.tap.place = transport::TapPlace::end_a;
        scenario.messages.assign(60 + variant, {.bytes = 900, .from = transport::End::a});
        scenario.messages.push_back({.kind = transport::WorkKind::write, .bytes = 2048, .from = transport::End::a});
    });
}

void selective_repeat(Stage& stage, unsigned variant) {
    stage.recording = simulated(variant, [](transport::Scenario& scenario) {
        scenario.selective_repeat = true;
        scenario.link.a_to_b.loss = 0.02;
    });
}

// The NAK comes at once; the requester waits for its timer.
void nak_ignored(Stage& stage, unsigned variant) {
    unsigned next = 8;
    stage.dialogue(1, 2, 21, next);
    for (unsigned round = 0; round < 3 + variant; ++round) {
        for (const unsigned i : {0U, 2U, 3U}) stage.send(1, 2, 21, next + i);
        stage.acknowledge(2, 1, 21, next + 1, {{"infiniband.aeth.syndrome", 0x60}});
        stage.wait(68 * kAMillisecond);
        for (const unsigned i : {1U, 2U, 3U}) {
            stage.send(1, 2, 21, next + i);
            stage.acknowledge(2, 1, 21, next + i);
        }
        next += 4;
    }
}

void rnr_wait_too_short(Stage& stage, unsigned variant) {
    const std::uint64_t code = 18 + variant;  // 5.12 ms and more
    stage.dialogue(1, 2, 21, 4);
    stage.send(1, 2, 21, 4);
    stage.acknowledge(2, 1, 21, 4, {{"infiniband.aeth.syndrome", 0x20 + code}});
    stage.wait((1 + variant) * kAMillisecond);
    stage.dialogue(1, 2, 21, 2 + variant, {}, {}, 4);
}

// Answers take a millisecond, and one comes so soon after what was sent again that it was of the first.
void spurious(Stage& stage, unsigned variant) {
    const auto answered_late = [&](unsigned i, std::int64_t time) {
        stage.wait(time);
        stage.acknowledge(2, 1, 21, i);
    };
    unsigned i = 0;
    for (; i < 4 + variant; ++i) stage.send(1, 2, 21, i), answered_late(i, kAMillisecond);
    stage.send(1, 2, 21, i);
    stage.wait((5 + variant) * kAMillisecond);
    stage.send(1, 2, 21, i);
    answered_late(i, 10 * kAMicrosecond);
    stage.send(1, 2, 21, ++i), answered_late(i, kAMillisecond);
}

void sends(Stage& stage, std::initializer_list<unsigned> order) {
    stage.dialogue(1, 2, 21, 4);
    for (const unsigned i : order) stage.send(1, 2, 21, i);
    const unsigned last = *std::ranges::max_element(order);
    stage.acknowledge(2, 1, 21, last);
    stage.dialogue(1, 2, 21, 2, {}, {}, last + 1);
}

void out_of_order(Stage& stage, unsigned variant) {
    if (variant == 0) sends(stage, {4, 6, 5, 7, 8});
    if (variant == 1) sends(stage, {4, 6, 7, 5, 8, 10, 9, 11});
    if (variant == 2) sends(stage, {5, 6, 4, 7, 8});
}

void capture_lost(Stage& stage, unsigned variant) {
    if (variant == 0) sends(stage, {4, 6, 7, 8});
    if (variant == 1) sends(stage, {4, 8, 9, 11, 12});
    if (variant == 2) sends(stage, {6, 7, 8});
}

void refused_with(Stage& stage, unsigned variant, std::uint64_t code) {
    stage.dialogue(1, 2, 21, 4);
    for (unsigned i = 0; i <= variant; ++i)
        stage.packet(0x0c, 1, 2,
                     {{"infiniband.bth.destqp", 21},
                      {"infiniband.bth.psn", 21'004 + i},
                      {"infiniband.bth.a", 1},
                      {"infiniband.reth.va", 0x1000 + 64 * i},
                      {"infiniband.reth.r_key", 0x55},
                      {"infiniband.reth.dmalen", 64}});
    stage.acknowledge(2, 1, 21, 4 + variant, {{"infiniband.aeth.syndrome", 0x60 + code}});
}
void remote_operational(Stage& stage, unsigned variant) { refused_with(stage, variant, 3); }
void remote_invalid(Stage& stage, unsigned variant) { refused_with(stage, variant, 1); }
void unknown_nak(Stage& stage, unsigned variant) { refused_with(stage, variant, 7 + variant); }

void port_entropy(Stage& stage, unsigned variant) {
    const auto ports = [&](std::uint64_t qp) -> std::uint64_t {
        return 49152 + (variant == 0 ? 0 : qp % (1 + variant));
    };
    for (std::uint64_t qp = 21; qp < 29 + 8 * variant; ++qp)
        stage.dialogue(1, 2, qp, 8, {{"udp.srcport", ports(qp)}}, {{"udp.srcport", ports(qp)}});
}

void ecn_not_answered(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i < 40 + variant; ++i) {
        stage.wait(2 * kAMillisecond);
        stage.send(1, 2, 21, i, {{"ip.dsfield.ecn", i % 2 == 0 ? 3 : 2}});
        stage.acknowledge(2, 1, 21, i);
        if (variant == 2 && i == 20)
            stage.packet(0x81, 2, 1, {{"infiniband.bth.destqp", 1021}});  // a CNP, and no other
    }
}

void duplicates(Stage& stage, unsigned variant) {
    constexpr std::array<std::string_view, kVariants> kWays{"mirror-ttl", "mirror-vlan", "taps+2ms-routed"};
    stage.recording = derived(
        simulated(variant, [](transport::Scenario& scenario) { scenario.tap.place = transport::TapPlace::end_a; }),
        kWays[variant]);
}

void cut(Stage& stage, unsigned variant) {
    constexpr std::array<std::string_view, kVariants> kWays{"snap-54", "snap-74", "snap-128"};
    stage.recording = derived(simulated(variant, [](transport::Scenario&) {}), kWays[variant]);
}

void backwards(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i <= variant; ++i) {
        stage.dialogue(1, 2, 21 + i, 8);
        stage.wait(-(50 + 30 * static_cast<std::int64_t>(i)) * kAMicrosecond);
    }
    stage.dialogue(1, 2, 30, 8);
}

// Variant 0: some answers stand before their requests; 1: all do, by 300 us; 2: by 3 ms, of which those of one queue
// pair.
void clock_offset(Stage& stage, unsigned variant) {
    const std::int64_t by = variant == 0 ? 40 * kAMicrosecond : variant == 1 ? 300 * kAMicrosecond : 3 * kAMillisecond;
    stage.connect();
    for (unsigned i = 0; i < 12; ++i) {
        stage.send(1, 2, 21, i);
        const bool apart = variant != 0 || i % 4 == 1;
        if (apart) stage.recording.records.back().time += by;
        stage.acknowledge(2, 1, 21, i);
        stage.wait(100 * kAMicrosecond);
    }
    if (variant == 2) stage.dialogue(1, 2, 22, 4);
    std::ranges::stable_sort(stage.recording.records, {}, &Record::time);
}

void malformed(Stage& stage, unsigned variant) {
    stage.dialogue(1, 2, 21, 8);
    for (unsigned i = 0; i <= variant; ++i) stage.send(1, 2, 21, 8 + i, {{"infiniband.bth.tver", 1 + variant}});
    stage.dialogue(1, 2, 21, 4, {}, {}, 9 + variant);
}

// Variant 2: the UDP header says that its datagram is longer than its first fragment.
void fragments(Stage& stage, unsigned variant) {
    stage.dialogue(1, 2, 21, 8);
    for (unsigned i = 0; i <= variant; ++i) {
        Settings settings{{"ip.flags.df", 0}, {"ip.flags.mf", 1}};
        if (variant == 2) settings.emplace_back("udp.length", 4200);
        stage.send(1, 2, 21, 8 + i, settings, 1024);
        stage.acknowledge(2, 1, 21, 8 + i);
    }
}

void icrc_not_judged(Stage& stage, unsigned variant) {
    stage.recording = derived(simulated(variant, [](transport::Scenario&) {}), "icrc-zero");
    if (variant == 0) return;
    for (Record& record : stage.recording.records)
        record.bytes.back() = static_cast<std::uint8_t>(variant);  // wrong, and not 0
}

constexpr std::array kNetworkScenes{
    Scene{"transport-retries-exceeded", retries_exceeded},
    Scene{"stalled-together", stalled_together},
    Scene{"losses-by-udp-port", losses_by_udp_port},
    Scene{"losses-by-size", losses_by_size},
    Scene{"selective-repeat", selective_repeat},
    Scene{"nak-ignored", nak_ignored},
    Scene{"rnr-wait-too-short", rnr_wait_too_short},
    Scene{"spurious-retransmission", spurious},
    Scene{"out-of-order-delivery", out_of_order},
    Scene{"capture-lost-packets", capture_lost},
    Scene{"remote-operational-error", remote_operational},
    Scene{"remote-invalid-request", remote_invalid},
    Scene{"unknown-nak", unknown_nak},
    Scene{"udp-port-entropy", port_entropy},
    Scene{"ecn-not-answered", ecn_not_answered},
    Scene{"capture-duplicates", duplicates},
    Scene{"capture-truncated", cut},
    Scene{"clock-backwards", backwards},
    Scene{"clock-offset", clock_offset},
    Scene{"malformed-packets", malformed},
    Scene{"ip-fragments", fragments},
    Scene{"icrc-wrong", icrc_not_judged},
};

}  // namespace

}  // namespace scenes

std::span<const Scene> network_scenes() { return scenes::kNetworkScenes; }

}  // namespace qps::court
