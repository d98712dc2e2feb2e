#include <dissect/base/ethertypes.hpp>
#include <dissect/base/icrc.hpp>
#include <dissect/headers/internet.hpp>
#include <transport-replay/model/observation_parts.hpp>
#include <transport-replay/model/straight_path.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::transport {

using namespace dissect;
using namespace observing;

namespace {

constexpr std::size_t kEthernet = 14, kTag = 4, kUdp = 8, kBth = 12, kIcrc = 4;
constexpr std::size_t kMostEnd = 0xffff;  // headers behind it are not followed

// Offsets in a frame of that form.
template <bool Tagged, bool Version6> struct Form {
    static constexpr bool tagged = Tagged, version_6 = Version6;
    static constexpr std::size_t network = kEthernet + (Tagged ? kTag : 0);
    static constexpr std::size_t udp = network + (Version6 ? 40 : 20);
    static constexpr std::size_t bth = udp + kUdp;
    static constexpr std::size_t behind = bth + kBth;
    static constexpr IcrcCoverage coverage = Version6 ? IcrcCoverage::roce_v2_ipv6 : IcrcCoverage::roce_v2_ipv4;
};

// Of a length that is known when this is compiled, so that no read in it is checked when it runs.
template <std::size_t Length> Bytes part(Bytes bytes, std::size_t offset) { return Bytes(&bytes[offset], Length); }

// Where the datagram ends, in the frame; 0 where this is no IP packet of one datagram to RoCE, or its lengths do not
// agree.
template <class Form> std::size_t end_of_datagram(Bytes head) {
    constexpr std::size_t kIp = Form::network, kUdpAt = Form::udp;
    std::size_t length = 0;  // behind the IP header
    if constexpr (Form::version_6) {
        length = load_be<std::uint16_t>(head, kIp + 4);
        if (load_be<std::uint8_t>(head, kIp) >> 4 != 6) return 0;
        if (static_cast<IpProtocol>(head[kIp + 6]) != IpProtocol::udp) return 0;
    } else {
        constexpr std::uint16_t kFragment = 0x3fff;  // more fragments, or not the first
        constexpr std::uint8_t kVersionAndLength = 0x45;
        length = load_be<std::uint16_t>(head, kIp + 2) - (kUdpAt - kIp);
        if (load_be<std::uint8_t>(head, kIp) != kVersionAndLength) return 0;
        if (static_cast<IpProtocol>(head[kIp + 9]) != IpProtocol::udp) return 0;
        if ((load_be<std::uint16_t>(head, kIp + 6) & kFragment) != 0) return 0;
    }
    if (load_be<std::uint16_t>(head, kUdpAt + 2) != kRocePort) return 0;
    return load_be<std::uint16_t>(head, kUdpAt + 4) == length ? kUdpAt + length : 0;
}

// Bytes of the headers behind the BTH, by opcode.
constexpr auto kHeadersLengths = [] {
    std::array<std::uint8_t, kOpcodes.size()> lengths{};
    for (std::size_t code = 0; code < lengths.size(); ++code)
        for (std::size_t i = 0; i < kOpcodes[code].header_count; ++i)
            lengths[code] = static_cast<std::uint8_t>(
                lengths[code] + kTransportLengths[static_cast<std::size_t>(kOpcodes[code].headers[i])]);
    return lengths;
}();

void take_headers(const OpcodeRow& row, Bytes bytes, std::size_t at, Observation& observation) {
    for (std::size_t i = 0; i < row.header_count; ++i) {
        const std::size_t length = kTransportLengths[static_cast<std::size_t>(row.headers[i])];
        take_header(row.headers[i], bytes.subspan(at, length), observation);
        at += length;
    }
}

template <class Form> void take_network(Bytes head, Observation& observation) {
    const auto ip = part<Form::udp - Form::network>(head, Form::network);
    if constexpr (Form::version_6) {
        observation.flow.source = address_at(ip, 8, AddressSpace::roce_v2);
        observation.flow.destination = address_at(ip, 24, AddressSpace::roce_v2);
        take_traffic_class(ip, true, observation);
    } else {
        take_ipv4(ip, observation);
    }
    observation.udp_source_port = load_be<std::uint16_t>(head, Form::udp);
}

// The ICRC of a datagram that ends at `end`, as the packet has it and as it is to be.
template <class Form> void take_icrc(Bytes bytes, std::size_t end, Observation& observation) {
    observation.icrc = CrcStatus::not_checkable;
    if (bytes.size() < end) return;
    const std::size_t at = end - kIcrc;
    observation.icrc_found = load_be<std::uint32_t>(bytes, at);
    const std::uint32_t expected = invariant_crc(Form::coverage, bytes.subspan(Form::network, at - Form::network));
    observation.icrc = observation.icrc_found == expected ? CrcStatus::good : CrcStatus::bad;
}

template <class Form> std::optional<StraightPlaces> take(const Frame& frame, Observation& observation) {
    constexpr unsigned kVersion = 0x0f, kPadShift = 4, kPad = 3;  // in the second byte of a BTH
    const Bytes bytes = frame.bytes;
    if (bytes.size() < Form::behind) return {};
    const auto head = part<Form::behind>(bytes, 0);
    const std::size_t end = end_of_datagram<Form>(head);
    if (end < Form::behind + kIcrc || end > std::max<std::size_t>(frame.wire_length, bytes.size()) || end > kMostEnd)
        return {};
    const auto opcode = static_cast<Opcode>(head[Form::bth]);
    const auto flags = load_be<std::uint8_t>(head, Form::bth + 1);
    const Qpn destination{load_be<std::uint32_t>(head, Form::bth + 4) & Psn::kMask};
    const OpcodeRow& row = info(opcode);
    const std::size_t icrc = end - kIcrc;
    const std::size_t behind = Form::behind + kHeadersLengths[std::to_underlying(opcode)];
    const std::size_t pad = flags >> kPadShift & kPad;
    if ((flags & kVersion) != 0 || behind > bytes.size() || behind + pad > icrc) return {};
    if (opcode == Opcode::ud_send_only &&
        (destination <= kGsiQpn || static_cast<Qpn>(read(bytes.subspan(Form::behind), kSrcqp)) <= kGsiQpn))
        return {};
    clear(observation);
    take_frame(frame, observation);
    observation.link_destination = load_be<std::uint64_t>(head, 0) >> 16;
    if constexpr (Form::tagged) {
        take_tag(load_be<std::uint16_t>(head, kEthernet), observation);
        observation.network = NetworkId{observation.vlan};
    }
    observation.kind = ObservationKind::transport;
    observation.encapsulation = Encapsulation::roce_v2;
    observation.plain_link = true;
    if (bytes.size() < end) observation.fault = Fault::cut;
    take_network<Form>(head, observation);
    observation.flow.source_qp = {};
    observation.flow.destination_qp = destination;
    observation.opcode = opcode;
    const auto last = load_be<std::uint32_t>(head, Form::bth + 8);
    observation.psn = Psn(last);
    observation.ack_request = last >> 31 != 0;
    observation.payload_length = static_cast<std::uint32_t>(icrc - pad - behind);
    observation.payload = slice(bytes, behind, observation.payload_length);
    take_bth(part<kBth>(head, Form::bth), observation);
    take_headers(row, bytes, Form::behind, observation);
    take_icrc<Form>(bytes, end, observation);
    take_hashes(observation);
    return StraightPlaces{Form::network, Form::bth, behind, Form::version_6};
}

template <bool Tagged>
std::optional<StraightPlaces> take(std::uint16_t type, const Frame& frame, Observation& observation) {
    switch (type) {
        case ethertype::ipv4: return take<Form<Tagged, false>>(frame, observation);
        case ethertype::ipv6: return take<Form<Tagged, true>>(frame, observation);
        default: return {};
    }
}

}  // namespace

std::optional<StraightPlaces> observe_straight(const Frame& frame, Observation& observation) {
    constexpr std::size_t kTypeAt = 12;
    if (frame.link != LinkType::ethernet || frame.bytes.size() < kEthernet + kTag) return {};
    const auto type = load_be<std::uint16_t>(frame.bytes, kTypeAt);
    switch (type) {
        case ethertype::customer_tag:
        case ethertype::service_tag:
        case ethertype::old_service_tag:
            return take<true>(load_be<std::uint16_t>(frame.bytes, kTypeAt + kTag), frame, observation);
        default: return take<false>(type, frame, observation);
    }
}

}  // namespace qps::transport
