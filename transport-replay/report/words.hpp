// Words of findings, beside those of all reports: numbers, times and ends as people read them in a sentence.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/report/figures.hpp>

#include <string>
#include <string_view>

namespace qps::transport::words {

[[nodiscard]] std::string times(std::uint64_t count);  // "once", "twice", "3 times"
// "9.2 s"; of several also the longest: "9.2 s, 4.6 s of it at once".
[[nodiscard]] std::string cost(std::uint64_t events, dissect::Duration all, dissect::Duration most);
// "419 packets (443 KiB)", "419 packets (443 KiB, 17 of them new to the tap)": what was sent again.
[[nodiscard]] std::string resent(const RecoverySum& sum, std::uint64_t rests_of_reads);
// "4096 bytes": what programs and configurations call it, to be compared with them.
[[nodiscard]] std::string length(std::uint64_t bytes);
// "2.1 %" of a whole that is not 0; "0 %" of one that is.
[[nodiscard]] std::string share(std::uint64_t part, std::uint64_t whole);
// "10.0.0.2 QP 17", "10.0.0.2" where no packet names its queue pair.
[[nodiscard]] std::string who(const Endpoint& end);
[[nodiscard]] std::string host(const Endpoint& end);
// "SEND", "RDMA WRITE", "RDMA READ": what a work request is called.
[[nodiscard]] std::string_view verb(dissect::Verb verb);

}  // namespace qps::transport::words
