// Omni-Path packets made to order: records of type 29 with a 9B packet of a management datagram.
#pragma once

#include <dissect/omni_path/management.hpp>
#include <dissect/omni_path/packets.hpp>
#include <dissect/packet/build.hpp>

#include <algorithm>

namespace qps::tests {

// A datagram of that class and attribute with the layers that it has; `noted`: in a record of type 28.
[[nodiscard]] inline dissect::PacketSpec opa_datagram(dissect::ManagementClass management_class,
                                                      const dissect::OpaAttribute& attribute, bool noted = false) {
    using namespace dissect;
    PacketSpec spec;
    spec.link = LinkType::erf;
    spec.headers = {{LayerKind::erf}};
    if (noted) spec.headers.push_back({kind::opa_snc});
    spec.headers.push_back({kind::opa_9b});
    spec.headers.push_back({kind::opa_bth});
    spec.headers.push_back({kind::opa_deth});
    const bool directed = management_class == ManagementClass::subnet_directed;
    spec.headers.push_back({directed ? kind::opa_mad_directed : kind::opa_mad});
    if (directed) spec.headers.push_back({kind::opa_smp_directed});
    if (management_class == ManagementClass::subnet_lid_routed) spec.headers.push_back({kind::opa_smp_lid_routed});
    if (management_class == ManagementClass::subnet_administration) {
        spec.headers.push_back({kind::opa_rmpp});
        spec.headers.push_back({kind::opa_sa});
    }
    for (const LayerKind layer : attribute.layers)
        if (layer != LayerKind::frame) spec.headers.push_back({layer});
    const std::size_t before = 8 + 12 + 8;
    std::size_t length = 0;
    for (const HeaderSpec& header_spec : spec.headers)
        if (header_spec.kind != LayerKind::erf && header_spec.kind != kind::opa_snc)
            length += header(header_spec.kind).length;
    const std::size_t whole = before + kOpaMadLength;
    spec.payload.resize(whole - std::min(whole, length));
    spec.payload.insert(spec.payload.end(), {std::byte{0xde}, std::byte{0xad}, std::byte{0xbe}, std::byte{0xef}});
    set(spec, "opa.9b.lnh", 2);
    set(spec, "opa.length", (whole + 4) / 4);
    set(spec, "opa.bth.opcode", 0x64);
    const std::uint64_t qp = attribute.management_class == 1 ? 0 : 1;
    set(spec, "opa.bth.destqp", qp);
    set(spec, "opa.deth.srcqp", qp);
    set(spec, "opa.mad.baseversion", kOpaBaseVersion);
    set(spec, "opa.mad.mgmtclass", static_cast<std::uint64_t>(management_class));
    set(spec, "opa.mad.classversion", kOpaBaseVersion);
    set(spec, "opa.mad.attributeid", attribute.id);
    return spec;
}

// A packet of PSM2 with 20 bytes of data.
[[nodiscard]] inline dissect::PacketSpec opa_psm(std::uint64_t opcode) {
    using namespace dissect;
    PacketSpec spec;
    spec.link = LinkType::erf;
    spec.headers = {{LayerKind::erf}, {kind::opa_9b}, {kind::opa_bth}, {kind::opa_kdeth}, {kind::opa_psm}};
    spec.payload.assign(24, std::byte{0x5a});
    set(spec, "opa.9b.lnh", 2);
    set(spec, "opa.length", (8 + 12 + 8 + 28 + 24) / 4);
    set(spec, "opa.bth.opcode", opcode);
    set(spec, "opa.bth.destqp", 0x800102);
    set(spec, "opa.kdeth.kver", 1);
    set(spec, "opa.kdeth.sh", 1);
    set(spec, "opa.kdeth.tid", 0x155);
    set(spec, "opa.kdeth.offset", 0x1234);
    set(spec, "opa.kdeth.j_key", 0x20);
    set(spec, "opa.psm.flags", 5);
    set(spec, "opa.psm.commidx", 0x12345);
    set(spec, "opa.psm.ackpsn", 77);
    return spec;
}

// The classes in which an attribute is asked for.
[[nodiscard]] inline std::vector<dissect::ManagementClass> classes_of(const dissect::OpaAttribute& attribute) {
    const auto own = static_cast<dissect::ManagementClass>(attribute.management_class);
    if (own == dissect::ManagementClass::subnet_lid_routed) return {own, dissect::ManagementClass::subnet_directed};
    return {own};
}

}  // namespace qps::tests
