// Scenes of links of InfiniBand: a sender that waits for credits, two ports with one GID.
#include <tests/court/stage.hpp>
#include <tests/support/credited_link.hpp>

#include <array>

namespace qps::court {

namespace scenes {

namespace {

constexpr std::uint32_t kErf = 197;

void record(Stage& stage, const tests::FrameOctets& octets, std::int64_t time) {
    stage.recording.link = kErf;
    stage.recording.records.push_back({.time = time, .wire = static_cast<std::uint32_t>(octets.size()), .bytes = octets});
}

// Variant 0: once, with a few credits; 1: three times, without any; 2: on another lane, and short packets.
void credit_starvation(Stage& stage, unsigned variant) {
    tests::CreditedLink link;
    link.time = stage.now();
    if (variant == 2) link.lane = 7, link.words = 130;
    link.busy(variant == 2 ? 520 : 150);
    for (unsigned i = 0; i < 1 + 2 * (variant % 2); ++i) {
        link.starve(variant == 1 ? 0 : 4, 20 + 7 * i);
        link.busy(3);
    }
    for (const tests::LinkFrame& frame : link.frames) record(stage, frame.octets, frame.time);
}

// Variant 0: of two LIDs; 1: another prefix; 2: more often.
void gid_conflict(Stage& stage, unsigned variant) {
    const std::uint64_t prefix = variant == 1 ? 0x20010db800000000 : 0xfe80000000000000;
    for (unsigned i = 0; i < 8 + 4 * variant; ++i) {
        stage.wait(kAMillisecond);
        const tests::LinkPacket packet{.words = 20, .psn = i, .source = i / 2 % 2 == 0 ? 4U : 300U, .source_prefix = prefix,
                                       .source_guid = 0x0002c90300a1b2c3, .destination_prefix = prefix};
        record(stage, link_packet(packet), stage.now());
    }
}

constexpr std::array kLinkScenes{Scene{"credit-starvation", credit_starvation}, Scene{"gid-conflict", gid_conflict}};

}  // namespace

}  // namespace scenes

std::span<const Scene> link_scenes() { return scenes::kLinkScenes; }

}  // namespace qps::court
