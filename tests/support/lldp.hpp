// LLDP made to order: TLVs by their tables, types and lengths filled in.
#pragma once

#include <dissect/lldp/dcbx.hpp>
#include <dissect/lldp/tlvs.hpp>
#include <dissect/packet/build.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace qps::tests {

using TlvFields = std::vector<std::pair<std::string_view, std::uint64_t>>;

[[nodiscard]] inline std::vector<std::byte> octets_of_text(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

[[nodiscard]] inline dissect::HeaderSpec tlv(std::uint64_t type, dissect::LayerKind kind, const TlvFields& fields = {},
                                             std::vector<std::byte> tail = {}) {
    using namespace dissect;
    HeaderSpec made{kind};
    set(made, "lldp.tlv.type", type);
    set(made, "lldp.tlv.len", header(kind).length + tail.size() - 2);
    for (const auto& [field, value] : fields) set(made, field, value);
    made.tail = std::move(tail);
    return made;
}

// Of IEEE 802.1.
[[nodiscard]] inline dissect::HeaderSpec bridging_tlv(std::uint64_t subtype, dissect::LayerKind kind, TlvFields fields,
                                                      std::vector<std::byte> tail = {}) {
    fields.insert(fields.begin(), {{"lldp.orgtlv.oui", dissect::kOuiBridging}, {"lldp.ieee.802_1.subtype", subtype}});
    return tlv(127, kind, fields, std::move(tail));
}

// Of CEE: a feature in the TLV of its organization.
[[nodiscard]] inline dissect::HeaderSpec cee_tlv(std::uint64_t type, dissect::LayerKind kind,
                                                 const TlvFields& fields = {}, std::vector<std::byte> tail = {}) {
    using namespace dissect;
    HeaderSpec made{kind};
    set(made, "lldp.dcbx.type", type);
    set(made, "lldp.dcbx.len", header(kind).length + tail.size() - 2);
    for (const auto& [field, value] : fields) set(made, field, value);
    made.tail = std::move(tail);
    return made;
}

// The TLV around features of CEE.
[[nodiscard]] inline std::vector<dissect::HeaderSpec> cee(std::vector<dissect::HeaderSpec> features) {
    using namespace dissect;
    std::size_t length = header(kind::cee).length - 2U;
    for (const HeaderSpec& feature : features) length += header(feature.kind).length + feature.tail.size();
    HeaderSpec around = tlv(127, kind::cee, {{"lldp.orgtlv.oui", kOuiCee}, {"lldp.dcbx.proto", 2}});
    around.settings.clear();
    set(around, "lldp.tlv.type", 127);
    set(around, "lldp.tlv.len", length);
    set(around, "lldp.orgtlv.oui", kOuiCee);
    set(around, "lldp.dcbx.proto", 2);
    features.insert(features.begin(), around);
    return features;
}

[[nodiscard]] inline dissect::PacketSpec lldp_frame(std::uint64_t source, std::vector<dissect::HeaderSpec> tlvs) {
    using namespace dissect;
    PacketSpec spec;
    spec.headers = {{LayerKind::ethernet}};
    set(spec, "eth.dst", 0x0180c200000e);  // nearest bridge
    set(spec, "eth.src", source);
    spec.headers.insert(spec.headers.end(), tlvs.begin(), tlvs.end());
    spec.headers.push_back(tlv(0, kind::lldp_end));
    return spec;
}

// Who announces: the three TLVs that every frame begins with.
[[nodiscard]] inline std::vector<dissect::HeaderSpec> lldp_station(std::uint64_t mac, std::string_view port,
                                                                   std::uint64_t seconds = 120) {
    using namespace dissect;
    return {tlv(1, kind::lldp_chassis_mac, {{"lldp.chassis.subtype", 4}, {"lldp.chassis.id.mac", mac}}),
            tlv(2, kind::lldp_port, {{"lldp.port.subtype", 5}}, octets_of_text(port)),
            tlv(3, kind::lldp_time_to_live, {{"lldp.time_to_live", seconds}})};
}

[[nodiscard]] inline dissect::HeaderSpec pfc_tlv(std::uint64_t priorities, bool willing) {
    return bridging_tlv(11, dissect::kind::dcbx_pfc,
                        {{"lldp.dcbx.ieee.willing", willing ? 1 : 0},
                         {"lldp.dcbx.ieee.pfc.numtcs", 8},
                         {"rdma.lldp.pfc.enabled", priorities}});
}

}  // namespace qps::tests
