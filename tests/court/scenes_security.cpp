// Scenes of hosts that try what they were not given, or say they are another.
#include <tests/court/stage.hpp>
#include <tests/support/reachability_frames.hpp>

#include <array>

namespace qps::court {

namespace scenes {

namespace {

constexpr std::uint64_t kNet = 0xc0000200;  // 192.0.2.0
constexpr std::uint8_t kCnpOpcode = 0x81;

// Variant 0: host 9 has the address of host 2, too; 1: it answers first; 2: as 0, and a third one asks.
void address_conflict(Stage& stage, unsigned variant) {
    const auto answer = [&](std::uint8_t mac, std::uint64_t asker) {
        tests::FrameOctets frame = tests::arp_frame(2, kNet + 2, kNet + asker);
        frame[11] = frame[27] = mac;
        stage.put(frame);
    };
    for (unsigned i = 0; i < 2 + variant; ++i) {
        stage.dialogue(1, 2, 21, 2, {}, {}, 2 * i);
        stage.put(tests::arp_frame(1, kNet + 1, kNet + 2));
        answer(variant == 1 ? 9 : 2, 1);
        answer(variant == 1 ? 2 : 9, 1);
        if (variant == 2) answer(2, 3);
        stage.wait(kASecond);
    }
}

// Host 1 tries R_Keys on queue pairs of host 2, which refuses each.
void keys_tried(Stage& stage, unsigned variant) {
    constexpr std::uint8_t kWriteOnly = 0x0a, kAcknowledge = 0x11;
    for (unsigned i = 0; i < 8 + variant; ++i) {
        const unsigned qp = 21 + i;
        const Setting port{"udp.srcport", 49152 + i};  // of its own: what is tried here is keys, not paths
        stage.dialogue(1, 2, qp, 4, {port}, {port});
        stage.packet(kWriteOnly, 1, 2,
                     {{"infiniband.bth.destqp", qp},
                      port,
                      {"infiniband.bth.psn", 1000 * qp + 4},
                      {"infiniband.bth.a", 1},
                      {"infiniband.reth.va", 0x1000},
                      {"infiniband.reth.r_key", 0x500 + 256 * i},
                      {"infiniband.reth.dmalen", 64}},
                     64);
        stage.packet(kAcknowledge, 2, 1,
                     {{"infiniband.bth.destqp", qp + 1000},
                      {"infiniband.bth.psn", 1000 * qp + 4},
                      port,
                      {"infiniband.aeth.syndrome", 0x62},
                      {"infiniband.aeth.msn", 4}});
        stage.wait(kAMillisecond);
    }
}

void queue_pairs_tried(Stage& stage, unsigned variant) {
    stage.dialogue(1, 2, 21);
    for (unsigned i = 0; i < 32 + 8 * variant; ++i) {
        stage.send(1, 2, 100 + i, 0);
        stage.wait(kAMillisecond);
    }
    stage.wait(kASecond);
    stage.dialogue(1, 2, 21, 8, {}, {}, 8);
}

// Of another sender with the addresses of host 1.
void psn_conflict(Stage& stage, unsigned variant) {
    stage.dialogue(1, 2, 21);
    for (unsigned i = 0; i < 8 + variant; ++i) {
        stage.send(1, 2, 21, 0x40'0000 + 0x8'0000 * i);
        stage.wait(10 * kAMicrosecond);
        stage.dialogue(1, 2, 21, 2, {}, {}, 8 + 2 * i);
        stage.wait(kAMillisecond);
    }
}

void cnp_unexpected_source(Stage& stage, unsigned variant) {
    stage.dialogue(1, 2, 21);
    stage.wait(200 * kAMillisecond);
    for (unsigned i = 0; i < 2 + variant; ++i) stage.packet(kCnpOpcode, 9, 1, {{"infiniband.bth.destqp", 1021}});
    stage.dialogue(1, 2, 21, 8, {}, {}, 8);
}

// Variant 0: host 1 alone; 1: host 3 too; 2: more of them.
void request_flood(Stage& stage, unsigned variant) {
    for (unsigned i = 0; i < 256 + 40 * variant; ++i) {
        const unsigned from = variant != 0 && i % 2 == 1 ? 3 : 1;
        stage.cm(0, from, 2,
                 {{"infiniband.cm.req", 0x100 + i},
                  {"infiniband.cm.req.serviceid", 0x1061c06},
                  {"infiniband.cm.req.localqpn", 1021 + i},
                  {"infiniband.cm.req.startpsn", 200},
                  {"infiniband.cm.req.pkey", 0xffff},
                  {"infiniband.cm.req.remoteresptout", 14},
                  {"infiniband.cm.req.localresptout", 14},
                  {"infiniband.mad.transactionid", 1000 + i}});
        stage.cm(2, 2, from,
                 {{"infiniband.cm.rej.remotecommid", 0x100 + i},
                  {"infiniband.cm.rej.reason", 8},
                  {"infiniband.mad.transactionid", 1000 + i}});
        stage.wait(kAMillisecond);
    }
}

constexpr std::array kSecurityScenes{
    Scene{"address-conflict", address_conflict},           Scene{"keys-tried", keys_tried},
    Scene{"queue-pairs-tried", queue_pairs_tried},         Scene{"psn-conflict", psn_conflict},
    Scene{"cnp-unexpected-source", cnp_unexpected_source}, Scene{"cm-request-flood", request_flood},
};

}  // namespace

}  // namespace scenes

std::span<const Scene> security_scenes() { return scenes::kSecurityScenes; }

}  // namespace qps::court
