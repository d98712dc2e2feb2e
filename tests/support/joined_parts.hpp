// Parts of an analysis joined as a cluster would, and reports to compare.
#pragma once

#include <tests/simulator/simulation.hpp>
#include <tests/support/catch.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/parts/part.hpp>
#include <transport-replay/report/json.hpp>

#include <string>
#include <vector>

namespace qps::transport {

[[nodiscard]] inline std::string report_of(const Timeline& timeline) {
    std::string report;
    write_report(timeline, OutputFormat::json, {}, {}, [&](std::string_view piece) { report += piece; });
    return report;
}

[[nodiscard]] inline AnalysisPart through_a_file(const AnalysisPart& part) {
    constexpr std::size_t kRoom = std::size_t{256} << 20;
    auto read = read_part(write_part(part, "1.2.3"), "1.2.3", kRoom);
    INFO((read ? "" : read.error().sentence));
    REQUIRE(read);
    return std::move(*read);
}

// A random tree: some parts at a time become one, until there is one.
[[nodiscard]] inline AnalysisPart joined(std::vector<AnalysisPart> parts, Draws& draws) {
    do {
        std::vector<AnalysisPart> some;
        for (std::uint64_t count = 1 + draws.below(parts.size()); count != 0; --count) {
            const std::size_t at = draws.below(parts.size());
            some.push_back(through_a_file(parts[at]));
            parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at));
        }
        auto one = join(std::move(some));
        INFO((one ? "" : one.error().sentence));
        REQUIRE(one);
        parts.push_back(std::move(*one));
    } while (parts.size() > 1);
    return std::move(parts.front());
}

}  // namespace qps::transport
