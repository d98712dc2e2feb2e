// IserMachine: iSCSI over iSER as one conversation: logins with their keys, SCSI commands with the memory that their
// iSER header names, pings, task management, logout, and what the target complains of.
//
// What an attacker could feed: any PDU of either side at any time. It is understood or not; nothing of it is kept but
// open operations and facts, which have their bounds.
#pragma once

#include <transport-replay/ulp/ulp_session.hpp>

namespace qps::transport {

class IserMachine {
public:
    void connected(const CmAttempt& attempt, UlpSession& session);
    [[nodiscard]] Understood message(const UlpMessage& message, UlpSession& session);
    // The capture ended. A target that will not have a login may just close the connection (Linux does for unknown
    // names).
    void finished(const CmReport& cm, UlpSession& session);

private:
    std::optional<std::uint32_t> attempt_;      // of CM, that made the connection
    std::optional<dissect::FrameIndex> login_;  // a request that was not answered yet
};

}  // namespace qps::transport
