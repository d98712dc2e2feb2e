// What an attacker could feed: lengths that lead past the end, lists without end. Every part takes bytes, and an address whose parts do not
// end where it does is none.
#include <dissect/ulp/ucx.hpp>
#include <dissect/ulp/ucx_address.hpp>

#include <algorithm>
#include <string_view>

namespace qps::dissect::ucx {

namespace {

constexpr Field kIsMessage = named(kDatagramFields, "rdma.ucx.ud.active");
constexpr Field kMessageOfDatagram = named(kDatagramFields, "rdma.ucx.am.id");
constexpr Field kMessageNumber = named(kActiveFields, "rdma.ucx.am.id");
constexpr Field kSaidType = named(kWireupFields, "rdma.ucx.wireup.type");
constexpr Field kSaidSource = named(kWireupFields, "rdma.ucx.wireup.src_ep");
constexpr Field kSaidDestination = named(kWireupFields, "rdma.ucx.wireup.dst_ep");
constexpr std::uint64_t kTypeRequest = 1, kTypeReply = 2, kTypeAck = 3;
constexpr auto kWireupNumber = static_cast<std::uint64_t>(Active::wireup);
constexpr std::size_t kLaneMaps = 16;  // of lanes, which newer versions have between header and address

// Transports have no names on the wire but their CRC-16 (X.25).
consteval std::uint16_t checksum(std::string_view name) {
    std::uint16_t crc = 0xffff;
    for (const char c : name) {
        crc = static_cast<std::uint16_t>(crc ^ static_cast<std::uint8_t>(c));
        for (int i = 0; i < 8; ++i) crc = static_cast<std::uint16_t>((crc & 1U) != 0 ? crc >> 1U ^ 0x8408U : crc >> 1U);
    }
    return static_cast<std::uint16_t>(~crc);
}
struct Transport {
    std::uint16_t name = 0;
    std::size_t qpn = 0;  // where the address of an endpoint has its queue pair, of three bytes
};
constexpr std::array kTransports{Transport{checksum("rc_verbs"), 1}, Transport{checksum("rc_mlx5"), 0}};

// Bytes one after the other, until there are too few.
struct Cursor {
    Bytes left;
    bool good = true;

    Bytes take(std::size_t size) {
        good &= size <= left.size();
        const Bytes taken = left.first(std::min(size, left.size()));
        left = left.subspan(taken.size());
        return taken;
    }
    std::uint8_t byte() {
        const Bytes taken = take(1);
        return taken.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(taken[0]);
    }
};

void add_lane(WireupMessage& message, std::uint16_t transport, Bytes device, Bytes endpoint, std::uint8_t lane) {
    constexpr std::size_t kGidAt = 1, kGid = 16, kQpn = 3;  // a byte of flags before the GID
    const auto known = std::ranges::find(kTransports, transport, &Transport::name);
    if (known == kTransports.end() || device.size() < kGidAt + kGid || endpoint.size() < known->qpn + kQpn) return;
    if (message.count == message.lanes.size()) return;
    std::uint32_t qpn = 0;
    for (std::size_t i = 0; i < kQpn; ++i) qpn |= std::to_integer<std::uint32_t>(endpoint[known->qpn + i]) << (8 * i);
    message.lanes[message.count++] = {lane, Qpn{qpn}, {read_be<std::uint64_t>(device, kGidAt), read_be<std::uint64_t>(device, kGidAt + 8)}};
}

// `attributes`: bytes of what each transport says of itself.
bool read_address(Bytes bytes, std::size_t attributes, WireupMessage& message) {
    constexpr std::uint8_t kVersion = 0x0f, kName = 0x10, kWorker = 0x20, kClient = 0x40;
    constexpr std::uint8_t kLast = 0x80, kPaths = 0x40, kSystemDevice = 0x20, kEndpoints = 0x40;
    Cursor at{bytes};
    const std::uint8_t head = at.byte();
    if ((head & kVersion) != 0 || (head & kWorker) == 0) return false;
    at.take(8);
    if ((head & kClient) != 0) at.take(8);
    if ((head & kName) != 0) at.take(at.byte());
    for (bool last_device = false; at.good && !last_device;) {
        bool last = (at.byte() & kLast) != 0;  // of its transports: it has none
        const std::uint8_t length = at.byte();
        last_device = (length & kLast) != 0;
        at.take(((length & kPaths) != 0 ? 1U : 0U) + ((length & kSystemDevice) != 0 ? 1U : 0U));
        const Bytes device = at.take(length & 0x1fU);
        while (at.good && !last) {
            const auto transport = read_le<std::uint16_t>(at.take(2), 0);
            at.take(attributes);
            const std::uint8_t size = at.byte();
            at.take(size & 0x3fU);
            last = (size & kLast) != 0;
            for (bool more = (size & kEndpoints) != 0; at.good && more;) {
                const Bytes endpoint = at.take(at.byte());
                const std::uint8_t lane = at.byte();
                more = (lane & kLast) == 0;
                if (at.good) add_lane(message, transport, device, endpoint, lane & 0x3fU);
            }
        }
    }
    return at.good && at.left.empty();
}

}  // namespace

std::optional<WireupMessage> read_wireup(Bytes datagram) {
    if (datagram.size() < kDatagram + kWireup || read(datagram, kIsMessage) == 0 || read(datagram, kMessageOfDatagram) != kWireupNumber)
        return {};
    const Bytes said = datagram.subspan(kDatagram);
    const std::uint64_t type = read(said, kSaidType);
    if (type != kTypeRequest && type != kTypeReply) return {};
    // With the number of the transport, as wire-ups have it, or without.
    for (const std::size_t attributes : {17U, 16U}) {
        for (const std::size_t before : {kWireup, kWireup + kLaneMaps}) {
            WireupMessage message{.reply = type == kTypeReply, .source = read(said, kSaidSource), .destination = read(said, kSaidDestination)};
            if (said.size() > before && read_address(said.subspan(before), attributes, message))
                return message.count != 0 ? std::optional(message) : std::nullopt;
        }
    }
    return {};
}

bool acknowledges_wireup(Bytes message, std::uint64_t source, std::uint64_t destination) {
    const bool hardware = !message.empty() && message[0] == std::byte{0};
    const Bytes active = message.subspan(hardware ? 1 : 0);
    if (active.size() < 1 + kWireup || read(active, kMessageNumber) != kWireupNumber) return false;
    const Bytes said = active.subspan(1);
    return read(said, kSaidType) == kTypeAck && read(said, kSaidSource) == source && read(said, kSaidDestination) == destination;
}

}  // namespace qps::dissect::ucx
