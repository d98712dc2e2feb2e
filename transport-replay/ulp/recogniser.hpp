// UlpRecogniser: messages of a connection of which nobody says what it speaks -> a decision, once one message is sure
// or some are plausible and none contradicts.
//
// What an attacker could feed: messages that look like something. A connection is given up after kTries; a few short
// messages of it are kept.
#pragma once

#include <transport-replay/model/byte_share.hpp>
#include <transport-replay/ulp/protocols.hpp>

#include <array>
#include <optional>
#include <vector>

namespace qps::transport {

// What a connection speaks, and who says so.
struct UlpDecision {
    UlpProtocol protocol{};
    UlpBasis basis{};
    std::uint8_t certainty = 0;
    End active{};
    bool settled = false;  // an earlier pass saw it through
    bool orients = false;  // who is the active end is told by its first message that can tell
};

class UlpRecogniser {
public:
    static constexpr std::size_t kTries = 24;            // messages after which a connection speaks nothing we know
    static constexpr std::size_t kKeptTries = 12;        // of those: kept, to be followed once it is known
    static constexpr std::size_t kKeptTryBytes = 1024;   // of each
    static constexpr std::uint8_t kPlausibleNeeded = 4;  // plausible messages without a sure one

    // The decision, where this message brings it.
    [[nodiscard]] std::optional<UlpDecision> take(const UlpMessage& message, ByteShare& payload);
    [[nodiscard]] bool gave_up() const { return tries_ >= kTries; }
    // Whether no protocol is left that a message may decide for: messages are only counted, and need no bytes.
    [[nodiscard]] bool hopeless() const { return hopeless_; }
    // The messages that were kept, in order.
    template <class Visit> void for_each_kept(const Visit& visit) {
        for (Tried& tried : kept_) {
            tried.message.bytes = tried.bytes.bytes();
            visit(tried.message);
        }
    }

private:
    struct Tried {
        UlpMessage message;
        HeldBytes bytes;
    };
    struct Votes {
        std::uint8_t plausible = 0;
        bool sure = false;
        bool impossible = false;
        std::array<std::uint8_t, 2> active{};  // messages that would make that end the active one
    };
    std::array<Votes, static_cast<std::size_t>(UlpProtocol::count_)> votes_{};
    std::size_t tries_ = 0;
    bool hopeless_ = false;
    std::vector<Tried> kept_;
};

}  // namespace qps::transport
