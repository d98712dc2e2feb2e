// The RDMA IP CM service (A11) on top of the connection manager: service ids made of ports, and the header in front of
// the private data of a REQ or SIDR_REQ that says which IP addresses speak. What rdma_cm of Linux and NDSPI of Windows
// do.
//
//   IpEnds ends{.source = ipv4(0xc0000201), .destination = ipv4(0xc0000202), .source_port = IpPort{40000},
//               .destination_port = IpPort{7174}};
//   ConnectRequest request = ip_connect_request(PortSpace::tcp, ends);
//   request.local_qpn = qp;
//   auto id = ip_connect(manager, ends, request, my_private_data, now);
//
//   // Passive, at ConnectionEventKind::request:
//   if (const auto caller = read_ip_cm(event.private_data.bytes())) serve(caller->ends.source, caller->private_data);
//
// A REP and everything after it has no such header. The header is the peer's word: read_ip_cm() refuses versions we do
// not know, and agrees() compares it with the addresses the datagram really had.
#pragma once

#include <transport-replay/live/cm/communication.hpp>

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

namespace qps::transport::live {

enum class IpPort : std::uint16_t {};

// Port spaces of rdma_cm; in a service id they are bits 16 to 31 (A11.6 for TCP and UDP, whose low byte is the IP
// protocol).
enum class PortSpace : std::uint16_t { ipoib = 0x0002, tcp = 0x0106, udp = 0x0111, ib = 0x013f };
// "TCP"
[[nodiscard]] std::string_view name(PortSpace space);

inline constexpr dissect::Qkey kRdmaCmQkey{
    0x0123'4567};  // of datagram queue pairs that rdma_cm makes in the spaces UDP and IPOIB
inline constexpr std::uint8_t kIpCmVersion = 0;  // both halves of the version byte
inline constexpr std::size_t kIpReqRoom = 56;    // private data the header leaves of a REQ
inline constexpr std::size_t kIpSidrRoom = 180;  // and of a SIDR_REQ

[[nodiscard]] constexpr ServiceId ip_service(PortSpace space, IpPort port) {
    return ServiceId{static_cast<std::uint64_t>(space) << 16 | static_cast<std::uint64_t>(port)};
}
struct IpService {
    PortSpace space = PortSpace::tcp;
    IpPort port{};
    [[nodiscard]] bool operator==(const IpService&) const = default;
};
// Nothing where the service is none of a known port space.
[[nodiscard]] std::optional<IpService> ip_service_of(ServiceId service);

// IP addresses are Address values of AddressSpace::roce_v2, IPv4 mapped as GIDs have it.
struct IpEnds {
    Address source;
    Address destination;
    IpPort source_port{};
    IpPort destination_port{};  // not in the header: the service id has it
    [[nodiscard]] bool operator==(const IpEnds&) const = default;
};
[[nodiscard]] constexpr bool is_ipv4(const Address& address) {
    return address.bits[0] == 0 && address.bits[1] >> 32 == 0xffffULL;
}
// An IPv4 address, its first byte on the wire being the most significant.
[[nodiscard]] constexpr Address ipv4(std::uint32_t address) {
    return {{0, 0xffff'0000'0000ULL | address}, AddressSpace::roce_v2};
}

struct IpCaller {
    IpEnds ends;
    dissect::Bytes private_data;  // of the consumer, borrowed from what was read
};
enum class IpCmFault : std::uint8_t { short_header, version, ip_version };

// The header and what follows it. destination_port is 0: take it from ip_service_of().
[[nodiscard]] std::expected<IpCaller, IpCmFault> read_ip_cm(dissect::Bytes private_data);
// The header of a family both addresses have (else IPv6), the consumer's private data behind it. Nothing where that has
// no room in the message (REQ or SIDR_REQ).
[[nodiscard]] std::optional<CmPrivateBytes> write_ip_cm(CmMessage message, const IpEnds& ends,
                                                        dissect::Bytes private_data);
// Whether the header's addresses are those of the connection's path.
[[nodiscard]] bool agrees(const IpEnds& ends, const Address& remote, const Address& local);

// What rdma_cm would ask for between these ends: service, addresses, timeouts. The queue pair is the caller's to fill
// in.
[[nodiscard]] ConnectRequest ip_connect_request(PortSpace space, const IpEnds& ends);
// connect() and sidr_request() with the header in front of the private data; `request.private_data` is not looked at.
[[nodiscard]] std::expected<CmId, CmError> ip_connect(ConnectionManager& manager, const IpEnds& ends,
                                                      ConnectRequest request, dissect::Bytes private_data,
                                                      dissect::Instant now);
[[nodiscard]] std::expected<CmId, CmError> ip_resolve(ConnectionManager& manager, PortSpace space, const IpEnds& ends,
                                                      dissect::Bytes private_data, dissect::Instant now);

}  // namespace qps::transport::live
