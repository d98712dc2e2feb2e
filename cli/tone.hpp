// Colours of packet lines on a terminal, by what the packet says.
#pragma once

#include <dissect/packet.hpp>

#include <string_view>

#include "options.hpp"
#include "output.hpp"

namespace qps::cli {

// Whether to colour: --color, else a terminal unless NO_COLOR or TERM=dumb forbid it; CLICOLOR_FORCE insists.
[[nodiscard]] bool wants_color(const Options& options, const Output& output);

// The escape sequence that starts a line of that packet; empty for an ordinary one.
[[nodiscard]] std::string_view tone(const dissect::Packet& packet);

// The same for reports.
inline constexpr std::string_view kErrorTone = "\033[31m";
inline constexpr std::string_view kWarningTone = "\033[33m";
inline constexpr std::string_view kHeadingTone = "\033[1m";
inline constexpr std::string_view kToneEnd = "\033[0m";

}  // namespace qps::cli
