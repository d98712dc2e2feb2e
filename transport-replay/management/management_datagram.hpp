// ManagementDatagram: what the trackers of management need of one datagram, read once; and the path of a directed-route SMP.
//
// Everything in it is the sender's word. Fields that were not captured read as zero: who needs more than the common header asks for a
// whole datagram.
#pragma once

#include <dissect/mad/attributes.hpp>
#include <transport-replay/model/observation.hpp>

#include <array>
#include <compare>
#include <optional>
#include <span>
#include <string>

namespace qps::transport {

// The ports by which a directed-route SMP leaves node after node (14.2.2): none of them for the node it starts from.
struct PortPath {
    static constexpr std::size_t kMost = 63;  // 14.2.1.2: hop count
    std::uint8_t length = 0;
    std::array<std::uint8_t, kMost> ports{};

    [[nodiscard]] std::span<const std::uint8_t> hops() const { return std::span(ports).first(length); }
    // Without its last hop; of the empty path itself.
    [[nodiscard]] PortPath parent() const;
    [[nodiscard]] auto operator<=>(const PortPath&) const = default;
};
// "0,1,17": as diagnostic tools write it; the first is the node itself.
[[nodiscard]] std::string text(const PortPath& path);

struct DirectedRoute {
    PortPath path;         // where it goes
    PortPath return_path;  // by which ports it was received, as far as it got
    std::uint8_t hop_pointer = 0;
    bool returning = false;
    [[nodiscard]] bool operator==(const DirectedRoute&) const = default;
};

// Methods (13.4.5, 15.2.2).
enum class ManagementMethod : std::uint8_t {
    get = 0x01,
    set = 0x02,
    send = 0x03,
    trap = 0x05,
    report = 0x06,
    trap_repress = 0x07,
    get_table = 0x12,
    get_trace_table = 0x13,
    get_multi = 0x14,
    remove = 0x15,  // Delete
};
inline constexpr std::uint8_t kResponseBit = 0x80;

struct ManagementDatagram {
    dissect::Bytes bytes;  // as captured
    dissect::ManagementClass management_class{};
    ManagementMethod method{};  // without the bit of a response
    bool response = false;
    std::uint16_t status = 0;  // without the direction of a directed route
    std::uint64_t transaction = 0;
    std::uint16_t attribute = 0;
    std::uint32_t modifier = 0;
    const dissect::MadAttribute* known = nullptr;  // the row of the attribute
    std::optional<DirectedRoute> route;

    [[nodiscard]] bool whole() const { return bytes.size() >= dissect::kMadLength; }
    [[nodiscard]] bool is(dissect::LayerKind data) const { return known != nullptr && known->data == data; }
    // The attribute's data, all that may be of it.
    [[nodiscard]] dissect::Bytes data() const { return known != nullptr ? dissect::slice(bytes, known->offset) : dissect::Bytes{}; }
};

// Nothing where it is none that can be read: cut in its header, or of another base version.
[[nodiscard]] std::optional<ManagementDatagram> read_management(dissect::Bytes bytes);

// "SubnAdm GetTable NodeRecord"; numbers where there is no name.
[[nodiscard]] std::string request_text(dissect::ManagementClass management_class, ManagementMethod method, std::uint16_t attribute);
// "no records", "busy", "status 0x1234"; "ok" of 0.
[[nodiscard]] std::string status_text(dissect::ManagementClass management_class, std::uint16_t status);

}  // namespace qps::transport
