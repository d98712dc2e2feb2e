// How libraries that pass messages are recognised: UCX, and libfabric's rxm and rxd. None of them has a magic number:
// UCX and rxd are known by how they open a connection, rxm by versions and a length that fit.
#pragma once

#include <transport-replay/ulp/likeness.hpp>
#include <transport-replay/ulp/ulp_message.hpp>

namespace qps::transport::message_libraries {

[[nodiscard]] Likeness ucx(const UlpMessage& message);
[[nodiscard]] Likeness ucx_datagram(const UlpMessage& message);
[[nodiscard]] Likeness rxm(const UlpMessage& message);
[[nodiscard]] Likeness rxd(const UlpMessage& message);

}  // namespace qps::transport::message_libraries
