// The judges: for every finding one who recomputes it from packets, or the reason why nobody does yet.
#pragma once

#include <tests/court/hearing.hpp>

#include <span>

namespace qps::court {

struct Judge {
    std::string_view finding;  // id
    void (*judge)(Hearing&);
};

// By family, as the findings are.
[[nodiscard]] std::span<const Judge> recovery_judges();
[[nodiscard]] std::span<const Judge> network_judges();
[[nodiscard]] std::span<const Judge> management_judges();
[[nodiscard]] std::span<const Judge> capture_judges();

// Nothing where there is none.
[[nodiscard]] const Judge* judge_of(std::string_view finding);

// Findings that no judge hears, with the reason. To shrink.
struct Unjudged {
    std::string_view finding;
    std::string_view why;
};
[[nodiscard]] std::span<const Unjudged> unjudged();

}  // namespace qps::court
