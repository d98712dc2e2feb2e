// Which connections and connection attempts of a capture a line of a log may be about, best first, and why.
#pragma once

#include <transport-replay/logs/log_line.hpp>
#include <transport-replay/logs/log_time.hpp>
#include <transport-replay/model/connection.hpp>

#include <string>
#include <vector>

namespace qps::transport {

struct Timeline;

struct Candidate {
    ConnectionId connection{};
    std::string reasons;  // "both hosts; QP 17 of 10.0.0.1; 7 timeouts"
    int weight = 0;       // what the line names of it and complains of; equal ones fit equally
    bool named = false;   // the line names a host or queue pair of it
};

// When a line was written, by the clock of the capture.
struct LineMoment {
    dissect::Instant time{};
    dissect::Duration
        shift{};  // of a local time, whose zone the capture tells: the one that brings it next to the packets
};
// Nothing for a time since boot, and for one that is hours before or after the capture: it tells nothing of its
// packets.
[[nodiscard]] std::optional<LineMoment> moment_of(const LogTime& time, const Timeline& timeline);
// "2.313 s into the capture (local time, moved by -2 h)"
[[nodiscard]] std::string text(const LineMoment& moment, const Timeline& timeline);

// With the time of the line, what happened nearest to it comes first among equals.
[[nodiscard]] std::vector<Candidate> candidates_for(const LogLine& line, const Timeline& timeline,
                                                    std::optional<LineMoment> moment = {});

struct AttemptCandidate {
    std::uint32_t attempt = 0;  // CmAttempt::uid
    std::string reasons;        // "both hosts; rejected by the passive side: Stale connection (10)"
};
// Of a line that complains of the connection manager; none of others.
[[nodiscard]] std::vector<AttemptCandidate> attempt_candidates_for(const LogLine& line, const Timeline& timeline,
                                                                   std::optional<LineMoment> moment = {});

}  // namespace qps::transport
