// Scenes of links of InfiniBand: a sender that waits for credits, two ports with one GID.
#include <tests/court/stage.hpp>
#include <tests/support/credited_link.hpp>

#include <array>

namespace qps::court {

namespace scenes {

namespace {

constexpr std::uint32_t kErf = 197;
constexpr unsigned kDatagram = 0x64;  // UD SEND Only: of no connection

void record(Stage& stage, const tests::FrameOctets& octets, std::int64_t time) {
    stage.recording.link = kErf;
    stage.recording.records.push_back(
        {.time = time, .wire = static_cast<std::uint32_t>(octets.size()), .bytes = octets});
}

// Variant 0: once, with a few credits; 1: three times, without any; 2: on another lane, and short packets.
void credit_starvation(Stage& stage, unsigned variant) {
    tests::CreditedLink link;
    link.time = stage.now();
    link.opcode = kDatagram;
    if (variant == 2) link.lane = 7, link.words = 130;
    link.busy(variant == 2 ? 520 : 150);
    for (unsigned i = 0; i < 1 + 2 * (variant % 2); ++i) {
        link.starve(variant == 1 ? 0 : 4, 20 + 7 * i);
        link.busy(3);
    }
    for (const tests::LinkFrame& frame : link.frames) record(stage, frame.octets, frame.time);
    // The other end sends something too, on a lane of its own: it is not a capture of one direction.
    record(stage,
           tests::link_packet({.port = link.granter, .lane = 1, .source = 2, .destination = 1, .opcode = kDatagram}),
           link.time + kAMillisecond);
}

// Variant 0: of two LIDs; 1: another prefix; 2: more often.
void gid_conflict(Stage& stage, unsigned variant) {
    const std::uint64_t prefix = variant == 1 ? 0x20010db800000000 : 0xfe80000000000000;
    for (unsigned i = 0; i < 8 + 4 * variant; ++i) {
        stage.wait(kAMillisecond);
        const tests::LinkPacket packet{.words = 20,
                                       .psn = i,
                                       .source = i / 2 % 2 == 0 ? 4U : 300U,
                                       .opcode = kDatagram,
                                       .source_prefix = prefix,
                                       .source_guid = 0x0002c90300a1b2c3,
                                       .destination_prefix = prefix};
        record(stage, tests::link_packet(packet), stage.now());
        stage.wait(kAMillisecond);
        record(stage,
               tests::link_packet({.words = 20,
                                   .psn = i,
                                   .source = packet.destination,
                                   .destination = packet.source,
                                   .opcode = kDatagram,
                                   .source_prefix = prefix,
                                   .source_guid = packet.destination_guid,
                                   .destination_prefix = prefix,
                                   .destination_guid = packet.source_guid}),
               stage.now());
    }
}

constexpr std::array kLinkScenes{Scene{"credit-starvation", credit_starvation}, Scene{"gid-conflict", gid_conflict}};

}  // namespace

}  // namespace scenes

std::span<const Scene> link_scenes() { return scenes::kLinkScenes; }

}  // namespace qps::court
