// Complaint: what a line of a log says went wrong, as far as it shows on the wire.
#pragma once

#include <cstdint>
#include <string_view>

namespace qps::transport {

enum class Complaint : std::uint8_t {
    // Completions with an error.
    retries_exceeded,        // IBV_WC_RETRY_EXC_ERR (12): nobody answered
    rnr_retries_exceeded,    // IBV_WC_RNR_RETRY_EXC_ERR (13)
    remote_access,           // IBV_WC_REM_ACCESS_ERR (10)
    remote_invalid_request,  // IBV_WC_REM_INV_REQ_ERR (9)
    remote_operation,        // IBV_WC_REM_OP_ERR (11)
    bad_response,            // IBV_WC_BAD_RESP_ERR (7)
    flushed,                 // IBV_WC_WR_FLUSH_ERR (5): a consequence, another completion has the cause
    local,                   // a local error: of a requester nothing is on the wire, of a responder its NAK
    other,                   // another, which has no mark of its own on the wire
    // Events of an adapter.
    own_invalid_request,  // its responder refused a request: the peer has status 9
    own_access,           // the same of an R_Key, an address or a permission: the peer has status 10
    queue_pair_error,     // a queue pair went to the error state
    port,                 // a port or a link changed
    // Of the connection manager.
    rejected,     // REJ
    unreachable,  // nobody answered the REQ
};

// "retries exceeded (status 12): the peer did not answer"
[[nodiscard]] std::string_view meaning(Complaint complaint);

}  // namespace qps::transport
