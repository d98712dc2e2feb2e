// UetPacket: what following Ultra Ethernet needs of one packet, read from its bytes as far as they were captured.
//
// Layouts are those of dissect/ultra_ethernet/, on which documents agree. What an attacker could feed: any bytes. A
// header that was cut off is not there; fields behind the cut have no value.
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/ultra_ethernet/names.hpp>

#include <cstdint>
#include <optional>

namespace qps::transport {

// Of the semantic sublayer: a request, or the response to one. A request of any form begins alike.
struct UetSemantics {
    dissect::SesForm form{};
    std::uint8_t code = 0;  // the operation; of a response its return code
    bool starts = false;    // the message
    bool ends = false;
    std::uint16_t message = 0;  // its number, 0 of forms without; of a response, that of the request
    std::uint32_t job = 0;
    std::uint32_t answered = 0;  // PSN of the request, of a small response with data
    std::optional<std::uint32_t>
        length{};                          // of the whole message, in bytes; of a response, what was taken or delivered
    std::optional<std::uint8_t> atomic{};  // the operation of an atomic
    std::uint8_t bytes = 0;                // of its headers
    [[nodiscard]] bool is_request() const {
        return form >= dissect::SesForm::small && form <= dissect::SesForm::standard;
    }
    [[nodiscard]] bool is_response() const { return form >= dissect::SesForm::response; }
    // The request has failed: any return code but NULL and OK.
    [[nodiscard]] bool refuses() const { return is_response() && code > 1; }
    [[nodiscard]] bool has_data() const { return form >= dissect::SesForm::response_data; }
};

struct UetPacket {
    dissect::PdsType type{};
    bool opens = false;           // SYN: the sender knows no context of the receiver yet
    bool retransmission = false;  // by its own word; of an ACK or NACK: what it answers was one
    bool of_probe = false;        // an ACK that answers no packet but a probe
    bool of_rudi = false;         // a NACK of what has no context
    std::uint8_t control = 0;     // type of a control packet
    std::uint8_t nack_code = 0;
    std::uint16_t source = 0;  // packet delivery contexts; 0: none
    std::uint16_t destination = 0;
    std::uint32_t psn = 0;       // of an ACK the cumulative one, of a NACK the one refused
    std::uint32_t start = 0;     // of a packet that opens: first PSN of its way
    std::uint32_t answered = 0;  // of an ACK: the packet that made it
    std::uint32_t sack_base = 0;
    std::uint64_t sack_bitmap = 0;  // 0: says nothing
    std::optional<UetSemantics> semantics{};
    std::uint8_t bytes = 0;  // of its packet delivery header

    // RUD or ROD, with a PSN of a context.
    [[nodiscard]] bool is_request() const {
        using dissect::PdsType;
        return type == PdsType::rud_request || is_ordered() || type == PdsType::rud_cc_request;
    }
    [[nodiscard]] bool is_ordered() const {
        return type == dissect::PdsType::rod_request || type == dissect::PdsType::rod_cc_request;
    }
    [[nodiscard]] bool is_ack() const {
        return type == dissect::PdsType::ack || type == dissect::PdsType::ack_cc || type == dissect::PdsType::ack_ccx;
    }
    [[nodiscard]] bool is_nack() const { return type == dissect::PdsType::nack || type == dissect::PdsType::nack_ccx; }
    [[nodiscard]] bool is_control() const { return type == dissect::PdsType::control; }
    [[nodiscard]] bool has_context() const {
        return is_request() || is_ack() || is_control() || (is_nack() && !of_rudi);
    }
};

// Nothing where too little was captured to say whose it is. `bytes`: from its first header on.
[[nodiscard]] std::optional<UetPacket> uet_packet(dissect::Bytes bytes);
// How much of a message a packet carries that has `length` bytes of Ultra Ethernet on the wire, its CRC included.
[[nodiscard]] std::uint32_t uet_payload_length(const UetPacket& packet, dissect::Bytes bytes, std::size_t length);

}  // namespace qps::transport
