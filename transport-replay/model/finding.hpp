// Finding: something that went wrong, whose fault it is, what proves it and what to do about it.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <string>
#include <vector>

namespace qps::transport {

enum class Severity : std::uint8_t { note, warning, error };
inline constexpr std::array<std::string_view, 3> kSeverityNames{"note", "warning", "error"};

// Who can do something about it.
enum class Party : std::uint8_t { requester, responder, fabric, congestion, capture, application, undecided };
inline constexpr std::array<std::string_view, 7> kPartyNames{"requester", "responder",   "fabric",   "congestion",
                                                             "capture",   "application", "undecided"};

inline constexpr std::string_view kObserved = "heuristic";  // the clause of what rests on none

inline constexpr std::size_t kMaxEvidence = 16;  // frames listed; more prove no more

struct Finding {
    std::string_view id;  // of kFindings
    Severity severity{};
    Party party{};
    std::optional<ConnectionId> connection;    // nothing where it is not of one connection
    std::vector<dissect::FrameIndex> packets;  // that prove it, in order, at most kMaxEvidence
    std::uint64_t count = 1;                   // how often it happened
    std::string summary;                       // one sentence with the numbers
    std::string advice;                        // one sentence
    std::string_view clause;                   // what it rests on: IBA is volume 1 of the InfiniBand specification
};

}  // namespace qps::transport
