// UetContext: both ways of a packet delivery context (PDC): PSNs, acknowledgments, NACKs, paths, and the messages in
// them.
//
// Reordering is no event: senders spray packets over paths. A packet is a retransmission if its flag says so; the same
// PSN again without the flag is a copy that the network or the capture made. What an attacker could feed: PSNs
// anywhere, entropy and codes of any number. What is kept has bounds, and a charge on the memory for all that grows.
#pragma once

#include <transport-replay/model/byte_share.hpp>
#include <transport-replay/model/uet_packet.hpp>
#include <transport-replay/model/uet_report.hpp>
#include <transport-replay/tracking/quality.hpp>
#include <transport-replay/ultra_ethernet/uet_messages.hpp>

#include <array>

namespace qps::transport {

// A packet with all that is known of it.
struct SeenUet {
    const Observation& observation;
    const UetPacket& packet;
    Repetition repetition = Repetition::none;
    [[nodiscard]] bool is_trimmed() const { return observation.fault == dissect::Fault::trimmed; }
};

class UetContext {
public:
    explicit UetContext(ConnectionId uid) { summary_.connection = uid; }

    [[nodiscard]] ConnectionId uid() const { return summary_.connection; }
    // The number by which an end knows it; 0: no packet named it yet.
    [[nodiscard]] std::uint16_t id(End end) const { return ids_[static_cast<std::size_t>(end)]; }
    void name(End end, std::uint16_t id) { ids_[static_cast<std::size_t>(end)] = id; }
    // Whether a packet with SYN that `from` sent can be of this context: numbers are used again, with another first
    // PSN.
    [[nodiscard]] bool may_open(End from, const UetPacket& packet) const;

    void observe(const SeenUet& seen, End from, ByteShare& share, Tracker& tracker, PacketRecord& record);
    // The end of the capture, or of the context. Charges are kept as long as the context is.
    [[nodiscard]] UetConversation finish(Tracker& tracker);

private:
    struct Sender {
        SeenPsns seen;
        SeenPsns resent;
        SeenPsns refused;  // by a response
        SentPackets sent;
        UetMessages messages;
        LongPsn near = LongPsn{1} << 40;  // the PSN that others are counted from
        LongPsn acknowledged = 0;         // cumulatively
        std::optional<std::uint32_t> start{};
        bool numbered = false;  // `near` is known
        bool has_acknowledged = false;
    };
    struct At {  // what every step needs
        const SeenUet& seen;
        End from{};
        Tracker& tracker;
        PacketRecord& record;
    };

    [[nodiscard]] Sender& sender(End end) { return senders_[static_cast<std::size_t>(end)]; }
    [[nodiscard]] UetWay& way(End end) { return summary_.ways[static_cast<std::size_t>(end)]; }
    [[nodiscard]] UetPath* path(End end, std::uint16_t entropy);
    [[nodiscard]] LongPsn number(End end, std::uint32_t psn);
    [[nodiscard]] std::size_t bytes() const;
    void hold_within(ByteShare& share, const At& at);
    void count(const At& at, Connection& connection) const;
    void count_code(std::vector<UetCode>& codes, UetWay& way, std::uint8_t code, dissect::FrameIndex frame) const;
    void take_request(const At& at);
    void take_retransmission(const At& at, LongPsn psn, bool was_seen, SentPacket* sent);
    void take_trimmed(const At& at, SentPacket* sent);
    void take_data(const At& at);
    void take_ack(const At& at);
    void acknowledge(const At& at, SentPacket& sent);
    void take_nack(const At& at);
    void take_control(const At& at);

    UetConversation summary_;
    std::array<Sender, 2> senders_{};
    std::array<std::uint16_t, 2> ids_{};
    Charge charge_;
};

}  // namespace qps::transport
