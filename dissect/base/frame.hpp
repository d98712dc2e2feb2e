// Frame: what a capture or a wire hands us, before anything is decoded. Borrows its bytes.
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/types.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace qps::dissect {

// The link types we follow, by their LINKTYPE_ numbers (tcpdump.org/linktypes.html).
enum class LinkType : std::uint32_t {
    null_loopback = 0,
    ethernet = 1,
    raw_ip = 101,
    linux_cooked = 113,
    erf = 197,
    ipv4 = 228,
    ipv6 = 229,
    infiniband = 247,
    linux_cooked_v2 = 276,
};

struct LinkTypeName {
    LinkType link;
    std::string_view name;
};

inline constexpr std::array kLinkTypeNames{
    LinkTypeName{LinkType::null_loopback, "Loopback"},
    LinkTypeName{LinkType::ethernet, "Ethernet"},
    LinkTypeName{LinkType::raw_ip, "Raw IP"},
    LinkTypeName{LinkType::linux_cooked, "Linux cooked"},
    LinkTypeName{LinkType::erf, "ERF"},
    LinkTypeName{LinkType::ipv4, "Raw IPv4"},
    LinkTypeName{LinkType::ipv6, "Raw IPv6"},
    LinkTypeName{LinkType::infiniband, "InfiniBand"},
    LinkTypeName{LinkType::linux_cooked_v2, "Linux cooked v2"},
};

// Empty for a link type that is not followed.
[[nodiscard]] constexpr std::string_view name(LinkType link) {
    for (const LinkTypeName& row : kLinkTypeNames)
        if (row.link == link) return row.name;
    return {};
}

// Which way the options of a record are written; pcapng comments are read from them only when shown.
enum class ByteOrder : std::uint8_t { little, big };

struct Frame {
    Bytes bytes;                    // as captured; may be shorter than the wire's
    std::uint32_t wire_length = 0;  // length on the wire, in bytes, and what the capture wrote before the packet
    LinkType link = LinkType::ethernet;
    FrameIndex index{1};
    Instant time{};
    std::uint16_t file = 0;  // which of the files that are merged
    bool has_time = true;    // pcapng's simple packets have none: time and elapsed are 0 then
    Duration elapsed{};      // since the first frame of the capture; negative where clocks run backwards
    InterfaceId interface{};
    BitsPerSecond link_speed{};     // of the interface, where the capture or the user says; else 0
    std::uint64_t file_offset = 0;  // of the record in its (uncompressed) file
    Bytes options;                  // pcapng options of the record, undecoded
    ByteOrder options_order = ByteOrder::little;
    std::uint16_t preamble =
        0;  // bytes before the packet that no wire carried: the header of an ERF record. decode() sets it

    [[nodiscard]] std::uint32_t wire_bytes() const { return wire_length > preamble ? wire_length - preamble : 0; }
    [[nodiscard]] std::size_t captured_bytes() const { return bytes.size() > preamble ? bytes.size() - preamble : 0; }
    [[nodiscard]] bool cut() const { return bytes.size() < wire_length; }
};

}  // namespace qps::dissect
