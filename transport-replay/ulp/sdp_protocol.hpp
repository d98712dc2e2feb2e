// How SDP is recognised: by its service and the hello in the private data of a connection request. Its messages have no
// magic number, only a length, as those of many others have. It is decoded, not followed.
#pragma once

#include <transport-replay/ulp/likeness.hpp>
#include <transport-replay/ulp/ulp_session.hpp>

namespace qps::transport::sdp_protocol {

[[nodiscard]] bool private_data(const CmAttempt& attempt);

}  // namespace qps::transport::sdp_protocol
