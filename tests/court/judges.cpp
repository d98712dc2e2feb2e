// Every judge, and what is still wanting.
#include <tests/court/judges.hpp>

#include <array>

namespace qps::court {

namespace {

constexpr std::string_view kUpper = "the court reads no upper protocols yet";
constexpr std::string_view kBounds = "no capture of the court is beyond the bounds";

constexpr std::array kWanting{
    Wanting{"protocol-refused", 0, kUpper},
    Wanting{"login-failed", 0, kUpper},
    Wanting{"session-terminated", 0, kUpper},
    Wanting{"protocol-error", 0, kUpper},
    Wanting{"operation-failed", 0, kUpper},
    Wanting{"operation-unanswered", 0, kUpper},
    Wanting{"operation-slow", 0, kUpper},
    Wanting{"keep-alive-late", 0, kUpper},
    Wanting{"credits-used-up", 0, kUpper},
    Wanting{"credits-of-one", 0, kUpper},
    Wanting{"serialised-io", 0, kUpper},
    Wanting{"collective-straggler", 0, kUpper},
    Wanting{"collective-incast", 0, kUpper},
    Wanting{"analysis-bounded", 0, kBounds},
};

}  // namespace

std::span<const Wanting> wanting() { return kWanting; }

const Judge* judge_of(std::string_view finding) {
    for (const auto family : {recovery_judges(), network_judges(), management_judges(), capture_judges(), setup_judges(), pause_judges(), fabric_judges(), iwarp_judges()})
        for (const Judge& judge : family)
            if (judge.finding == finding) return &judge;
    return nullptr;
}

}  // namespace qps::court
