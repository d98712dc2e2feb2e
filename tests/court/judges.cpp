// Every judge, and what is still wanting.
#include <tests/court/judges.hpp>

#include <array>

namespace qps::court {

namespace {

constexpr std::string_view kCollectives = "the court reads no collectives: what is certain of them is measured in tests/transport-replay/collectives";
constexpr std::string_view kBounds = "no capture of the court is beyond the bounds";

constexpr std::array kWanting{
    Wanting{"collective-straggler", 0, kCollectives},
    Wanting{"collective-incast", 0, kCollectives},
    Wanting{"analysis-bounded", 0, kBounds},
};

}  // namespace

std::span<const Wanting> wanting() { return kWanting; }

const Judge* judge_of(std::string_view finding) {
    for (const auto family : {recovery_judges(), network_judges(), management_judges(), capture_judges(), setup_judges(), pause_judges(), fabric_judges(), iwarp_judges(), upper_judges()})
        for (const Judge& judge : family)
            if (judge.finding == finding) return &judge;
    return nullptr;
}

}  // namespace qps::court
