// Packets to order: a specification of headers becomes the bytes of a frame, right, or wrong on purpose.
//
// What a specification sets stays as it is set, however wrong; what it leaves open is filled in so that the packet is
// right: versions, next-protocol fields, lengths, pad count, checksums, ICRC and VCRC. Fields go by their names and
// rows, so everything the decoder knows can be built. build() then decode() gives the same fields (a test walks every
// opcode and every MAD).
//
//   PacketSpec spec = transport_packet(Opcode{0x0a}, Network::roce_v2_ipv4);   // RC RDMA WRITE Only
//   set(spec, "infiniband.bth.psn", 4711);
//   spec.payload.resize(5);                                                    // pad count 3 comes by itself
//   std::vector<std::byte> frame = build(spec);
#pragma once

#include <dissect/base/frame.hpp>
#include <dissect/base/opcode.hpp>
#include <dissect/mad/attributes.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace qps::dissect {

struct FieldSetting {
    const Field* field;
    std::uint64_t number = 0;
    std::vector<std::byte> bytes{};
};

struct HeaderSpec {
    LayerKind kind;
    std::vector<FieldSetting> settings{};
    std::vector<std::byte> tail{};  // options: what follows the fixed part and belongs to the header
};

struct PacketSpec {
    LinkType link = LinkType::ethernet;
    std::vector<HeaderSpec> headers;
    std::vector<std::byte> payload;
    std::vector<std::byte> trailer;         // after everything else: Ethernet padding, say
    std::optional<std::uint8_t> pad_bytes;  // after the payload; as many as make it a multiple of 4 where not set
    std::optional<std::uint32_t> icrc;  // as the first byte on the wire were the most significant; right where not set
    std::optional<std::uint16_t> vcrc;
    bool with_vcrc = true;  // native packets; a capture may lack it
};

// How a transport packet travels.
enum class Network : std::uint8_t { roce_v2_ipv4, roce_v2_ipv6, roce_v1, native_local, native_global };
inline constexpr std::array kNetworks{Network::roce_v2_ipv4, Network::roce_v2_ipv6, Network::roce_v1,
                                      Network::native_local, Network::native_global};

// The headers of a transport packet of that opcode, from Ethernet (or the LRH) on, with documentation addresses
// (RFC 5737, RFC 3849), the default P_Key and everything else zero.
[[nodiscard]] PacketSpec transport_packet(Opcode opcode, Network network);

// MigReq of a path that is the only one (17.2.8): its queue pair is in the state Migrated. Services without paths have
// none.
[[nodiscard]] constexpr bool usual_migreq(Opcode opcode) {
    const Service service = service_of(opcode);
    return service == Service::rc || service == Service::uc || service == Service::rd || service == Service::xrc;
}

// A management datagram to QP 1 (QP 0 for subnet management) with that attribute, 256 bytes long.
[[nodiscard]] PacketSpec mad_packet(ManagementClass management_class, const MadAttribute& attribute, Network network);

// Sets a field of the first header that has it; false where none has it or the value does not fit.
bool set(PacketSpec& spec, std::string_view field, std::uint64_t value);
bool set(PacketSpec& spec, std::string_view field, Bytes value);
// The same in one header, for names that occur in several.
bool set(HeaderSpec& header_spec, std::string_view field, std::uint64_t value);
bool set(HeaderSpec& header_spec, std::string_view field, Bytes value);

// The first header of that kind, or nullptr.
[[nodiscard]] HeaderSpec* find(PacketSpec& spec, LayerKind kind);

// Puts headers in front of the one of kind `before` (a VLAN tag, a tunnel), or at the end where there is none.
void insert_before(PacketSpec& spec, LayerKind before, std::vector<HeaderSpec> headers);

[[nodiscard]] std::vector<std::byte> build(const PacketSpec& spec);

// A frame of built bytes, complete unless `captured` says how many of them a capture kept.
[[nodiscard]] Frame frame_of(const PacketSpec& spec, Bytes bytes, std::size_t captured = std::dynamic_extent);

}  // namespace qps::dissect
