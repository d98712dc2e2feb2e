// Layer: one header (or payload, or trailer) of a packet: what it is and where in the frame it lies.
//
// Kinds below kFirstUlpKind are a closed list. Families with many headers of their own number theirs beside their tables, in
// the ranges below: what is added there recompiles nothing else. The registry has a row for each kind and refuses two for one.
#pragma once

#include <dissect/fault.hpp>

#include <cstddef>
#include <cstdint>

namespace qps::dissect {

enum class LayerKind : std::uint8_t {
    // what the capture itself says of the frame; no bytes of its own
    frame,
    // link
    ethernet,
    vlan,
    linux_cooked,
    linux_cooked_v2,
    null_loopback,
    erf,
    erf_extension,
    erf_ethernet_pad,
    mpls,
    mpls_control_word,
    mac_control,
    mac_pause,
    mac_pfc,
    arp,
    // internet
    ipv4,
    ipv6,
    ipv6_hop_by_hop,
    ipv6_routing,
    ipv6_fragment,
    ipv6_destination,
    udp,
    tcp,
    // tunnels
    vxlan,
    geneve,
    gre,
    gre_checksum,
    gre_key,
    gre_sequence,
    erspan2,
    erspan3,
    erspan3_platform,
    // InfiniBand network and transport (chapters 7 to 9)
    lrh,
    grh,
    rwh,
    bth,
    rdeth,
    xrceth,
    deth,
    reth,
    atomiceth,
    aeth,
    atomicacketh,
    immdt,
    ieth,
    feth,
    cnp_reserved,
    payload,
    pad,
    icrc,
    vcrc,
    // what we conclude from an InfiniBand packet (verdicts, names); no bytes of its own
    rdma,
    // management datagrams (chapters 13 to 16)
    mad,
    rmpp,
    smp_lid_routed,
    smp_directed,
    smp_directed_paths,
    sa,
    mad_data,
    node_description,
    node_info,
    switch_info,
    guid_info,
    port_info,
    p_key_table,
    sm_info,
    path_record,
    mc_member_record,
    service_record,
    class_port_info,
    port_counters,
    port_counters_extended,
    cm_req,
    cm_mra,
    cm_rej,
    cm_rep,
    cm_rtu,
    cm_dreq,
    cm_drep,
    cm_sidr_req,
    cm_sidr_rep,
    cm_lap,
    cm_apr,
    cm_ip_private,
    // recognised and named, not decoded
    ultra_ethernet,
    // bytes that nothing above explains
    data,
    count_,
};

inline constexpr std::size_t kLayerKinds = 256;  // room: not every number has a kind

// The first kind of each family that numbers its own; the next family's ends it.
namespace first_kind {
// Ulp protocols: layers that only who follows connections can find, see dissect/ulp/ulp.hpp.
inline constexpr std::uint8_t nvme = 96;
inline constexpr std::uint8_t iser = 124;
inline constexpr std::uint8_t srp = 146;
inline constexpr std::uint8_t rpc_rdma = 160;
inline constexpr std::uint8_t smb_direct = 178;
inline constexpr std::uint8_t rds = 186;
inline constexpr std::uint8_t ipoib = 190;
inline constexpr std::uint8_t rsockets = 193;
inline constexpr std::uint8_t lnet = 195;
inline constexpr std::uint8_t iwarp = 203;
// Told by the packet alone.
inline constexpr std::uint8_t management = 220;  // more attributes of management datagrams
inline constexpr std::uint8_t omni_path = 238;
}  // namespace first_kind
static_assert(static_cast<std::size_t>(LayerKind::count_) <= first_kind::nvme);

// A layer that is there only where the packet's annotation says what its payload is.
[[nodiscard]] constexpr bool is_ulp(LayerKind kind) {
    return static_cast<std::uint8_t>(kind) >= first_kind::nvme && static_cast<std::uint8_t>(kind) < first_kind::management;
}

// An ERSPAN in a GENEVE in a QinQ with a multi-record MAD needs about twenty; more is an attack or nonsense.
inline constexpr std::size_t kMaxLayers = 32;

struct Layer {
    LayerKind kind = LayerKind::data;
    Fault fault = Fault::none;
    std::uint16_t offset = 0;  // of the first byte in the frame; headers never start beyond 64 KiB
    std::uint32_t length = 0;  // bytes captured of it; less than the header's own where fault is cut or too_short
};

}  // namespace qps::dissect
