// PacketRow: what is kept of every packet of an open capture: where it lies, when it was, and what the analysis said of
// it.
//
// 32 bytes, so that a hundred million packets fit into memory and a scan over ten million takes some tens of
// milliseconds. All else is decoded again from the file for the packets that somebody looks at. The row of frame n
// stands at position n - 1.
#pragma once

#include <transport-replay/index/connection_word.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/packet_record.hpp>

#include <optional>

namespace qps::transport {

// What a packet was, a bit each.
enum class Mark : std::uint16_t {
    from_b = 1U << 0,  // sent by end b of its connection, as ConnectionWord has it
    retransmission = 1U << 1,
    duplicated = 1U << 2,
    mirror_copy = 1U << 3,
    unmatched = 1U << 4,
    gap = 1U << 5,        // PSNs before it are missing
    completes = 1U << 6,  // a message, or more
    congestion_experienced = 1U << 7,
    timeless = 1U << 8,
    acknowledgment = 1U << 9,  // it has an AETH
};

class PacketRow {
public:
    static constexpr std::uint64_t kMaxOffset = (std::uint64_t{1} << 44) - 1;  // 16 TiB
    static constexpr std::size_t kMaxFiles = 1U << 12;
    static constexpr std::uint32_t kMaxLength = (1U << 24) - 1;  // longer ones count as so long; records end at 16 MiB
    static constexpr std::uint32_t kMaxConnection = ConnectionWord::kMostNumber;  // rows do not name what is past it

    PacketRow() = default;
    // `file` below kMaxFiles; an offset past kMaxOffset is kept as kMaxOffset, where nothing will be found.
    PacketRow(std::size_t file, std::uint64_t file_offset, const Observation& observation, const PacketRecord& record);

    [[nodiscard]] std::size_t file() const { return file_; }
    [[nodiscard]] std::uint64_t file_offset() const { return offset_; }
    [[nodiscard]] dissect::Instant time() const { return time_; }  // 0 where it is timeless
    [[nodiscard]] std::uint32_t wire_length() const { return length_; }
    // Of what the message carries, without pad, in bytes on the wire.
    [[nodiscard]] std::uint32_t payload_length() const { return overhead_ == kNoPayload ? 0 : length_ - overhead_; }
    [[nodiscard]] ObservationKind kind() const { return static_cast<ObservationKind>(kind_); }

    // Of a packet whose kind is transport:
    [[nodiscard]] dissect::Opcode opcode() const { return dissect::Opcode{static_cast<std::uint8_t>(opcode_)}; }
    [[nodiscard]] dissect::Psn psn() const { return dissect::Psn{psn_}; }
    [[nodiscard]] dissect::Qpn dest_qp() const { return dissect::Qpn{dest_qp_}; }
    [[nodiscard]] dissect::Encapsulation encapsulation() const {
        return static_cast<dissect::Encapsulation>(encapsulation_);
    }
    [[nodiscard]] dissect::CrcStatus icrc() const { return static_cast<dissect::CrcStatus>(word_.above() >> kMarks); }
    [[nodiscard]] std::optional<std::uint8_t> syndrome() const {
        return has(Mark::acknowledgment) ? std::optional(static_cast<std::uint8_t>(syndrome_)) : std::nullopt;
    }

    // Of a TCP segment, whose kind is stream, they stand in the same place.
    [[nodiscard]] std::uint32_t tcp_sequence() const { return psn_ | std::uint32_t{syndrome_} << 24U; }
    [[nodiscard]] std::uint32_t tcp_acknowledged() const { return dest_qp_ | std::uint32_t{opcode_} << 24U; }

    // Of a packet of Ultra Ethernet too: its PSN, and the number of the message that a standard request is of, 0 of
    // others; whether it only answers (an ACK or control packet); whether a switch trimmed it, or a NACK refuses one.
    [[nodiscard]] std::uint32_t uet_psn() const { return psn_ | std::uint32_t{syndrome_} << 24U; }
    [[nodiscard]] std::uint16_t uet_message() const { return static_cast<std::uint16_t>(dest_qp_); }
    [[nodiscard]] bool uet_answers() const { return (opcode_ & kUetAnswers) != 0; }
    [[nodiscard]] bool uet_fails() const { return (opcode_ & kUetFails) != 0; }

    // Nothing for a packet of no connection.
    [[nodiscard]] std::optional<ConnectionId> connection() const {
        const ConnectionId connection = word_.connection();
        return connection == ConnectionId{} ? std::nullopt : std::optional(connection);
    }
    [[nodiscard]] End from() const { return word_.end(); }
    [[nodiscard]] std::optional<Arrival> arrival() const {
        return arrival_ == 0 ? std::nullopt : std::optional(static_cast<Arrival>(arrival_ - 1));
    }
    [[nodiscard]] bool has(Mark mark) const { return (word_.above() & static_cast<std::uint32_t>(mark)) != 0; }

    // By the thread that writes rows, at the end of the capture.
    void settle(const FinalNumbers& numbers) { word_.settle(numbers); }

private:
    static constexpr std::uint64_t kNoPayload = 0xff;
    static constexpr unsigned kMarks = 10;                          // bits of them
    static constexpr std::uint32_t kUetAnswers = 1, kUetFails = 2;  // in place of an opcode
    void take_transport(const Observation& observation);
    void take_segment(const Observation& observation);
    void take_context(const Observation& observation);

    std::uint64_t offset_ : 44 = 0;
    std::uint64_t file_ : 12 = 0;
    std::uint64_t overhead_ : 8 = kNoPayload;  // bytes that are not payload
    dissect::Instant time_{};
    std::uint32_t length_ : 24 = 0;
    std::uint32_t opcode_ : 8 = 0;
    std::uint32_t psn_ : 24 = 0;
    std::uint32_t syndrome_ : 8 = 0;
    std::uint32_t dest_qp_ : 24 = 0;
    std::uint32_t kind_ : 3 = 0;
    std::uint32_t arrival_ : 3 = 0;  // 0: none, else Arrival + 1
    std::uint32_t encapsulation_ : 2 = 0;
    ConnectionWord word_;  // with marks, then what is known of the ICRC
};
static_assert(sizeof(PacketRow) == 32);

}  // namespace qps::transport
