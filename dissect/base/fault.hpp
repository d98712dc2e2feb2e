// What can be wrong with a frame, as far as one frame alone can tell.
//
// A fault belongs to a layer: everything before it stays decoded, what follows is kept as bytes.
// A capture that was cut short is not a fault of the packet: it has a name of its own (cut).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace qps::dissect {

enum class Fault : std::uint8_t {
    none,
    cut,          // the capture ends inside this header (snap length); the wire had more
    too_short,    // the frame on the wire ends inside this header
    bad_length,   // a length field promises more or less than there is
    bad_version,  // a version field has a value this decoder does not know
    fragment,     // a fragment: the rest of the packet is in other frames
    too_deep,     // more layers than a packet may have here (kMaxLayers)
    trimmed,      // a switch cut the packet inside this header and sent the rest on (Ultra Ethernet)
};

struct FaultInfo {
    Fault fault;
    std::string_view name;      // stable, for filters and JSON
    std::string_view sentence;  // for people
};

inline constexpr std::array kFaults{
    FaultInfo{Fault::none, "none", "nothing is wrong"},
    FaultInfo{Fault::cut, "cut", "the capture ends inside this header (snap length)"},
    FaultInfo{Fault::too_short, "too_short", "the packet ends inside this header"},
    FaultInfo{Fault::bad_length, "bad_length", "a length field does not agree with the packet"},
    FaultInfo{Fault::bad_version, "bad_version", "unknown version"},
    FaultInfo{Fault::fragment, "fragment", "a fragment; the rest of the packet is in other frames"},
    FaultInfo{Fault::too_deep, "too_deep", "more layers than are followed"},
    FaultInfo{Fault::trimmed, "trimmed", "a switch cut the packet inside this header and sent the rest on"},
};

[[nodiscard]] constexpr const FaultInfo& info(Fault fault) { return kFaults[static_cast<std::size_t>(fault)]; }

}  // namespace qps::dissect
