// Scenes of RDMA over TCP: connections that are right to the last CRC, and what is then lost, spoiled, refused or
// written oddly.
#include <tests/court/stage.hpp>
#include <tests/support/iwarp_dialogue.hpp>

#include <array>
#include <bit>

namespace qps::court {

namespace scenes {

namespace {

using tests::Block, tests::IwarpDialogue, tests::pattern;
namespace ulpdu = tests::ulpdu;
using transport::End;

constexpr std::size_t kFramesOfSetUp = 5;

// As tests/support leaves it, the checksum of TCP is not filled in.
void fill_checksum(Octets& frame) {
    constexpr std::size_t kIp = 14, kTcp = 34;
    std::uint32_t sum = 6 + static_cast<std::uint32_t>(frame.size() - kTcp);
    put_number(frame, kTcp + 16, 2, 0);
    for (std::size_t i = kIp + 12; i < frame.size(); i += 2)
        sum += i + 1 < frame.size() ? number_at(frame, i, 2) : number_at(frame, i, 1) << 8U;
    while (sum > 0xffff) sum = (sum & 0xffffU) + (sum >> 16U);
    put_number(frame, kTcp + 16, 2, ~sum & 0xffffU);
}

void put_all(Stage& stage, const std::vector<Block>& frames, bool checksums = true) {
    for (const Block& block : frames) {
        Octets frame;
        for (const std::byte byte : block) frame.push_back(std::to_integer<std::uint8_t>(byte));
        if (checksums) fill_checksum(frame);
        stage.put(std::move(frame));
        stage.wait(20 * kAMicrosecond);
    }
}

IwarpDialogue exchange(const IwarpDialogue::Settings& settings, unsigned rounds) {
    IwarpDialogue dialogue(settings);
    dialogue.connect();
    for (std::uint32_t i = 0; i < rounds; ++i) {
        dialogue.post(End::a, ulpdu::send({.msn = i + 1}, pattern(900)));
        dialogue.post(End::b, ulpdu::send({.msn = i + 1}, pattern(64)));
        dialogue.post(End::a, ulpdu::write(0x44, 0x9000, true, pattern(1200)));
    }
    dialogue.acknowledge(End::a);
    dialogue.acknowledge(End::b);
    return dialogue;
}

void terminated(Stage& stage, unsigned variant) {
    IwarpDialogue dialogue = exchange({}, 2 + variant);
    constexpr std::array<std::array<std::uint8_t, 3>, kVariants> kErrors{{{1, 1, 1}, {1, 1, 0}, {2, 0, 2}}};
    dialogue.post(End::b, ulpdu::terminate(kErrors[variant][0], kErrors[variant][1], kErrors[variant][2]));
    put_all(stage, dialogue.frames);
}

void refused(Stage& stage, unsigned variant) {
    IwarpDialogue dialogue({.crc = variant != 1, .port = static_cast<std::uint16_t>(4711 + variant)});
    dialogue.connect({}, pattern(4 * variant), true);
    put_all(stage, dialogue.frames);
}

void crc_wrong(Stage& stage, unsigned variant) {
    auto frames = exchange({}, 6).frames;
    for (unsigned i = 0; i <= variant; ++i) {
        Block& spoiled = frames[kFramesOfSetUp + 3 * i];
        spoiled[spoiled.size() - 10] ^= std::byte{4};
    }
    put_all(stage, frames, variant != 2);
}

void sent_again(Stage& stage, unsigned variant) {
    auto frames = exchange({}, 8).frames;
    const auto at = [&](std::size_t place) {
        return frames.begin() + static_cast<std::ptrdiff_t>(kFramesOfSetUp + place);
    };
    for (unsigned i = 0; i <= variant; ++i) {
        const Block again = *at(3 * i + 4 * i);
        frames.insert(at(3 * i + 4 * i + 3), again);
    }
    // What is sent again has an identification of its own: they are numbered as they are sent.
    for (std::size_t i = 0; i < frames.size(); ++i) frames[i][19] = static_cast<std::byte>(i);
    put_all(stage, frames);
}

void stream_holes(Stage& stage, unsigned variant) {
    auto frames = exchange({}, 8).frames;
    frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(kFramesOfSetUp + 3),
                 frames.begin() + static_cast<std::ptrdiff_t>(kFramesOfSetUp + 4 + 3 * variant));
    put_all(stage, frames);
}

void odd_sender(Stage& stage, unsigned variant) {
    if (variant == 0) return put_all(stage, exchange({.markers = true, .marker_shift = 100}, 8).frames);
    if (variant == 1) return put_all(stage, exchange({.markers = true, .sends_markers = false}, 8).frames);
    IwarpDialogue dialogue({});
    dialogue.connect();
    for (std::uint32_t i = 0; i < 3; ++i) {
        dialogue.post(End::b, ulpdu::read_request(i + 1, {.sink = std::byteswap(std::uint32_t{0x22}),
                                                          .sink_offset = std::byteswap(std::uint64_t{0x2000}),
                                                          .length = std::byteswap(std::uint32_t{300}),
                                                          .source = std::byteswap(std::uint32_t{0x11}),
                                                          .source_offset = std::byteswap(std::uint64_t{0x1000})}));
        dialogue.post(End::a, ulpdu::read_response(0x22, 0x2000, true, pattern(300)));
    }
    dialogue.acknowledge(End::b);
    put_all(stage, dialogue.frames);
}

// In the middle of the stream an end writes what is no FPDU.
void unreadable(Stage& stage, unsigned variant) {
    IwarpDialogue dialogue = exchange({}, 3);
    for (unsigned i = 0; i <= variant; ++i) dialogue.segment(End::a, Block(700 + 100 * i, std::byte{0}));
    dialogue.acknowledge(End::b);
    put_all(stage, dialogue.frames);
}

constexpr std::array kIwarpScenes{
    Scene{"iwarp-terminated", terminated},     Scene{"iwarp-refused", refused},
    Scene{"iwarp-crc-wrong", crc_wrong},       Scene{"iwarp-retransmission", sent_again},
    Scene{"iwarp-stream-holes", stream_holes}, Scene{"iwarp-nonconforming", odd_sender},
    Scene{"iwarp-unreadable", unreadable},
};

}  // namespace

}  // namespace scenes

std::span<const Scene> iwarp_scenes() { return scenes::kIwarpScenes; }

}  // namespace qps::court
