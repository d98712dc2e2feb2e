#include <cli/options/choice.hpp>
#include <cli/options/filter_options.hpp>
#include <cli/quantity.hpp>

namespace qps::cli {

void FilterOptions::add(OptionTable& table) {
    table.under(headings::kFilter);
    add_text(table, "Print and analyse only packets that match this display filter");
    table.add("--since", "TIME",
              into(since, [](const std::string& time) { return read_time_bound(time, ">=", "--since"); }),
              "Drop earlier packets: '2026-11-21 01:14:08' (UTC), seconds since 1970, or 90s (from the first)");
    table.add("--until", "TIME",
              into(until, [](const std::string& time) { return read_time_bound(time, "<", "--until"); }),
              "Drop packets from this time on, which is written as with --since");
}

void FilterOptions::add_text(OptionTable& table, const std::string& meaning) {
    table.add("-Y,--filter", "FILTER", text, meaning);
}

}  // namespace qps::cli
