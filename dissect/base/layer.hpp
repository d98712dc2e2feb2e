// Layer: one header (or payload, or trailer) of a packet: what it is and where in the frame it lies.
//
// Kinds below count_ are a closed list. Families with many headers of their own number theirs beside their tables,
// behind it. The registry has a row for each kind and refuses two for one.
#pragma once

#include <dissect/base/fault.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace qps::dissect {

enum class LayerKind : std::uint16_t {
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
    // bytes that nothing above explains
    data,
    count_,
};

// The families that number their kinds beside their tables, and how many each has. Where a family begins follows from
// those before it: a new one is a row here.
enum class LayerFamily : std::uint8_t {
    // Upper-layer protocols: layers that only who follows connections can find, see dissect/ulp/ulp.hpp.
    nvme,
    iser,
    iscsi,
    scsi,
    srp,
    rpc_rdma,
    smb_direct,
    rds,
    ipoib,
    rsockets,
    lnet,
    ucx,
    libfabric,
    sdp,
    iwarp,
    // Told by the packet alone.
    management,  // more attributes of management datagrams
    omni_path,
    ultra_ethernet,
    native_ultra_ethernet,
    lldp,
    segment_routing,
    infiniband_link,
    icmp,  // and neighbour discovery, and what errors quote
    grid_ftp,
    count_,
};
inline constexpr std::array<std::uint16_t, static_cast<std::size_t>(LayerFamily::count_)> kFamilyKinds{
    28,  // nvme
    3,   // iser
    18,  // iscsi
    3,   // scsi
    12,  // srp
    18,  // rpc_rdma
    8,   // smb_direct
    4,   // rds
    3,   // ipoib
    2,   // rsockets
    15,  // lnet
    15,  // ucx
    12,  // libfabric
    6,   // sdp
    19,  // iwarp
    18,  // management
    20,  // omni_path
    36,  // ultra_ethernet
    1,   // native_ultra_ethernet
    32,  // lldp
    2,   // segment_routing
    1,   // infiniband_link
    30,  // icmp
    1,   // grid_ftp
};

// The number of a family's first kind; that of the kind behind its last.
[[nodiscard]] constexpr std::uint16_t first_of(LayerFamily family) {
    auto number = static_cast<std::uint16_t>(LayerKind::count_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(family); ++i)
        number = static_cast<std::uint16_t>(number + kFamilyKinds[i]);
    return number;
}
[[nodiscard]] constexpr std::uint16_t end_of(LayerFamily family) {
    return static_cast<std::uint16_t>(first_of(family) + kFamilyKinds[static_cast<std::size_t>(family)]);
}
[[nodiscard]] constexpr bool is_of(LayerKind kind, LayerFamily family) {
    const auto number = static_cast<std::uint16_t>(kind);
    return number >= first_of(family) && number < end_of(family);
}
// The kind with that place in its family; one that the family has no room for does not compile.
[[nodiscard]] consteval LayerKind kind_in(LayerFamily family, std::uint16_t place) {
    if (place >= kFamilyKinds[static_cast<std::size_t>(family)]) throw "a family of layers has fewer kinds";
    return static_cast<LayerKind>(first_of(family) + place);
}

inline constexpr std::size_t kLayerKinds = first_of(LayerFamily::count_);

// A layer that is there only where the packet's annotation says what its payload is.
[[nodiscard]] constexpr bool is_ulp(LayerKind kind) {
    const auto number = static_cast<std::uint16_t>(kind);
    return number >= first_of(LayerFamily::nvme) && number < first_of(LayerFamily::management);
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
