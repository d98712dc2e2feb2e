#include <dissect/mad/subnet.hpp>
#include <transport-replay/management/management_datagram.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kBaseVersion = named(kMadFields, "infiniband.mad.baseversion");
constexpr Field kClass = named(kMadFields, "infiniband.mad.mgmtclass");
constexpr Field kMethod = named(kMadFields, "infiniband.mad.method");
constexpr Field kStatus = named(kMadFields, "infiniband.mad.status");
constexpr Field kDirection = named(kMadFields, "infiniband.smpdirected.d");
constexpr Field kHopPointer = named(kMadFields, "infiniband.smpdirected.hoppointer");
constexpr Field kHopCount = named(kMadFields, "infiniband.smpdirected.hopcount");
constexpr Field kTransaction = named(kMadFields, "infiniband.mad.transactionid");
constexpr Field kAttribute = named(kMadFields, "infiniband.mad.attributeid");
constexpr Field kModifier = named(kMadFields, "infiniband.mad.attributemodifier");
constexpr std::uint16_t kDirectionBit = 0x8000;

PortPath path_at(Bytes paths, std::size_t offset, std::size_t hops) {
    PortPath path;
    path.length = static_cast<std::uint8_t>(std::min(hops, PortPath::kMost));
    for (std::size_t i = 0; i < path.length; ++i)
        path.ports[i] = read_be<std::uint8_t>(paths, offset + 1 + i);  // entry 0 is unused
    return path;
}

DirectedRoute route_of(Bytes bytes) {
    DirectedRoute route;
    route.returning = read(bytes, kDirection) != 0;
    route.hop_pointer = static_cast<std::uint8_t>(read(bytes, kHopPointer));
    const auto hops = static_cast<std::size_t>(read(bytes, kHopCount));
    const Bytes paths = slice(bytes, mad_places::kSmp + kSmpDataLength);
    route.path = path_at(paths, 0, hops);
    route.return_path =
        path_at(paths, kSmpPathLength, route.returning ? hops : std::min<std::size_t>(hops, route.hop_pointer));
    return route;
}

}  // namespace

std::optional<ManagementDatagram> read_management(Bytes bytes) {
    if (bytes.size() < kMadHeaderLength || read(bytes, kBaseVersion) != kMadBaseVersion) return {};
    ManagementDatagram datagram;
    datagram.bytes = bytes;
    datagram.management_class = static_cast<ManagementClass>(read(bytes, kClass));
    const auto method = static_cast<std::uint8_t>(read(bytes, kMethod));
    datagram.method = static_cast<ManagementMethod>(method & ~kResponseBit);
    datagram.response = (method & kResponseBit) != 0;
    datagram.status = static_cast<std::uint16_t>(read(bytes, kStatus));
    datagram.transaction = read(bytes, kTransaction);
    datagram.attribute = static_cast<std::uint16_t>(read(bytes, kAttribute));
    datagram.modifier = static_cast<std::uint32_t>(read(bytes, kModifier));
    datagram.known = find_attribute(datagram.management_class, datagram.attribute);
    if (datagram.management_class == ManagementClass::subnet_directed) {
        datagram.status &= static_cast<std::uint16_t>(~kDirectionBit);
        if (datagram.whole()) datagram.route = route_of(bytes);
    }
    return datagram;
}

}  // namespace qps::transport
