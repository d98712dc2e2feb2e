// The findings of a timeline made by hand, one by one.
#pragma once

#include <tests/support/catch.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace qps::tests {

// The only one of that id.
inline const transport::Finding& one(transport::Timeline& timeline, std::string_view id) {
    transport::draw_findings(timeline);
    REQUIRE(std::ranges::count(timeline.findings, id, &transport::Finding::id) == 1);
    return *std::ranges::find(timeline.findings, id, &transport::Finding::id);
}

inline bool says(const std::string& text, std::string_view words) {
    INFO(text);
    CHECK(text.find(words) != std::string::npos);
    return text.find(words) != std::string::npos;
}

}  // namespace qps::tests
