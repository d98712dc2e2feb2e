// SrpMachine: SRP as one conversation: the login in the CM's private data, SCSI commands with the memory that their
// descriptors name, task management, the request limit, logouts.
//
// What an attacker could feed: any information unit of either side at any time, limits that grow without end. A limit
// is a number that saturates; nothing else is kept but open operations and facts.
#pragma once

#include <transport-replay/ulp/credit_wait.hpp>
#include <transport-replay/ulp/ulp_session.hpp>

namespace qps::transport {

class SrpMachine {
public:
    void connected(const CmAttempt& attempt, UlpSession& session);
    [[nodiscard]] Understood message(const UlpMessage& message, UlpSession& session);

private:
    // Requests that the initiator may have outstanding more, once the login said how many; and whether that was told
    // of.
    std::optional<std::int64_t> left_;
    bool reported_ = false;
    CreditWait wait_;

    void grant(std::uint32_t delta, dissect::Instant time);
    void use(const UlpMessage& message, UlpSession& session);
    Understood command(const UlpMessage& message, UlpSession& session);
    Understood response(const UlpMessage& message, UlpSession& session);
    Understood task_management(const UlpMessage& message, UlpSession& session);
};

}  // namespace qps::transport
