#include <dissect/mad/cm.hpp>
#include <transport-replay/live/cm/ip_cm.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr Field at(std::string_view name) { return *std::ranges::find(kCmIpPrivateFields, name, &Field::name); }
constexpr Field kMajor = at("infiniband.cm.req.ip_cm.majv");
constexpr Field kMinor = at("infiniband.cm.req.ip_cm.minv");
constexpr Field kIpVersion = at("infiniband.cm.req.ip_cm.ipv");
constexpr Field kSourcePort = at("infiniband.cm.req.ip_cm.sport");
constexpr Field kSource6 = at("infiniband.cm.req.ip_cm.sip6");
constexpr Field kSource4 = at("infiniband.cm.req.ip_cm.sip4");
constexpr Field kDestination6 = at("infiniband.cm.req.ip_cm.dip6");
constexpr Field kDestination4 = at("infiniband.cm.req.ip_cm.dip4");
static_assert(kIpReqRoom + kIpCmHeaderLength == 92 && kIpSidrRoom + kIpCmHeaderLength == 216);

struct SpaceName {
    PortSpace space;
    std::string_view name;
};
constexpr std::array<SpaceName, 4> kSpaces{
    {{PortSpace::ipoib, "IPOIB"}, {PortSpace::tcp, "TCP"}, {PortSpace::udp, "UDP"}, {PortSpace::ib, "IB"}}};

Address read_ipv6(Bytes header, const Field& field) {
    const std::size_t first = field.bit / 8;
    return {{read_be<std::uint64_t>(header, first), read_be<std::uint64_t>(header, first + 8)}, AddressSpace::roce_v2};
}

void write_address(MutableBytes header, const Field& wide, const Field& narrow, const Address& address, bool narrowed) {
    if (narrowed) return write_bits(header, narrow.bit, narrow.width, address.bits[1] & 0xffff'ffff);
    write_bits(header, wide.bit, 64, address.bits[0]);
    write_bits(header, wide.bit + 64U, 64, address.bits[1]);
}

// What rdma_cm of Linux takes for a path whose lifetime nobody tells, and the hops of an IP packet.
CmPath path_between(const IpEnds& ends) { return {.local = ends.source, .remote = ends.destination}; }

}  // namespace

std::string_view name(PortSpace space) {
    const auto found = std::ranges::find(kSpaces, space, &SpaceName::space);
    return found == kSpaces.end() ? std::string_view{} : found->name;
}

std::optional<IpService> ip_service_of(ServiceId service) {
    const std::uint64_t id = std::to_underlying(service);
    if (id >> 32 != 0) return {};
    const auto space = static_cast<PortSpace>(id >> 16);
    if (std::ranges::find(kSpaces, space, &SpaceName::space) == kSpaces.end()) return {};
    return IpService{space, IpPort{static_cast<std::uint16_t>(id)}};
}

std::expected<IpCaller, IpCmFault> read_ip_cm(Bytes private_data) {
    if (private_data.size() < kIpCmHeaderLength) return std::unexpected(IpCmFault::short_header);
    if (read(private_data, kMajor) != kIpCmVersion || read(private_data, kMinor) != kIpCmVersion)
        return std::unexpected(IpCmFault::version);
    IpCaller caller;
    caller.ends.source_port = IpPort{static_cast<std::uint16_t>(read(private_data, kSourcePort))};
    caller.private_data = slice(private_data, kIpCmHeaderLength);
    switch (read(private_data, kIpVersion)) {
        case 4:
            caller.ends.source = ipv4(static_cast<std::uint32_t>(read(private_data, kSource4)));
            caller.ends.destination = ipv4(static_cast<std::uint32_t>(read(private_data, kDestination4)));
            return caller;
        case 6:
            caller.ends.source = read_ipv6(private_data, kSource6);
            caller.ends.destination = read_ipv6(private_data, kDestination6);
            return caller;
        default: return std::unexpected(IpCmFault::ip_version);
    }
}

std::optional<CmPrivateBytes> write_ip_cm(CmMessage message, const IpEnds& ends, Bytes private_data) {
    std::array<std::byte, kMostPrivateBytes> bytes{};
    const std::size_t room = private_room(message);
    if ((message != CmMessage::req && message != CmMessage::sidr_req) || private_data.size() > room - kIpCmHeaderLength)
        return {};
    const MutableBytes header(bytes);
    const bool narrow = is_ipv4(ends.source) && is_ipv4(ends.destination);
    write_bits(header, kMajor.bit, kMajor.width, kIpCmVersion);
    write_bits(header, kMinor.bit, kMinor.width, kIpCmVersion);
    write_bits(header, kIpVersion.bit, kIpVersion.width, narrow ? 4 : 6);
    write_bits(header, kSourcePort.bit, kSourcePort.width, std::to_underlying(ends.source_port));
    write_address(header, kSource6, kSource4, ends.source, narrow);
    write_address(header, kDestination6, kDestination4, ends.destination, narrow);
    std::ranges::copy(private_data, bytes.begin() + kIpCmHeaderLength);
    return CmPrivateBytes(Bytes(bytes).first(kIpCmHeaderLength + private_data.size()));
}

bool agrees(const IpEnds& ends, const Address& remote, const Address& local) {
    return ends.source.bits == remote.bits && ends.destination.bits == local.bits;
}

ConnectRequest ip_connect_request(PortSpace space, const IpEnds& ends) {
    return {.service = ip_service(space, ends.destination_port), .path = path_between(ends)};
}

std::expected<CmId, CmError> ip_connect(ConnectionManager& manager, const IpEnds& ends, ConnectRequest request,
                                        Bytes private_data, Instant now) {
    const auto data = write_ip_cm(CmMessage::req, ends, private_data);
    if (!data) return std::unexpected(CmError::private_data_long);
    request.private_data = data->bytes();
    return manager.connect(request, now);
}

std::expected<CmId, CmError> ip_resolve(ConnectionManager& manager, PortSpace space, const IpEnds& ends,
                                        Bytes private_data, Instant now) {
    const auto data = write_ip_cm(CmMessage::sidr_req, ends, private_data);
    if (!data) return std::unexpected(CmError::private_data_long);
    return manager.sidr_request({.service = ip_service(space, ends.destination_port),
                                 .path = path_between(ends),
                                 .private_data = data->bytes()},
                                now);
}

}  // namespace qps::transport::live
