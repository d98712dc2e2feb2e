// How SDP is recognised: by its service and the hello in the private data of a connection request, or by messages that all have the
// length that they say. It is decoded, not followed.
#pragma once

#include <transport-replay/ulp/likeness.hpp>
#include <transport-replay/ulp/ulp_session.hpp>

namespace qps::transport::sdp_protocol {

[[nodiscard]] Likeness likeness(const UlpMessage& message);
[[nodiscard]] bool private_data(const CmAttempt& attempt);

}  // namespace qps::transport::sdp_protocol
