// RsocketsMachine: the messages of rsockets, which are WRITEs with an immediate: data, credits with or without an offer
// of memory, farewells. None of them is answered.
//
// What an attacker could feed: immediates that lie about the length of data; they are not understood.
#pragma once

#include <transport-replay/ulp/likeness.hpp>
#include <transport-replay/ulp/ulp_session.hpp>

namespace qps::transport {

namespace rsockets {
inline constexpr OperationCode kData{1}, kCredits{2}, kOffer{3}, kIoMap{4}, kDisconnect{5}, kKeepAlive{6}, kShutdown{7};
[[nodiscard]] bool is_private_data(const CmAttempt& attempt);
[[nodiscard]] std::string_view operation_name(OperationCode code);
[[nodiscard]] std::string describe(const UlpOperation& operation);
}  // namespace rsockets

class RsocketsMachine {
public:
    void connected(const CmAttempt& attempt, UlpSession& session);
    // Data goes by SEND where a WRITE can have no immediate.
    Understood message(const UlpMessage& message, UlpSession& session);
    Understood written(const Transfer& transfer, UlpSession& session);
};

}  // namespace qps::transport
