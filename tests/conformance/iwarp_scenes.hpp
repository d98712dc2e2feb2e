// iWARP connections for the passive checks: played to be right, or wrong in one place.
#pragma once

#include <tests/conformance/passive_mutants.hpp>
#include <tests/support/iwarp_dialogue.hpp>

#include <functional>

namespace qps::tests {

using IwarpPlay = std::function<void(IwarpDialogue&)>;
// Frames a microsecond apart. CRCs are in use, markers are not.
[[nodiscard]] RecordedCapture iwarp_scene(const IwarpPlay& play, const IwarpDialogue::Settings& settings = {});

// What RFC 6581 has in front of the private data.
struct Depths {
    std::uint16_t ird = 4;
    std::uint16_t ord = 4;
    bool peer_to_peer = false;
    bool send = false, write = false, read = false;  // ready-to-receive messages
};
[[nodiscard]] Block words_of(const Depths& depths);
inline constexpr IwarpDialogue::Settings kEnhancedSettings{.revision = 2};
inline constexpr IwarpDialogue::Settings kMarkedSettings{.markers = true};

// Set up, and a SEND of the initiator with MSN 1.
void play_start(IwarpDialogue& dialogue);
// Everything that RDMAP has, each way once at least; SENDs up to MSN 5 of the initiator, 2 of the responder; no ends.
void play_all(IwarpDialogue& dialogue);
void play_end(IwarpDialogue& dialogue);

// The SYN of the initiator, that of the responder.
inline constexpr std::size_t kSynFrame = 0, kSynAnswerFrame = 1;
// It gets the option that announces an MSS.
void announce_mss(RecordedCapture& capture, std::size_t syn, std::uint16_t mss);

// Bytes of the first one, changed.
[[nodiscard]] Block with_byte(Block block, std::size_t at, std::uint8_t value);
// Its CRC, again.
[[nodiscard]] Block sealed(Block fpdu);

}  // namespace qps::tests
