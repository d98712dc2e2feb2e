// Bytes as messages and transfers of a connection that speaks a protocol: each is decoded, with every detail, and
// followed. Layers cover the message without a gap, and what is open stays within its bounds.
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/fuzz/bytewise.hpp>
#include <tests/support/ulp_dialogue.hpp>

#include <cstdlib>

namespace qps::fuzz {

// Decoded with that detail: layers cover it without a gap.
inline void show(dissect::Bytes message, dissect::UlpProtocol protocol, std::uint8_t detail) {
    using namespace dissect;
    Packet packet;
    decode_message(message, {protocol, (detail & 1) != 0, detail}, packet);
    std::size_t next = 0;
    for (const Layer& layer : packet.layers()) {
        if (layer.offset != next) std::abort();
        next += layer.length;
        for (const Field& field : header(layer.kind).fields) (void)value_of(packet, layer, field);
    }
    if (next != message.size()) std::abort();
}

// The input says who says what, how long, and which memory is moved.
inline void exchange_over(dissect::UlpProtocol protocol, std::span<const std::uint8_t> bytes) {
    using namespace dissect;
    using namespace transport;
    Bytewise input{bytes};
    UlpHints hints;
    if ((input.byte() & 1) != 0) hints[1] = protocol;
    tests::UlpDialogue dialogue(std::move(hints));
    constexpr std::uint8_t kDetails = 7;
    while (!input.empty()) {
        const std::uint8_t what = input.byte();
        const End from = (what & 1) != 0 ? End::a : End::b;
        const std::size_t high = input.byte();  // one after the other: the input means the same to every compiler
        const std::size_t length = (high << 8U | input.byte()) & 0x7ffU;
        const auto taken = std::as_bytes(input.take(length));
        if ((what & 6) == 6) {
            const RemoteAccess memory{std::uint64_t{input.byte()} << 8U, Rkey{input.byte()}, input.byte() * 64U};
            dialogue.move(from, (what & 8) != 0, memory, taken.size(), taken);
            continue;
        }
        show(taken, protocol, what % kDetails);
        dialogue.say(from, {taken.begin(), taken.end()});
    }
    dialogue.finish();
    for (const UlpConversation& conversation : dialogue.report.conversations)
        if (conversation.facts.size() > kMaxFacts) std::abort();
}

}  // namespace qps::fuzz
