// ManagementDatagram: what the trackers of management need of one datagram, read once.
//
// Everything in it is the sender's word. Fields that were not captured read as zero: who needs more than the common
// header asks for a whole datagram.
#pragma once

#include <dissect/mad/attributes.hpp>
#include <transport-replay/model/management_report.hpp>
#include <transport-replay/model/observation.hpp>

#include <optional>

namespace qps::transport {

struct DirectedRoute {
    PortPath path;         // where it goes
    PortPath return_path;  // by which ports it was received, as far as it got
    std::uint8_t hop_pointer = 0;
    bool returning = false;
    [[nodiscard]] bool operator==(const DirectedRoute&) const = default;
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
    [[nodiscard]] dissect::Bytes data() const {
        return known != nullptr ? dissect::slice(bytes, known->offset) : dissect::Bytes{};
    }
};

// Nothing where it is none that can be read: cut in its header, or of another base version.
[[nodiscard]] std::optional<ManagementDatagram> read_management(dissect::Bytes bytes);

}  // namespace qps::transport
