// An exchange of two ends as SVG: two lines down the page, an arrow for each packet, its words beside it. All text is
// escaped; colours are those of the page around it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace qps::transport {

enum class LadderWay : std::uint8_t { none, forth, back };  // none: a packet of others, without an arrow

struct LadderRow {
    std::string when;
    std::string clock{};  // time of day; where no row has one, there is no room for it
    std::string number;   // of the packet; none: empty
    LadderWay way{};
    std::string_view style;  // of its arrow, beside `arrow`
    std::string text;        // shortened where it is long
};

// One <svg>; nothing where there are no rows. `about` says what it shows.
[[nodiscard]] std::string ladder_picture(std::string_view left, std::string_view right, std::span<const LadderRow> rows,
                                         std::string_view about);

// A page gives these colours: ends and times are quiet, failures stand out, what did not come is dashed.
inline constexpr std::string_view kLadderStyle = R"(
figure { margin: .6rem 0; } svg { display: block; width: 100%; height: auto; font: 11px system-ui, sans-serif; fill: var(--text); }
svg .axis { stroke: var(--line); stroke-width: 1; fill: none; } svg .soft { fill: var(--soft); } svg .mono { font-family: ui-monospace, monospace; }
svg .arrow { stroke: var(--soft); stroke-width: 1.5; fill: none; } svg .arrow.wrong { stroke: var(--fail); }
svg .arrow.missing { stroke: var(--inconclusive); stroke-dasharray: 4 3; }
@media (max-width: 40rem) { figure { overflow-x: auto; } figure svg { width: 1040px; } }
figcaption { color: var(--soft); font-size: .85rem; } figcaption .wrong { color: var(--fail); } figcaption .missing { color: var(--inconclusive); }
)";

}  // namespace qps::transport
