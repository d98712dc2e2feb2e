// The judges: for every finding one who recomputes it from packets, and a list of what is still wanting.
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
[[nodiscard]] std::span<const Judge> timeout_judges();
[[nodiscard]] std::span<const Judge> network_judges();
[[nodiscard]] std::span<const Judge> common_judges();
[[nodiscard]] std::span<const Judge> management_judges();
[[nodiscard]] std::span<const Judge> capture_judges();
[[nodiscard]] std::span<const Judge> setup_judges();
[[nodiscard]] std::span<const Judge> upper_judges();
[[nodiscard]] std::span<const Judge> iwarp_judges();
[[nodiscard]] std::span<const Judge> ultra_ethernet_judges();
[[nodiscard]] std::span<const Judge> fabric_judges();
[[nodiscard]] std::span<const Judge> pause_judges();
[[nodiscard]] std::span<const Judge> bridging_judges();
[[nodiscard]] std::span<const Judge> reachability_judges();
[[nodiscard]] std::span<const Judge> beside_judges();
[[nodiscard]] std::span<const Judge> link_judges();
[[nodiscard]] std::span<const Judge> security_judges();
[[nodiscard]] std::span<const Judge> collective_judges();

// Nothing where there is none.
[[nodiscard]] const Judge* judge_of(std::string_view finding);

// Captures in which each finding is heard, and its judge agrees.
inline constexpr std::size_t kEnoughCaptures = 3;
// A finding that has fewer: how many it has, and why. To shrink.
struct Wanting {
    std::string_view finding;
    std::size_t captures;
    std::string_view why;
};
[[nodiscard]] std::span<const Wanting> wanting();
// A finding of which some numbers may be others, and its judge agrees all the same: how many of those that the sitting
// alters, and why. To shrink.
struct Unproven {
    std::string_view finding;
    std::size_t numbers;
    std::string_view why;
};
[[nodiscard]] std::span<const Unproven> unproven();

}  // namespace qps::court
