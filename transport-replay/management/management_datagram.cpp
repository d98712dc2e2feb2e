#include <dissect/mad/administration.hpp>
#include <dissect/mad/subnet.hpp>
#include <transport-replay/management/management_datagram.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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
constexpr Field kStatusCode = named(kMadFields, "infiniband.mad.status.code");
constexpr std::uint16_t kDirectionBit = 0x8000;
constexpr std::uint16_t kBusy = 1, kRedirect = 2;

PortPath path_at(Bytes paths, std::size_t offset, std::size_t hops) {
    PortPath path;
    path.length = static_cast<std::uint8_t>(std::min(hops, PortPath::kMost));
    for (std::size_t i = 0; i < path.length; ++i) path.ports[i] = read_be<std::uint8_t>(paths, offset + 1 + i);  // entry 0 is unused
    return path;
}

DirectedRoute route_of(Bytes bytes) {
    DirectedRoute route;
    route.returning = read(bytes, kDirection) != 0;
    route.hop_pointer = static_cast<std::uint8_t>(read(bytes, kHopPointer));
    const auto hops = static_cast<std::size_t>(read(bytes, kHopCount));
    const Bytes paths = slice(bytes, mad_places::kSmp + kSmpDataLength);
    route.path = path_at(paths, 0, hops);
    route.return_path = path_at(paths, kSmpPathLength, route.returning ? hops : std::min<std::size_t>(hops, route.hop_pointer));
    return route;
}

std::string name_or_number(std::span<const ValueName> names, std::uint64_t value, std::string_view what) {
    const std::string_view name = name_in(names, value);
    return name.empty() ? fmt::format("{} 0x{:02x}", what, value) : std::string(name);
}

}  // namespace

PortPath PortPath::parent() const {
    PortPath above = *this;
    if (above.length > 0) above.ports[--above.length] = 0;
    return above;
}

std::string text(const PortPath& path) {
    std::string out = "0";
    for (const std::uint8_t port : path.hops()) out += fmt::format(",{}", port);
    return out;
}

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

std::string request_text(ManagementClass management_class, ManagementMethod method, std::uint16_t attribute) {
    const MadAttribute* row = find_attribute(management_class, attribute);
    return fmt::format("{} {} {}", name_or_number(kManagementClasses, std::to_underlying(management_class), "class"),
                       name_or_number(kMethods, std::to_underlying(method), "method"),
                       row != nullptr ? std::string(row->name) : fmt::format("attribute 0x{:04x}", attribute));
}

std::string status_text(ManagementClass management_class, std::uint16_t status) {
    if (status == 0) return "ok";
    std::array<std::byte, kMadHeaderLength> header{};
    write_bits(header, kStatus.bit, kStatus.width, status);
    const std::uint64_t code = read(header, kStatusCode);
    const auto of_class = static_cast<std::uint64_t>(status >> 8);
    std::string_view name;
    if (management_class == ManagementClass::subnet_administration && of_class != 0) name = name_in(kSaStatusCodes, of_class);
    else if (code != 0) name = name_in(kMadStatusCodes, code);
    else if ((status & kBusy) != 0) name = "Busy";
    else if ((status & kRedirect) != 0) name = "Redirection required";
    return name.empty() ? fmt::format("status 0x{:04x}", status) : fmt::format("{} (0x{:04x})", name, status);
}

}  // namespace qps::transport
