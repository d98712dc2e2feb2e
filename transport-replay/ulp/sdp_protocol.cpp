#include <dissect/ulp/sdp.hpp>
#include <transport-replay/ulp/sdp_protocol.hpp>

namespace qps::transport::sdp_protocol {

using namespace dissect;

// Services 0x10000 to 0x1ffff are SDP's, the lower half is the port (IBTA annex A4; RDMA_PS_SDP).
bool private_data(const CmAttempt& attempt) {
    constexpr std::uint64_t kService = 1;
    if (!attempt.service_id || *attempt.service_id >> 16 != kService) return false;
    return sdp::is_hello(attempt.active.private_data.first, sdp::kHello);
}

}  // namespace qps::transport::sdp_protocol
