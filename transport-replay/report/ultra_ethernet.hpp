// Ultra Ethernet in reports: contexts, their paths, what was refused.
#pragma once

#include <transport-replay/model/uet_report.hpp>
#include <transport-replay/report/document.hpp>

#include <span>
#include <string>
#include <string_view>

namespace qps::transport {

struct Timeline;

// Whether the capture has any of it.
[[nodiscard]] bool has_ultra_ethernet(const UetReport& report);
// "RUD", "ROD", both; empty of a way without requests.
[[nodiscard]] std::string_view delivery_text(const UetWay& way);
// "2 TRIMMED, 1 ROD_OOO": NACKs; return codes likewise. Empty where there are none.
[[nodiscard]] std::string nacks_text(const UetWay& way);
[[nodiscard]] std::string refusals_text(const UetWay& way);
// "4 paths; 0xc002 resent most: 3 of 10; delay 9 us on average, 0xc003 slowest with 12 us": empty where no path is
// known.
[[nodiscard]] std::string paths_text(const UetWay& way);
// "2 secured packets, 3 without context, 1 cut off"
[[nodiscard]] std::string not_followed_text(const UetReport& report);

// An object that the caller has opened; of the connections that are wanted, all where there are none.
void add_ultra_ethernet(Document& document, const UetReport& report, std::span<const ConnectionId> connections);

}  // namespace qps::transport
