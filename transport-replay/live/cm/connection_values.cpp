#include <dissect/base/timers.hpp>
#include <dissect/mad/cm.hpp>
#include <transport-replay/live/cm/connection_values.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::uint8_t kMostCode = 31;  // 5 bits

constexpr std::size_t in_bytes(const Field& field) { return field.width / 8; }

// By CmMessage.
constexpr std::array<std::size_t, kCmMessages> kPrivateRoom{
    in_bytes(named(kCmReqFields, "infiniband.cm.req.private")),
    in_bytes(named(kCmMraFields, "infiniband.cm.mra.private")),
    in_bytes(named(kCmRejFields, "infiniband.cm.rej.private")),
    in_bytes(named(kCmRepFields, "infiniband.cm.rep.private")),
    in_bytes(named(kCmRtuFields, "infiniband.cm.rtu.private")),
    in_bytes(named(kCmDreqFields, "infiniband.cm.dreq.private")),
    in_bytes(named(kCmDrepFields, "infiniband.cm.drsp.private")),
    in_bytes(named(kCmSidrReqFields, "infiniband.cm.sidr_req.private")),
    in_bytes(named(kCmSidrRepFields, "infiniband.cm.sidr_rep.private")),
    in_bytes(named(kCmLapFields, "infiniband.cm.lap.private")),
    in_bytes(named(kCmAprFields, "infiniband.cm.apr.private")),
};
static_assert(std::ranges::max(kPrivateRoom) == kMostPrivateBytes);

}  // namespace

Duration duration_of(TimeoutCode code) { return dissect::timeout_of(std::to_underlying(code)); }

// The sum of two powers of two, as the nearest power: the smaller counts where it is at least half of the larger. (So
// does Linux: lifetime 18 and delay 15 make 19.)
TimeoutCode ack_timeout_from(TimeoutCode packet_lifetime, TimeoutCode ack_delay) {
    const int twice = std::min(std::to_underlying(packet_lifetime), kMostCode) + 1;
    const int delay = std::min(std::to_underlying(ack_delay), kMostCode);
    const int larger = std::max(twice, delay);
    const int sum = std::min(twice, delay) >= larger - 1 ? larger + 1 : larger;
    return TimeoutCode{static_cast<std::uint8_t>(std::min<int>(sum, kMostCode))};
}

std::size_t private_room(CmMessage message) {
    const auto index = static_cast<std::size_t>(message);
    return index < kPrivateRoom.size() ? kPrivateRoom[index] : 0;
}

}  // namespace qps::transport::live
