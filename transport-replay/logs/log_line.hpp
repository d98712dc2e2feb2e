// What a line of somebody's log (NCCL, UCX, libfabric, Open MPI, perftest, the kernel, any user of verbs) says of the
// connection it complains about: addresses, queue pair numbers, and the completion status. Anything may stand in a line;
// what is not recognised is passed over.
#pragma once

#include <transport-replay/model/address.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport {

// What a completion with an error says went wrong, as far as it shows on the wire.
enum class Complaint : std::uint8_t {
    retries_exceeded,        // IBV_WC_RETRY_EXC_ERR (12): nobody answered
    rnr_retries_exceeded,    // IBV_WC_RNR_RETRY_EXC_ERR (13)
    remote_access,           // IBV_WC_REM_ACCESS_ERR (10)
    remote_invalid_request,  // IBV_WC_REM_INV_REQ_ERR (9)
    remote_operation,        // IBV_WC_REM_OP_ERR (11)
    flushed,                 // IBV_WC_WR_FLUSH_ERR (5): a consequence, another completion has the cause
    local,                   // a local error: nothing of it is on the wire
};

struct LogLine {
    std::vector<Address> addresses;  // each once, in order; of AddressSpace::none but for LIDs
    std::vector<dissect::Qpn> qpns;             // the same
    std::optional<Complaint> complaint;
    [[nodiscard]] bool empty() const { return addresses.empty() && qpns.empty() && !complaint; }
};

[[nodiscard]] LogLine read_log_line(std::string_view line);

// "10: remote access error: the peer refused the R_Key, address or permission"
[[nodiscard]] std::string_view meaning(Complaint complaint);
// What was recognised, a line for people each: "queue pairs: 17 (0x11)".
[[nodiscard]] std::vector<std::string> recognised(const LogLine& line);

}  // namespace qps::transport
