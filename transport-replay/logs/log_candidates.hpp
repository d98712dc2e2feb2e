// Which connections of a capture a line of a log may be about, best first, and why.
#pragma once

#include <transport-replay/logs/log_line.hpp>
#include <transport-replay/model/connection.hpp>

#include <string>
#include <vector>

namespace qps::transport {

struct Timeline;

struct Candidate {
    ConnectionId connection{};
    std::string reasons;  // "both hosts; QP 17 of 10.0.0.1; 7 timeouts"
};

[[nodiscard]] std::vector<Candidate> candidates_for(const LogLine& line, const Timeline& timeline);

}  // namespace qps::transport
