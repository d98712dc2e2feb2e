// Random packets that are well formed: every value that may be anything is drawn, what follows from others is right.
//
// A seed decides all of it. Only payloads are held back: they begin so that no heuristic of tshark's takes them for a
// protocol.
#pragma once

#include <dissect/base/frame.hpp>

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include <bench/dice.hpp>

namespace qps::test {

using Dice = bench::Dice;

// Below a bound, which is not 0.
[[nodiscard]] inline std::uint64_t below(Dice& dice, std::uint64_t bound) { return dice.throw_once() % bound; }

struct DrawnFrame {
    std::vector<std::byte> bytes;
};
using Frames = std::vector<DrawnFrame>;

// Packets of one kind. They are compared in captures of their own, since tshark keeps what it thinks of a connection.
struct Kind {
    std::string_view name;   // of its captures
    std::string_view alike;  // a capture of tests/parity whose excuses hold for these packets too; "" for none
    dissect::LinkType link;
    unsigned weight;               // of all packets
    void (*draw)(Dice&, Frames&);  // appends a packet, or the packets of a dialogue
};

// Transport packets and management datagrams.
[[nodiscard]] std::span<const Kind> packet_kinds();
// Messages of upper protocols, behind the handshake that names them.
[[nodiscard]] std::span<const Kind> message_kinds();

}  // namespace qps::test
