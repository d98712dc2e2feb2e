// What a line of somebody's log (NCCL, UCX, libfabric, Open MPI, perftest, the kernel, any user of verbs) says of the
// connection it complains about: addresses, queue pair numbers, and what went wrong. Anything may stand in a line; what
// is not recognised is passed over.
#pragma once

#include <transport-replay/logs/complaint.hpp>
#include <transport-replay/logs/error_cqe.hpp>
#include <transport-replay/model/address.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport {

struct LogLine {
    std::vector<Address> addresses;  // each once, in order; of AddressSpace::none but for LIDs
    std::vector<dissect::Qpn> qpns;  // the same
    std::optional<Complaint> complaint;
    std::optional<std::uint16_t> reject_reason;  // of a rejected connection
    std::optional<ErrorCqe> cqe;
    std::optional<std::uint8_t> vendor_syndrome;  // where its meaning beside the complaint is known
    [[nodiscard]] bool empty() const { return addresses.empty() && qpns.empty() && !complaint; }
};

[[nodiscard]] LogLine read_log_line(std::string_view line);

// What was recognised, a line for people each: "queue pairs: 17 (0x11)".
[[nodiscard]] std::vector<std::string> recognised(const LogLine& line);

}  // namespace qps::transport
