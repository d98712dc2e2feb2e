// What makes a datagram a packet of Ultra Ethernet. Every check is a fact on which the documents agree: reserved bits
// are 0, numbers are assigned, delivery contexts have a number, lengths fit.
#include <dissect/ulp/crc32c.hpp>
#include <dissect/ultra_ethernet/pds.hpp>
#include <dissect/ultra_ethernet/ses.hpp>
#include <dissect/ultra_ethernet/ultra_ethernet.hpp>

#include <algorithm>
#include <bit>

namespace qps::dissect::uet {

namespace {

constexpr std::uint8_t forms(std::initializer_list<SesForm> which) {
    std::uint8_t bits = 0;
    for (const SesForm form : which) bits = static_cast<std::uint8_t>(bits | 1U << static_cast<unsigned>(form));
    return bits;
}
constexpr std::uint8_t kRequests = forms({SesForm::small, SesForm::medium, SesForm::standard});
constexpr std::uint8_t kResponses =
    forms({SesForm::none, SesForm::response, SesForm::response_data, SesForm::response_data_small});
constexpr std::uint8_t kEither = kRequests | kResponses;
constexpr std::uint8_t kNone = forms({SesForm::none});

constexpr std::array kShapes{
    PdsShape{PdsType::rud_request, 12, 0x63, kEither},
    PdsShape{PdsType::rod_request, 12, 0x63, kEither},
    PdsShape{PdsType::rudi_request, 8, 0x6f, kRequests},
    PdsShape{PdsType::rudi_response, 8, 0x4f, kResponses},
    PdsShape{PdsType::uud_request, 4, 0x7f, kRequests},
    PdsShape{PdsType::ack, 12, 0x01, kResponses},
    PdsShape{PdsType::ack_cc, 32, 0x41, kResponses},
    PdsShape{PdsType::ack_ccx, 24, 0x41, kResponses},
    PdsShape{PdsType::nack, 16, 0x47, kNone},
    PdsShape{PdsType::control, 16, 0x43, 0xff},
    PdsShape{PdsType::nack_ccx, 17, 0x47, kNone},
    PdsShape{PdsType::rud_cc_request, 16, 0x63, kEither},
    PdsShape{PdsType::rod_cc_request, 16, 0x63, kEither},
};

constexpr std::uint64_t kFirstVendor = 0x30;  // of operations and responses
constexpr std::uint64_t kLastSync = 0x11;     // of operations that are assigned, as far as one document goes
constexpr std::uint64_t kLastReturnCode = 0x24;
constexpr std::uint16_t kFirstEphemeral = 1024;  // ports below are services'
constexpr std::size_t kNegotiation = 8;          // the most that may follow a control packet's header, without a CRC

// A part of a header that was not captured contradicts nothing.
std::optional<std::uint64_t> bits(Bytes header, std::size_t bit, std::size_t width) {
    if ((bit + width + 7) / 8 > header.size()) return std::nullopt;
    return read_bits(header, bit, width);
}
bool zero(Bytes header, std::size_t bit, std::size_t width) { return bits(header, bit, width).value_or(0) == 0; }
bool set(Bytes header, std::size_t bit, std::size_t width) { return bits(header, bit, width).value_or(1) != 0; }

bool request_holds(SesForm form, Bytes header) {
    const auto opcode = bits(header, at(0, 2), 6).value_or(0);
    if (opcode > kLastSync && opcode < kFirstVendor) return false;
    if (!zero(header, at(0), 2) || !zero(header, at(1), 2) || !zero(header, at(8), 4) || !zero(header, at(10), 4))
        return false;
    if (form == SesForm::standard) return bits(header, at(1, 7), 1).value_or(1) == 1 || zero(header, at(32), 18);
    // One packet is the whole message.
    if (bits(header, at(1, 6), 2).value_or(3) != 3 || !zero(header, at(2), 2)) return false;
    return form == SesForm::medium || zero(header, at(1, 5), 1);
}

bool response_holds(SesForm form, Bytes header) {
    const auto opcode = bits(header, at(0, 2), 6);
    const auto code = bits(header, at(1, 2), 6).value_or(0);
    if (!zero(header, at(1), 2) || (code > kLastReturnCode && code < kFirstVendor)) return false;
    if (opcode && *opcode < kFirstVendor && (*opcode == kSesResponseWithData) != (form != SesForm::response))
        return false;
    if (opcode && *opcode > kSesResponseOpcodes.back().value && *opcode < kFirstVendor) return false;
    if (form == SesForm::response) return true;
    return zero(header, at(4), 8) && zero(header, form == SesForm::response_data ? at(10) : at(2), 2);
}

bool context_holds(Bytes header, bool opens) {
    if (!set(header, at(8), 16)) return false;
    return opens ? zero(header, at(10, 1), 3) : set(header, at(10), 16);
}

// What follows the headers can only be a CRC.
bool ends(const Datagram& datagram, std::size_t header, std::size_t more = 0) {
    return datagram.trimmed || datagram.length <= header + more + kCrcLength;
}

bool nack_holds(const Datagram& datagram, const PdsShape& shape) {
    const auto code = bits(datagram.captured, at(2), 8).value_or(1);
    if (name_in(kUetNackCodes, code).empty()) return false;
    const bool of_context = zero(datagram.captured, at(1, 4), 1);
    if (of_context && !set(datagram.captured, at(10), 16)) return false;
    return shape.type == PdsType::nack_ccx || ends(datagram, shape.length);
}

bool control_holds(const Datagram& datagram, const PdsShape& shape) {
    const auto type = bits(datagram.captured, at(0, 5), 4).value_or(0);
    if (type > kUetNegotiation || (type != kUetProbe && !zero(datagram.captured, at(2), 16))) return false;
    if (type != kUetNoop && type != kUetNegotiation && !zero(datagram.captured, at(1, 2), 1)) return false;
    return context_holds(datagram.captured, !zero(datagram.captured, at(1, 5), 1)) &&
           ends(datagram, shape.length, type == kUetNegotiation ? kNegotiation : 0);
}

bool security_holds(const Datagram& datagram) {
    if (!zero(datagram.captured, at(0, 6), 1) || datagram.source_port < kFirstEphemeral) return false;
    const std::size_t header =
        dissect::header(zero(datagram.captured, at(0, 5), 1) ? kind::uet_tss : kind::uet_tss_ssi).length;
    constexpr std::size_t kLeast = 4;  // the shortest header that can be encrypted
    return datagram.trimmed || datagram.length >= header + kLeast + kIcvLength;
}

}  // namespace

const PdsShape* pds_shape(std::uint64_t type) {
    const auto found = std::ranges::find(kShapes, static_cast<PdsType>(type), &PdsShape::type);
    return found == kShapes.end() ? nullptr : &*found;
}

std::size_t length_of(SesForm form) {
    switch (form) {
        case SesForm::small: return dissect::header(kind::ses_small).length;
        case SesForm::medium: return dissect::header(kind::ses_medium).length;
        case SesForm::standard: return dissect::header(kind::ses_standard).length;
        case SesForm::response: return dissect::header(kind::ses_response).length;
        case SesForm::response_data: return dissect::header(kind::ses_response_data).length;
        case SesForm::response_data_small: return dissect::header(kind::ses_response_data_small).length;
        case SesForm::none: break;
    }
    return 0;
}

bool holds(SesForm form, Bytes header) {
    switch (form) {
        case SesForm::none: return true;
        case SesForm::small:
        case SesForm::medium:
        case SesForm::standard: return request_holds(form, header);
        case SesForm::response:
        case SesForm::response_data:
        case SesForm::response_data_small: return response_holds(form, header);
    }
    return false;
}

bool holds(const Datagram& datagram) {
    const Bytes bytes = datagram.captured;
    if (bytes.size() < 2) return false;
    const std::uint64_t type = read_bits(bytes, at(0), 5);
    if (type == static_cast<std::uint64_t>(PdsType::tss)) return security_holds(datagram);
    const PdsShape* shape = pds_shape(type);
    if (shape == nullptr || (read_bits(bytes, at(1, 1), 7) & shape->reserved) != 0) return false;
    if (!datagram.trimmed && datagram.length < shape->length) return false;
    if (shape->type == PdsType::control) return control_holds(datagram, *shape);
    const std::uint64_t next = read_bits(bytes, at(0, 5), 4);
    if (next > 7 || (shape->forms >> next & 1) == 0) return false;
    if (shape->type == PdsType::nack || shape->type == PdsType::nack_ccx) return nack_holds(datagram, *shape);
    const auto form = static_cast<SesForm>(next);
    const bool sized = datagram.trimmed || datagram.length >= shape->length + length_of(form);
    switch (shape->type) {
        case PdsType::rudi_request:
        case PdsType::rudi_response:  // at 6 or 8: whether its semantic header is at one of both
            return form == SesForm::none ? ends(datagram, shape->length)
                                         : holds(form, slice(bytes, 8)) || holds(form, slice(bytes, 6));
        case PdsType::uud_request: return sized && zero(bytes, at(2), 16) && holds(form, slice(bytes, shape->length));
        case PdsType::ack:
        case PdsType::ack_cc:
        case PdsType::ack_ccx: {
            if (!context_holds(bytes, false)) return false;
            // In one document, four bytes more where a reserved flag is set; in others, a longer state of CCX.
            const bool open = shape->type == PdsType::ack_ccx || !zero(bytes, at(1, 1), 1);
            if (form == SesForm::none) return open || ends(datagram, shape->length);
            return open || (sized && holds(form, slice(bytes, shape->length)));
        }
        default: {
            const bool opens = !zero(bytes, at(1, 5), 1);
            if (!sized || !context_holds(bytes, opens)) return false;
            return form == SesForm::none ? ends(datagram, shape->length) : holds(form, slice(bytes, shape->length));
        }
    }
}

bool crc_fits(const Packet& packet, std::size_t first, std::size_t crc) {
    constexpr std::size_t kUdpLength = 8, kEntropyLength = 4;  // what stands between IP and Ultra Ethernet
    const Bytes frame = packet.frame.bytes;
    if (first > crc || crc + kCrcLength > frame.size()) return false;
    const auto found = read_be<std::uint32_t>(frame, crc);
    const auto fits = [&](std::size_t from) {
        const std::uint32_t sum = crc32c(slice(frame, from, crc - from));
        return found == sum || found == std::byteswap(sum);
    };
    if (fits(first)) return true;
    // With both addresses, which end the header of IPv4 and of IPv6.
    for (const Layer& layer : packet.layers()) {
        if (layer.kind != LayerKind::ipv4 && layer.kind != LayerKind::ipv6) continue;
        const std::size_t addresses = layer.kind == LayerKind::ipv4 ? 8 : 32;
        const std::size_t plain = layer.kind == LayerKind::ipv4 ? 20 : 40;
        const std::size_t end = layer.offset + plain;
        const bool next_to = end + kUdpLength == first || end + kEntropyLength == first;
        if (layer.length == plain && next_to && fits(end - addresses)) return true;
    }
    return false;
}

}  // namespace qps::dissect::uet
