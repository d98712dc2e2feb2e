// SendAssembler: SEND packets of one way, in the order of the capture, become messages as soon as their last packet is
// seen.
//
// Packets are taken by their PSN: what is asked for again after a loss comes in order anyway (go-back-N, 9.7.5.1.2),
// what was taken before is left out. A message of which the capture lacks a packet is given up. What an attacker could
// feed: messages that never end; kMostHeld bounds what is kept of one, a share of the memory what is kept of all. What
// is not kept is missing at the end of the message, as if the capture had cut it off.
#pragma once

#include <transport-replay/model/byte_share.hpp>
#include <transport-replay/model/packet_record.hpp>
#include <transport-replay/ulp/ulp_message.hpp>

namespace qps::transport {

// A datagram is a message of its own: nobody counts its PSNs, which go on over all destinations of its sender.
[[nodiscard]] UlpMessage datagram(const Observation& observation, const PacketRecord& record);

class SendAssembler {
public:
    static constexpr std::size_t kMostHeld = std::size_t{1}
                                             << 20;  // of a message; upper protocols SEND some 64 KiB at most

    // The message that this request packet completes. It borrows from here or from the observation. `keeps`: somebody
    // reads its bytes; once nobody did, nobody may.
    [[nodiscard]] std::optional<UlpMessage> take(const Observation& observation, const PacketRecord& record,
                                                 ByteShare& share, bool keeps = true);

private:
    [[nodiscard]] bool is_known(dissect::Psn psn) const;

    HeldBytes held_;
    UlpMessage message_;  // while open_
    bool open_ = false;
    dissect::Psn next_;  // of the packet that continues it
    bool any_ = false;
    dissect::Psn newest_;  // PSN of the last packet of the last message that was handed out
};

}  // namespace qps::transport
