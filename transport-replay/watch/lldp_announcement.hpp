// What an LLDPDU announces, read from its TLVs by their tables (dissect/lldp/). Any bytes may come: lengths are
// checked, and what they cut off is not there.
#pragma once

#include <dissect/base/bytes.hpp>
#include <transport-replay/model/bridging_report.hpp>

#include <optional>
#include <string>

namespace qps::transport {

inline constexpr std::size_t kMaxSystemName = 64;  // bytes that are kept

struct LldpAnnouncement {
    std::uint64_t station = 0;  // a hash of chassis ID and port ID
    dissect::Duration lifetime{};
    std::string name;
    BridgingAnnouncement content;  // `whole` where an end TLV follows the last one
};

// Nothing where chassis, port and time to live are not there: it says nothing that anybody could take.
[[nodiscard]] std::optional<LldpAnnouncement> read_announcement(dissect::Bytes lldpdu);

}  // namespace qps::transport
