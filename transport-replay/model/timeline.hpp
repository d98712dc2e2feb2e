// Timeline: all that was reconstructed of a capture, immutable. What reports print and views show.
#pragma once

#include <transport-replay/model/beside_report.hpp>
#include <transport-replay/model/bridging_report.hpp>
#include <transport-replay/model/capture_quality.hpp>
#include <transport-replay/model/captured_host.hpp>
#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/collective_report.hpp>
#include <transport-replay/model/congestion_report.hpp>
#include <transport-replay/model/credit_report.hpp>
#include <transport-replay/model/final_numbers.hpp>
#include <transport-replay/model/finding.hpp>
#include <transport-replay/model/iwarp_report.hpp>
#include <transport-replay/model/management_report.hpp>
#include <transport-replay/model/reachability_report.hpp>
#include <transport-replay/model/recovery.hpp>
#include <transport-replay/model/totals.hpp>
#include <transport-replay/model/uet_report.hpp>
#include <transport-replay/model/ulp_report.hpp>

#include <deque>
#include <string>
#include <vector>

namespace qps::transport {

// Findings of one kind that are not listed.
struct FindingsLeftOut {
    std::string_view id;
    Severity severity{};
    std::uint64_t count = 0;
};

// What bounds made us leave out, beside what the parts of the timeline say (report/bounds.hpp has all of it). All 0:
// nothing.
struct LeftOut {
    std::uint64_t packets_of_connections = 0;  // for which there was no place
    std::uint64_t messages = 0;                // given up unanswered, because too many were open
    std::uint64_t recoveries = 0;              // episodes past kMaxRecoveries; the sums have them
    std::uint64_t fatalities = 0;              // past kMaxFatalities
    std::uint64_t contradictions = 0;          // PSNs whose evidence excludes all that may have become of them
    std::vector<FindingsLeftOut> findings;     // in the order of the table of findings
};

struct Timeline {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;                // on the wire
    std::optional<dissect::Instant> first;  // nothing where no packet has a time
    std::optional<dissect::Instant> last;
    std::vector<dissect::Instant>
        recordings;  // when each but the last ended, where the files do not continue each other
    CaptureQuality quality;
    Totals totals;
    std::deque<Connection> connections;  // by uid; many, so not in one piece
    Retired retired;                     // others, in sums alone
    FinalNumbers numbers;                // of flows that are part of these
    std::vector<Recovery> recoveries;    // in the order they began
    std::vector<Fatality> fatalities;
    CmReport cm;
    CongestionReport congestion;
    UlpReport ulp;
    CollectiveReport collectives;
    ManagementReport management;
    BridgingReport bridging;
    ReachabilityReport reachability;
    std::vector<LossyBeside> beside;  // by destination and class
    CreditReport credits;
    IwarpReport iwarp;
    UetReport uet;
    std::vector<Finding> findings;  // worst first
    LeftOut left_out;
    std::vector<Address> unordered;       // hosts whose NICs accept packets out of order, as the user says
    std::vector<CapturedHost> hosts;      // by name, where captures of several hosts were joined; else empty
    std::vector<std::string> incomplete;  // what it is not of, though it was asked for: a sentence each
    std::uint64_t undecoded = 0;          // packets of link types that are not decoded
    CaptureTraits learned;  // what a second reading can do better than this one; empty where this one knew it

    [[nodiscard]] const Connection* find(ConnectionId uid) const;
    [[nodiscard]] Connection* find(ConnectionId uid);
    // When the recording ended that a connection is in; only where packets have times.
    [[nodiscard]] dissect::Instant end_of(const Connection& connection) const {
        return connection.recording < recordings.size() ? recordings[connection.recording] : *last;
    }
};

}  // namespace qps::transport
