// Every judge, and what is still wanting.
#include <tests/court/judges.hpp>

#include <array>

namespace qps::court {

namespace {

// None: every finding is heard in enough captures.
constexpr std::array kWanting{
    Wanting{"gaps-unexplained", 2, "what comes later is not missing any more: of the exhibits two end before it does"},
};

// Bounds are what a packet trace gives without the analyser's own rules of which packets belong to which episode.
constexpr std::string_view kBound = "judged by a bound: not more than what the packets leave room for";
constexpr std::string_view kTolerance = "the tolerance of a clock is the analyser's own";
constexpr std::string_view kOthers = "of connections or hosts that the sentence does not name";
constexpr std::string_view kRules = "the court does not know every rule of every format";

constexpr std::array kUnproven{
    Unproven{"ack-timeout", 22, kBound},        Unproven{"capture-duplicates", 2, kTolerance},
    Unproven{"cm-retries", 5, kOthers},         Unproven{"credits-exhausted", 3, kBound},
    Unproven{"go-back-n-loss", 17, kBound},     Unproven{"losses-by-udp-port", 3, kOthers},
    Unproven{"icrc-wrong", 1, kOthers},         Unproven{"malformed-packets", 4, kRules},
    Unproven{"nak-ignored", 2, kBound},         Unproven{"operation-failed", 2, kBound},
    Unproven{"pfc-pause", 1, kBound},           Unproven{"read-response-lost", 25, kBound},
    Unproven{"reordered-not-lost", 19, kBound}, Unproven{"retransmission-undecided", 10, kBound},
    Unproven{"rnr-stall", 7, kBound},           Unproven{"selective-repeat", 14, kBound},
    Unproven{"stalled-together", 3, kOthers},   Unproven{"udp-port-entropy", 5, kOthers},
};

}  // namespace

std::span<const Unproven> unproven() { return kUnproven; }
std::span<const Wanting> wanting() { return kWanting; }

const Judge* judge_of(std::string_view finding) {
    for (const auto family :
         {recovery_judges(), timeout_judges(), network_judges(), common_judges(), management_judges(), capture_judges(),
          setup_judges(), pause_judges(), bridging_judges(), reachability_judges(), security_judges(), beside_judges(),
          link_judges(), fabric_judges(), iwarp_judges(), ultra_ethernet_judges(), upper_judges(), collective_judges()})
        for (const Judge& judge : family)
            if (judge.finding == finding) return &judge;
    return nullptr;
}

}  // namespace qps::court
