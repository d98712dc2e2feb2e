// The words of a packet in a script: those that `packets` prints (dissect/notation), a few more of a script's own, and
// the name of any field of the packet.
//
//   RC_ACKNOWLEDGE psn=+2 msn=1|2 nak=!PSN_SEQUENCE_ERROR infiniband.bth.tver=0 theirs:=psn
//
// A word is looked up among the headers that the packet's opcode (or management attribute) gives it, so that `psn` of
// an ACK and `start_psn` of a REP cannot be mixed up. Any text is normal input; what is no word is an error that says
// what was meant.
#pragma once

#include <transport-replay/conformance/script/script.hpp>
#include <transport-replay/conformance/script/source_line.hpp>

#include <span>

namespace qps::transport::conformance::script {

enum class Purpose : std::uint8_t { inject, expect };  // every value is one number; values are patterns

struct WordError {
    Token token;
    std::size_t offset = 0;  // in the token, of what is wrong
    std::size_t length = 0;
    std::string message;
    std::string suggestion{};
};

// tokens: the name of the packet, then its words.
[[nodiscard]] std::expected<PacketLine, WordError> parse_packet(std::span<const Token> tokens, Purpose purpose);

// A value on its own: N, a..b, a|b, !N, *. Of no field: of an expression's kind alone.
[[nodiscard]] std::expected<Pattern, WordError> parse_pattern(const Token& token, std::size_t offset,
                                                              const dissect::Field* field);

// Bytes as hex digits, in pairs.
[[nodiscard]] std::optional<std::vector<std::byte>> read_hex(std::string_view digits);

// The word a special one is written with; the key of a field's word where it has one, else the field's name.
[[nodiscard]] std::string_view name_of(Special special);
[[nodiscard]] std::string key_of(dissect::LayerKind kind, const dissect::Field& field);

// Headers that a script's packet has from the BTH on.
[[nodiscard]] std::vector<dissect::LayerKind> headers_of(const PacketLine& packet);

}  // namespace qps::transport::conformance::script
