// Colours of lines on a terminal, by what the packet or the row says.
#pragma once

#include <cli/options/output_options.hpp>
#include <cli/output.hpp>
#include <dissect/base/packet.hpp>
#include <transport-replay/report/table.hpp>

#include <string>
#include <string_view>

namespace qps::cli {

// Whether to colour: --color, else a terminal unless NO_COLOR or TERM=dumb forbid it; CLICOLOR_FORCE insists.
[[nodiscard]] bool wants_color(ColorMode color, const Output& output);

// The escape sequence that starts a line of that packet; empty for an ordinary one.
[[nodiscard]] std::string_view tone(const dissect::Packet& packet);

// The same for rows of reports.
[[nodiscard]] std::string_view tone(transport::Tone tone);
inline constexpr std::string_view kToneEnd = "\033[0m";

// Text between the sequence of its tone and the end of it; bare where it is plain.
void append_toned(std::string& out, transport::Tone its, std::string_view text);

}  // namespace qps::cli
