// SmbMachine: follows SMB Direct: its credits, fragments put together into SMB2 messages, requests and responses by message id, and
// the memory that READ and WRITE name.
//
// What an attacker could feed: fragments without end, of which kMostHeld is kept.
#pragma once

#include <dissect/ulp/smb_message.hpp>
#include <transport-replay/ulp/talk.hpp>

#include <vector>

namespace qps::transport {

class SmbMachine {
public:
    static constexpr std::size_t kMostHeld = std::size_t{1} << 20;  // of a message in fragments; Windows and Linux take 1 MiB

    void connected(const CmAttempt&, Talk&) {}
    [[nodiscard]] Understood message(const UlpMessage& message, Talk& talk);

private:
    // What one end sends.
    struct Side {
        std::vector<std::byte> held;          // fragments, while more are to come
        std::uint64_t announced = 0;          // bytes that are still to come
        bool broken = false;                  // a fragment is missing: wait for the next message
        std::optional<std::int64_t> credits;  // messages that it may send; known from the negotiation on
    };

    [[nodiscard]] Understood negotiation(const UlpMessage& message, dissect::SmbDirectType type, Talk& talk);
    [[nodiscard]] Understood data(const UlpMessage& message, Talk& talk);
    void spend_and_grant(const UlpMessage& message, std::uint16_t granted, Talk& talk);
    std::optional<UlpLabel> commands(const UlpMessage& message, dissect::Bytes bytes, Talk& talk);
    UlpLabel request(const UlpMessage& message, dissect::Bytes bytes, const dissect::Smb2Head& head, Talk& talk);
    UlpLabel response(const UlpMessage& message, dissect::Bytes bytes, const dissect::Smb2Head& head, Talk& talk);

    std::array<Side, 2> sides_;
    bool told_credits_ = false;
};

}  // namespace qps::transport
