#include <dissect/base/ethertypes.hpp>
#include <dissect/headers/internet.hpp>
#include <dissect/ulp/ipoib.hpp>
#include <transport-replay/ulp/ipoib_machine.hpp>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kArpOperation = named(kIpoibArpFields, "arp.opcode");
constexpr Field kArpSource = named(kIpoibArpFields, "arp.src.proto_ipv4");
constexpr Field kArpTarget = named(kIpoibArpFields, "arp.dst.proto_ipv4");
constexpr Field kIpSource = named(kIpv4Fields, "ip.src");
constexpr Field kIpDestination = named(kIpv4Fields, "ip.dst");
constexpr Field kIpHeaderLength = named(kIpv4Fields, "ip.hdr_len");
constexpr Field kIpProtocol = named(kIpv4Fields, "ip.proto");
constexpr Field kConnectQpn = named(kIpoibConnectFields, "rdma.ipoib.connect.qpn");
constexpr Field kConnectMtu = named(kIpoibConnectFields, "rdma.ipoib.connect.mtu");

constexpr std::uint8_t kIcmpProtocol = 1;
constexpr std::size_t kIpv6Header = 40;

struct Inside {
    OperationCode code{};
    std::array<std::uint64_t, 2> subject{};  // of IPv4: addresses; ports, source first
    std::uint64_t tag = 0;                   // of a ping
    std::uint64_t exchange = 0;              // of a ping: the same for its reply
    bool answer = false;
};

// Of two addresses in either order.
std::uint64_t hosts_of(Bytes ip, bool version6) {
    if (!version6) return mix(read(ip, kIpSource)) + mix(read(ip, kIpDestination));
    constexpr std::size_t kFrom = 8, kTo = 24, kHalf = 8;
    const auto host = [&](std::size_t at) {
        return mix(read_be<std::uint64_t>(ip, at) + mix(read_be<std::uint64_t>(ip, at + kHalf)));
    };
    return host(kFrom) + host(kTo);
}

OperationCode code_of(std::uint8_t protocol) {
    switch (static_cast<IpProtocol>(protocol)) {
        case IpProtocol::tcp: return ipoib::kTcp;
        case IpProtocol::udp: return ipoib::kUdp;
        case IpProtocol::icmpv6: return ipoib::kIcmp;
        default: return protocol == kIcmpProtocol ? ipoib::kIcmp : ipoib::kOther;
    }
}

Inside of_ip(Bytes ip, bool version6) {
    const auto protocol = version6 ? read_be<std::uint8_t>(ip, 6) : static_cast<std::uint8_t>(read(ip, kIpProtocol));
    const Bytes behind = slice(ip, version6 ? kIpv6Header : read(ip, kIpHeaderLength));
    Inside inside{.code = code_of(protocol), .subject = {}};
    if (!version6) inside.subject[0] = read(ip, kIpSource) << 32 | read(ip, kIpDestination);
    if (inside.code == ipoib::kTcp || inside.code == ipoib::kUdp) inside.subject[1] = read_be<std::uint32_t>(behind, 0);
    if (inside.code != ipoib::kIcmp || behind.size() < 8) return inside;
    const auto type = read_be<std::uint8_t>(behind, 0);
    const std::uint8_t request = version6 ? 128 : 8, reply = version6 ? 129 : 0;
    if (type != request && type != reply) return inside;
    inside.code = ipoib::kPing;
    inside.tag = std::uint64_t{version6} << 32 | read_be<std::uint32_t>(behind, 4);  // identifier and sequence number
    inside.exchange = mix(inside.tag + mix(hosts_of(ip, version6)));
    inside.answer = type == reply;
    return inside;
}

Inside of_arp(Bytes arp) {
    constexpr std::uint64_t kRequest = 1;
    Inside inside;
    inside.code = read(arp, kArpOperation) == kRequest ? ipoib::kArpRequest : ipoib::kArpReply;
    inside.subject[0] = read(arp, kArpSource) << 32 | read(arp, kArpTarget);
    return inside;
}

std::string address(std::uint64_t ip) {
    return fmt::format("{}.{}.{}.{}", ip >> 24 & 0xff, ip >> 16 & 0xff, ip >> 8 & 0xff, ip & 0xff);
}

}  // namespace

namespace ipoib {

Likeness likeness(const UlpMessage& message) {
    return {is_ipoib(message.bytes, message.length) ? kSure : std::uint8_t{0}, false};
}

bool is_private_data(const CmAttempt& attempt) {
    // 0x10 in Linux, 0x01 as it is printed in RFC 4755; then zeros, and the queue pair of datagrams.
    constexpr std::uint64_t kLinux = 0x10'0000'0000, kPrinted = 0x01'0000'0000;
    if (!attempt.service_id) return false;
    const std::uint64_t prefix = *attempt.service_id >> 24;
    if (prefix != kLinux && prefix != kPrinted) return false;
    constexpr std::uint64_t kLeast = 68, kMost = 1 << 20;  // MTU: of IPv4, and more than anybody has
    const std::uint64_t mtu = read(attempt.active.private_data.first, kConnectMtu);
    return mtu >= kLeast && mtu <= kMost && read(attempt.active.private_data.first, kConnectQpn) != 0;
}

std::string_view operation_name(OperationCode code) {
    switch (code) {
        case kPing: return "Ping";
        case kIcmp: return "ICMP";
        case kTcp: return "TCP";
        case kUdp: return "UDP";
        case kArpRequest: return "ARP request";
        case kArpReply: return "ARP reply";
        default: return "IP";
    }
}

std::string describe(const UlpOperation& operation) {
    const std::uint64_t source = operation.subject[0] >> 32, destination = operation.subject[0] & 0xffff'ffff;
    if (operation.code == kTcp || operation.code == kUdp) {
        const std::uint64_t ports = operation.subject[1];
        if (operation.subject[0] == 0) return fmt::format("port {} to {}", ports >> 16, ports & 0xffff);
        return fmt::format("{}:{} to {}:{}", address(source), ports >> 16, address(destination), ports & 0xffff);
    }
    if (operation.subject[0] == 0) return {};
    if (operation.code == kArpRequest) return fmt::format("{} asks for {}", address(source), address(destination));
    return fmt::format("{} to {}", address(source), address(destination));
}

}  // namespace ipoib

void IpoibMachine::connected(const CmAttempt& attempt, UlpSession& session) {
    for (const CmSide* side : {&attempt.active, &attempt.passive}) {
        const Bytes bytes = side->private_data.first;
        const bool active = side == &attempt.active;
        if (const auto mtu = read(bytes, kConnectMtu); mtu != 0)
            session.conversation().note(active ? "MTU of the active side" : "MTU of the passive side",
                                        fmt::format("{}", mtu));
    }
}

Understood IpoibMachine::message(const UlpMessage& message, UlpSession& session) {
    if (!is_ipoib(message.bytes, message.length)) return {};
    const auto type = read_be<std::uint16_t>(message.bytes, 0);
    const Bytes behind = slice(message.bytes, kIpoibHeader);
    const Inside inside = type == ethertype::arp ? of_arp(behind) : of_ip(behind, type == ethertype::ipv6);
    if (inside.answer) {
        const bool found = session.end(other(message.from), inside.tag, OperationOutcome::done, 0, message);
        return {.understood = true,
                .label = UlpLabel{UlpLabel::Part::answer, UlpProtocol::ipoib, inside.code, inside.tag},
                .exchange = found ? std::nullopt : std::optional(inside.exchange)};
    }
    UlpOperation operation;
    operation.requester = message.from;
    operation.code = inside.code;
    operation.one_way = inside.code != ipoib::kPing;
    operation.tag = inside.tag;
    operation.subject = inside.subject;
    operation.bytes = operation.in_message = message.length - kIpoibHeader;
    session.begin(operation, message);
    return {.understood = true,
            .label = UlpLabel{UlpLabel::Part::request, UlpProtocol::ipoib, inside.code, inside.tag},
            .exchange = operation.one_way ? std::nullopt : std::optional(inside.exchange)};
}

}  // namespace qps::transport
