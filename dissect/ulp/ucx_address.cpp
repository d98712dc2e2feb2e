// What an attacker could feed: lengths that lead past the end, lists without end. Every part takes bytes, and an
// address whose parts do not end where it does is none.
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

// What an address is made of, in order.
enum class Part : std::uint8_t {
    head,
    worker,
    length,
    name,
    domain,
    path,
    device,
    transport,
    attributes,
    interface,
    endpoint,
    lane
};

// Calls each(part, bytes) from the beginning on; whether the parts end where the bytes do. `attributes`: bytes of what
// each transport says of itself.
template <class Each> bool walk_address(Bytes bytes, std::size_t attributes, Each&& each) {
    constexpr std::uint8_t kVersion = 0x0f, kName = 0x10, kWorker = 0x20, kClient = 0x40;
    constexpr std::uint8_t kLast = 0x80, kPaths = 0x40, kSystemDevice = 0x20, kEndpoints = 0x40;
    bool good = true;
    const auto take = [&](Part part, std::size_t size) {
        good &= size <= bytes.size();
        const Bytes taken = bytes.first(std::min(size, bytes.size()));
        bytes = bytes.subspan(taken.size());
        each(part, taken);
    };
    const auto number = [&](Part part) {
        const std::uint8_t value = bytes.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(bytes[0]);
        take(part, 1);
        return value;
    };
    const std::uint8_t head = number(Part::head);
    if ((head & kVersion) != 0 || (head & kWorker) == 0) return false;
    take(Part::worker, (head & kClient) != 0 ? 16 : 8);
    if ((head & kName) != 0) take(Part::name, number(Part::length));
    for (bool last_device = false; good && !last_device;) {
        bool last = (number(Part::domain) & kLast) != 0;  // of its transports: it has none
        const std::uint8_t length = number(Part::length);
        last_device = (length & kLast) != 0;
        take(Part::path, ((length & kPaths) != 0 ? 1U : 0U) + ((length & kSystemDevice) != 0 ? 1U : 0U));
        take(Part::device, length & 0x1fU);
        while (good && !last) {
            take(Part::transport, 2);
            take(Part::attributes, attributes);
            const std::uint8_t size = number(Part::length);
            last = (size & kLast) != 0;
            take(Part::interface, size & 0x3fU);
            for (bool more = (size & kEndpoints) != 0; good && more;) {
                take(Part::endpoint, number(Part::length));
                more = (number(Part::lane) & kLast) == 0;
            }
        }
    }
    return good && bytes.empty();
}

// Where an endpoint's address has its queue pair; nothing where it has none that is known.
constexpr std::size_t kQpn = 3;
std::optional<std::size_t> qpn_place(Bytes transport, Bytes endpoint) {
    const auto known = transport.size() < 2
                           ? kTransports.end()
                           : std::ranges::find(kTransports, read_le<std::uint16_t>(transport, 0), &Transport::name);
    if (known == kTransports.end() || endpoint.size() < known->qpn + kQpn) return {};
    return known->qpn;
}
constexpr std::size_t kGidAt = 1, kGid = 16;  // a byte of flags before it
bool has_gid(Bytes device) { return device.size() >= kGidAt + kGid; }

bool read_address(Bytes bytes, std::size_t attributes, WireupMessage& message) {
    Bytes device, transport, endpoint;
    return walk_address(bytes, attributes, [&](Part part, Bytes piece) {
        if (part == Part::device) device = piece;
        if (part == Part::transport) transport = piece;
        if (part == Part::endpoint) endpoint = piece;
        if (part != Part::lane || piece.empty() || message.count == message.lanes.size()) return;
        const auto place = qpn_place(transport, endpoint);
        if (!place || !has_gid(device)) return;
        std::uint32_t qpn = 0;
        for (std::size_t i = 0; i < kQpn; ++i) qpn |= std::to_integer<std::uint32_t>(endpoint[*place + i]) << (8 * i);
        if (qpn <= 1 || qpn == 0xffffff) return;  // of management and multicast
        const auto lane = static_cast<std::uint8_t>(std::to_integer<std::uint8_t>(piece[0]) & 0x3fU);
        message.lanes[message.count++] = {
            lane, Qpn{qpn}, {read_be<std::uint64_t>(device, kGidAt), read_be<std::uint64_t>(device, kGidAt + 8)}};
    });
}

// Of a message behind the number of the active message.
struct Found {
    WireupMessage message;
    std::size_t address = 0;  // where it begins
    std::size_t attributes = 0;
};
std::optional<Found> find_lanes(Bytes said) {
    if (said.size() < kWireup) return {};
    const std::uint64_t type = read(said, kSaidType);
    if (type != kTypeRequest && type != kTypeReply) return {};
    // With the number of the transport, as wire-ups have it, or without.
    for (const std::size_t attributes : {17U, 16U}) {
        for (const std::size_t before : {kWireup, kWireup + kLaneMaps}) {
            WireupMessage message{.reply = type == kTypeReply,
                                  .source = read(said, kSaidSource),
                                  .destination = read(said, kSaidDestination)};
            if (said.size() <= before || !read_address(said.subspan(before), attributes, message)) continue;
            return message.count != 0 ? std::optional(Found{message, before, attributes}) : std::nullopt;
        }
    }
    return {};
}

// Whether `said` has the same lanes with the same queue pairs as what was found elsewhere.
bool says_same(Bytes said, const Found& found) {
    const auto again = find_lanes(said);
    if (!again || again->address != found.address || again->attributes != found.attributes ||
        again->message.count != found.message.count)
        return false;
    const auto same = [](const LaneEnd& one, const LaneEnd& other) {
        return one.lane == other.lane && one.qpn == other.qpn;
    };
    return std::ranges::equal(again->message.lanes, found.message.lanes, same);
}

}  // namespace

std::optional<WireupMessage> read_wireup(Bytes datagram) {
    if (datagram.size() < kDatagram + kWireup || read(datagram, kIsMessage) == 0 ||
        read(datagram, kMessageOfDatagram) != kWireupNumber)
        return {};
    const auto found = find_lanes(datagram.subspan(kDatagram));
    return found ? std::optional(found->message) : std::nullopt;
}

void rewrite_wireup(Bytes wireup, const OtherGid& other, MutableBytes out) {
    const auto found = find_lanes(wireup);
    if (!found) return;
    MutableBytes left = out.subspan(found->address);
    std::ranges::fill(left, std::byte{0});
    Bytes transport;
    walk_address(wireup.subspan(found->address), found->attributes, [&](Part part, Bytes piece) {
        const auto keep = [&](std::size_t from, std::size_t size) {
            std::ranges::copy(piece.subspan(from, size), left.begin() + static_cast<std::ptrdiff_t>(from));
        };
        switch (part) {
            case Part::transport: transport = piece; [[fallthrough]];
            case Part::head:
            case Part::length:
            case Part::domain:
            case Part::lane: keep(0, piece.size()); break;
            case Part::worker: left[0] = std::byte{1}; break;  // none has no number
            case Part::device:
                if (!has_gid(piece)) break;
                keep(0, kGidAt);
                for (std::size_t half = 0; half < 2; ++half)
                    write_bits(left, 8 * (kGidAt + 8 * half), 64,
                               other({read_be<std::uint64_t>(piece, kGidAt),
                                      read_be<std::uint64_t>(piece, kGidAt + 8)})[half]);
                break;
            case Part::endpoint:
                if (const auto place = qpn_place(transport, piece)) keep(*place, kQpn);
                break;
            case Part::name:
            case Part::path:
            case Part::attributes:
            case Part::interface: break;
        }
        left = left.subspan(piece.size());
    });
    // What became zero may have decided between two layouts: nothing is better then than what would be read.
    if (!says_same(out, *found)) std::ranges::fill(out.subspan(found->address), std::byte{0});
}

bool acknowledges_wireup(Bytes message, std::uint64_t source, std::uint64_t destination) {
    const bool hardware = !message.empty() && message[0] == std::byte{0};
    const Bytes active = message.subspan(hardware ? 1 : 0);
    if (active.size() < 1 + kWireup || read(active, kMessageNumber) != kWireupNumber) return false;
    const Bytes said = active.subspan(1);
    return read(said, kSaidType) == kTypeAck && read(said, kSaidSource) == source &&
           read(said, kSaidDestination) == destination;
}

}  // namespace qps::dissect::ucx
