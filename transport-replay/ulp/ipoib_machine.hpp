// IpoibMachine: what IP over InfiniBand carries. Pings are followed to their answer; everything else is one way; TCP
// has tools of its own.
//
// What an attacker could feed: pings without answers; they wait as all operations do.
#pragma once

#include <transport-replay/ulp/likeness.hpp>
#include <transport-replay/ulp/ulp_session.hpp>

namespace qps::transport {

namespace ipoib {
inline constexpr OperationCode kPing{1}, kIcmp{2}, kTcp{3}, kUdp{4}, kOther{5}, kArpRequest{6}, kArpReply{7};
[[nodiscard]] Likeness likeness(const UlpMessage& message);
// By the service id of RFC 4755 5.1: datagrams of that queue pair have a connection.
[[nodiscard]] bool is_private_data(const CmAttempt& attempt);
[[nodiscard]] std::string_view operation_name(OperationCode code);
[[nodiscard]] std::string describe(const UlpOperation& operation);
}  // namespace ipoib

class IpoibMachine {
public:
    void connected(const CmAttempt& attempt, UlpSession& session);
    Understood message(const UlpMessage& message, UlpSession& session);
};

}  // namespace qps::transport
