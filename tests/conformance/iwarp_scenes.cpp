#include <dissect/ulp/crc32c.hpp>
#include <tests/conformance/iwarp_scenes.hpp>

namespace qps::tests {

using namespace dissect;
using transport::End;

RecordedCapture iwarp_scene(const IwarpPlay& play, const IwarpDialogue::Settings& settings) {
    IwarpDialogue dialogue(settings);
    play(dialogue);
    RecordedCapture capture;
    for (const Block& bytes : dialogue.frames)
        capture.frames.push_back({.bytes = bytes,
                                  .link = LinkType::ethernet,
                                  .time = static_cast<std::int64_t>(capture.frames.size() + 1) * 1000});
    return capture;
}

Block words_of(const Depths& depths) {
    const auto first =
        static_cast<std::uint16_t>((depths.peer_to_peer ? 0x8000 : 0) | (depths.send ? 0x4000 : 0) | depths.ird);
    const auto second =
        static_cast<std::uint16_t>((depths.write ? 0x8000 : 0) | (depths.read ? 0x4000 : 0) | depths.ord);
    return {static_cast<std::byte>(first >> 8), static_cast<std::byte>(first), static_cast<std::byte>(second >> 8),
            static_cast<std::byte>(second)};
}

void play_start(IwarpDialogue& dialogue) {
    dialogue.connect();
    dialogue.post(End::a, ulpdu::send({.msn = 1}, pattern(20)));
}

void play_all(IwarpDialogue& dialogue) {
    play_start(dialogue);
    const Block data = pattern(1500);
    dialogue.post(End::b, ulpdu::send({.msn = 1}, pattern(33)));
    for (std::uint32_t mo = 0; mo < 1500; mo += 500)
        dialogue.post(End::a, ulpdu::send({.msn = 2, .mo = mo, .last = mo == 1000}, slice(data, mo, 500)));
    dialogue.post(End::a, ulpdu::send({.msn = 3}, pattern(7), 0x99));
    dialogue.post(End::a, ulpdu::write(0x11, 0x1000, false, slice(data, 0, 1000)));
    dialogue.post(End::a, ulpdu::write(0x11, 0x1000 + 1000, true, slice(data, 1000)));
    dialogue.post(End::a, ulpdu::write(0x12, 0x9000, true, {}));
    dialogue.post(End::a, ulpdu::read_request(1, {.length = 1500}));
    dialogue.post(End::a, ulpdu::read_request(2, {.sink = 0x23, .sink_offset = 0x7000, .length = 12}));
    dialogue.post(End::b, ulpdu::read_response(0x22, 0x2000, false, slice(data, 0, 1000)));
    dialogue.post(End::b, ulpdu::read_response(0x22, 0x2000 + 1000, true, slice(data, 1000)));
    dialogue.post(End::b, ulpdu::read_response(0x23, 0x7000, true, slice(data, 0, 12)));
    dialogue.post(End::a, ulpdu::atomic_request(3, {.identifier = 7}));
    dialogue.post(End::b, ulpdu::atomic_response(1, 7, 42));
    dialogue.post(End::a, ulpdu::immediate(4, 0x1234));
    dialogue.post(End::b, ulpdu::send({.msn = 2}, pattern(1)));
    dialogue.post(End::a, ulpdu::send({.msn = 5}, {}));
}

void play_end(IwarpDialogue& dialogue) {
    dialogue.segment(End::a, {}, TcpFlags::fin | TcpFlags::ack);
    dialogue.segment(End::b, {}, TcpFlags::fin | TcpFlags::ack);
    dialogue.acknowledge(End::a);
}

void announce_mss(RecordedCapture& capture, std::size_t syn, std::uint16_t mss) {
    constexpr std::size_t kIpLengthLow = 17, kHeaderLength = 46;
    constexpr std::uint8_t kOption = 4;
    auto& bytes = capture.frames[syn].bytes;
    bytes.at(kIpLengthLow) = static_cast<std::byte>(std::to_integer<std::uint8_t>(bytes.at(kIpLengthLow)) + kOption);
    bytes.at(kHeaderLength) = std::byte{0x60};
    for (const unsigned each : {2U, unsigned{kOption}, unsigned{mss} >> 8U, mss & 0xffU})
        bytes.push_back(static_cast<std::byte>(each));
}

Block with_byte(Block block, std::size_t at, std::uint8_t value) {
    block.at(at) = static_cast<std::byte>(value);
    return block;
}

Block sealed(Block fpdu) {
    const std::size_t covered = fpdu.size() - 4;
    const std::uint32_t crc = crc32c(Bytes(fpdu).first(covered));
    for (std::size_t i = 0; i < 4; ++i) fpdu[covered + i] = static_cast<std::byte>(crc >> (24 - 8 * i));
    return fpdu;
}

}  // namespace qps::tests
