// Values as text: for machines (plain, decimal) and for people (names, units, hex where people read hex).
#pragma once

#include <dissect/base/packet.hpp>

#include <string>

namespace qps::dissect {

// One form per value type, the same in TSV, CSV and JSON: numbers in decimal, flags 0 or 1, addresses in their usual
// notation, bytes as hex digits without separators, text as it is: escaping is for the format it goes into.
void append_plain(std::string& out, const Field& field, const Value& value);

// As a JSON value: numbers and fixed-point bare, flags true or false, everything else a string.
void append_json(std::string& out, const Field& field, const Value& value);

// "RC_ACKNOWLEDGE (17)", "0x00001234", "4 bytes", "20 (4.295 s)", "8a1b...(1024 bytes)".
void append_words(std::string& out, const Field& field, const Value& value);

// What a field's line in a tree starts with: its meaning up to the first comma or colon.
[[nodiscard]] std::string_view label(const Field& field);

// The name of a value in its field's table; empty where it has none.
[[nodiscard]] std::string_view name_of(const Field& field, std::uint64_t value);

// "2026-11-21 01:12:21.422677000 UTC".
[[nodiscard]] std::string utc(Instant time);

// A duration in the unit a person would use: "655.36 ms", "4.295 s", "16.4 us".
[[nodiscard]] std::string human_time(double seconds);

// Text for people, the one way to show what is not ours: what acts rather than being seen (controls, marks of
// direction, breaks of lines, what takes no room) and what is no UTF-8 as \xNN, so that a capture cannot write to the
// terminal, or look like another.
void append_printable(std::string& out, std::string_view text);
[[nodiscard]] std::string printable(std::string_view text);

// Quoted, and escaped as JSON demands; so is what acts, see above. Bytes that are no UTF-8 become U+FFFD, so any input
// gives valid JSON.
void append_json_string(std::string& out, std::string_view text);

void append_hex(std::string& out, Bytes bytes);

}  // namespace qps::dissect
