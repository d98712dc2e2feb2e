// Scenes of TCP and UDP in the class of RDMA, while that is marked or lost.
#include <tests/court/stage.hpp>
#include <tests/support/reachability_frames.hpp>

#include <array>

namespace qps::court {

namespace scenes {

namespace {

// A full segment or datagram of host 3 to host 2.
void bulk(Stage& stage, unsigned protocol, std::uint8_t dscp) {
    constexpr std::size_t kLength = 1500;
    tests::FrameOctets frame;
    tests::add_ethernet(frame, 0x020000000002, 0x020000000003, 0x0800);
    tests::add_ipv4(frame, 0xc0000203, 0xc0000202, protocol, kLength);
    frame[15] = static_cast<std::uint8_t>(dscp << 2U);
    tests::add_number(frame, 40000, 2);
    tests::add_number(frame, 5001, 2);
    if (protocol == 6) {
        tests::add_number(frame, stage.recording.records.size() * kLength, 4);
        tests::add_number(frame, 0, 4);
        tests::add_number(frame, 0x5010, 2);
        tests::add_number(frame, 0xffff, 2);
    } else {
        tests::add_number(frame, kLength - 20, 2);
        tests::add_number(frame, 0, 2);
    }
    frame.resize(14 + kLength);
    stage.put(frame);
}

// Variant 0: TCP and marks; 1: UDP too; 2: losses.
void lossy_beside(Stage& stage, unsigned variant) {
    constexpr std::uint8_t kDscp = 26, kAcknowledge = 0x11;
    const Settings plain{{"ip.dsfield.dscp", kDscp}};
    bulk(stage, 6, kDscp);
    unsigned number = 0;
    for (unsigned i = 0; i < 12; ++i) {
        for (unsigned k = 0; k < 6; ++k) {
            bulk(stage, variant == 1 && k % 2 == 0 ? 17 : 6, kDscp);
            bulk(stage, 6, 0);  // of another class
            const bool marked = variant != 2 && k == 3;
            stage.send(1, 2, 21, number, joined(plain, {{"ip.dsfield.ecn", marked ? 3 : 2}}), 1024);
            stage.acknowledge(2, 1, 21, number, plain);
            ++number;
        }
        if (variant == 2) {
            stage.send(1, 2, 21, number + 1, plain, 1024);
            stage.packet(kAcknowledge, 2, 1,
                         joined(plain, {{"infiniband.bth.destqp", 1021},
                                        {"infiniband.bth.psn", 21'000 + number},
                                        {"infiniband.aeth.syndrome", 0x60},
                                        {"infiniband.aeth.msn", number}}));
            for (const unsigned again : {number, number + 1})
                stage.send(1, 2, 21, again, plain, 1024), stage.acknowledge(2, 1, 21, again, plain);
            number += 2;
        }
        stage.wait(kAMillisecond);
    }
}

constexpr std::array kBesideScenes{Scene{"shared-traffic-class", lossy_beside}};

}  // namespace

}  // namespace scenes

std::span<const Scene> beside_scenes() { return scenes::kBesideScenes; }

}  // namespace qps::court
