// SmbMachine: follows SMB Direct: its credits, fragments put together into SMB2 messages, requests and responses by
// message id, and the memory that READ and WRITE name.
//
// What an attacker could feed: fragments without end, of which kMostHeld is kept; files that nobody closes, of which
// kMostFiles are.
#pragma once

#include <dissect/ulp/smb_message.hpp>
#include <transport-replay/ulp/credit_wait.hpp>
#include <transport-replay/ulp/ulp_session.hpp>

#include <map>
#include <string>
#include <vector>

namespace qps::transport {

class SmbMachine {
public:
    static constexpr std::size_t kMostFiles = 4096;  // names of a connection: a client has some hundred files open
    static constexpr std::size_t kMostHeld = std::size_t{1}
                                             << 20;  // of a message in fragments; Windows and Linux take 1 MiB

    void connected(const CmAttempt&, UlpSession&) {}
    [[nodiscard]] Understood message(const UlpMessage& message, UlpSession& session);

private:
    // What one end sends.
    struct Side {
        HeldBytes held;                       // fragments, while more are to come
        std::uint64_t announced = 0;          // bytes that are still to come
        bool broken = false;                  // a fragment is missing: wait for the next message
        std::optional<std::int64_t> credits;  // messages that it may send; known from the negotiation on
    };

    [[nodiscard]] Understood negotiation(const UlpMessage& message, dissect::SmbDirectType type, UlpSession& session);
    [[nodiscard]] Understood data(const UlpMessage& message, UlpSession& session);
    void spend_and_grant(const UlpMessage& message, std::uint16_t granted, UlpSession& session);
    std::optional<UlpLabel> commands(const UlpMessage& message, dissect::Bytes bytes, UlpSession& session);
    UlpLabel request(const UlpMessage& message, dissect::Bytes bytes, const dissect::Smb2Head& head,
                     UlpSession& session);
    UlpLabel response(const UlpMessage& message, dissect::Bytes bytes, const dissect::Smb2Head& head,
                      UlpSession& session);

    void name_file(dissect::Bytes bytes, const dissect::Smb2Head& head, UlpOperation& operation);
    void follow_file(dissect::Bytes bytes, const dissect::Smb2Head& head, const UlpOperation& operation);

    std::array<Side, 2> sides_;
    std::map<std::uint64_t, std::string> files_;  // that are open
    std::string previous_;                        // of the command before in the same chain
    CreditWait wait_;                             // of the client
    bool said_waited_ = false;
    bool said_exceeded_ = false;
};

}  // namespace qps::transport
