// Scenes of hosts that cannot be reached: requests for a MAC address without an answer, ICMP errors about RoCEv2.
#include <tests/court/stage.hpp>
#include <tests/support/reachability_frames.hpp>

#include <array>

namespace qps::court {

namespace scenes {

namespace {

using namespace tests;

constexpr std::uint64_t kNetwork = 0xc0000200;  // 192.0.2.0

void ask(Stage& stage, std::uint64_t from, std::uint64_t for_whom) {
    stage.put(arp_frame(1, kNetwork + from, kNetwork + for_whom));
}
void answer(Stage& stage, std::uint64_t from, std::uint64_t to) {
    stage.put(arp_frame(2, kNetwork + from, kNetwork + to));
}

// Variant 0: host 3 was never there; 1: host 2 was, and is gone; 2: as 0, and it is answered by another one.
void neighbour(Stage& stage, unsigned variant) {
    stage.dialogue(1, 2, 21);
    if (variant != 1)  // else what it sent says that its answer would be there
        for (const std::uint64_t other : {5U, 6U}) ask(stage, 1, other), answer(stage, other, 1);
    if (variant == 1) stage.wait(5 * kASecond);
    for (unsigned i = 0; i < 3 + variant; ++i) {
        ask(stage, 1, variant == 1 ? 2 : 3);
        stage.wait(1'020 * kAMillisecond);
    }
    if (variant == 2) ask(stage, 1, 4), answer(stage, 4, 1);
    if (variant != 1) stage.dialogue(1, 2, 22);
    ask(stage, 4, 1);
}

// Variant 0: the host itself; 1: a router, and a packet that its receiver was not ready for is sent again; 2: both
// kinds of a router, and the packets are sent again.
void unreachable(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i < 2 + variant; ++i) {
        stage.send(1, 2, 21, variant == 2 ? i / 2 : i);
        const unsigned code = variant == 0 ? 3 : variant == 2 && i < 2 ? 0 : 1;
        stage.put(icmp_frame({.reporter = kNetwork + (variant == 0 ? 2 : 254),
                              .source = kNetwork + 1,
                              .destination = kNetwork + 2,
                              .code = code}));
        stage.wait(kASecond);
    }
    if (variant != 1) return;
    stage.acknowledge(2, 1, 21, 2, {{"infiniband.aeth.syndrome", 0x21}});
    stage.wait(kAMillisecond);
    stage.send(1, 2, 21, 2);
    stage.acknowledge(2, 1, 21, 2);
}

// Variant 0: it names an MTU; 1: it names none; 2: it names several, and one packet is sent again.
void too_big(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i < 2 + variant; ++i) {
        stage.send(1, 2, 21, variant == 2 && i > 1 ? 1 : i, {}, 4096);
        stage.put(icmp_frame({.reporter = kNetwork + 254,
                              .source = kNetwork + 1,
                              .destination = kNetwork + 2,
                              .code = 4,
                              .mtu = variant == 2   ? 1500 + 100 * i
                                     : variant == 1 ? 0
                                                    : 1500}));
        stage.wait(kASecond);
    }
}

constexpr std::array kReachabilityScenes{
    Scene{"neighbour-unanswered", neighbour},
    Scene{"icmp-unreachable", unreachable},
    Scene{"path-mtu-exceeded", too_big},
};

}  // namespace

}  // namespace scenes

std::span<const Scene> reachability_scenes() { return scenes::kReachabilityScenes; }

}  // namespace qps::court
