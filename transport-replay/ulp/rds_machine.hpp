// RdsMachine: messages of RDS. Every fragment is a SEND with the header of its message; a message is done when the
// other side says it received that sequence number or a later one. Congestion maps have no number and nobody
// acknowledges them.
//
// What an attacker could feed: sequence numbers that jump. At most kMaxOpen are waited for, the older ones are let go.
#pragma once

#include <transport-replay/ulp/likeness.hpp>
#include <transport-replay/ulp/ulp_session.hpp>

#include <array>

namespace qps::transport {

namespace rds {
inline constexpr OperationCode kMessage{1}, kPing{2}, kPong{3}, kCongestionMap{4};
[[nodiscard]] Likeness likeness(const UlpMessage& message);
[[nodiscard]] bool is_private_data(const CmAttempt& attempt);
[[nodiscard]] std::string_view operation_name(OperationCode code);
[[nodiscard]] std::string describe(const UlpOperation& operation);
}  // namespace rds

class RdsMachine {
public:
    void connected(const CmAttempt& attempt, UlpSession& session);
    Understood message(const UlpMessage& message, UlpSession& session);

private:
    struct Side {
        std::uint64_t oldest = 0;  // sequence numbers of its messages that wait: oldest .. newest
        std::uint64_t newest = 0;
        std::uint64_t map_seen = 0;    // bytes of the congestion map that is on its way
        std::uint64_t ports_full = 0;  // bits in them
    };
    void acknowledge(End sender, std::uint64_t ack, const UlpMessage& message, UlpSession& session);
    [[nodiscard]] UlpLabel take_map(const UlpMessage& message, std::uint64_t length, UlpSession& session);

    std::array<Side, 2> sides_{};
};

}  // namespace qps::transport
