// Scenes of a link whose ends announce their configuration by LLDP: a switch and a NIC that do not fit together.
#include <tests/court/stage.hpp>
#include <tests/support/lldp.hpp>

#include <array>

namespace qps::court {

namespace scenes {

namespace {

using namespace dissect;
using namespace tests;

constexpr std::uint64_t kNic = 0x020000000001, kSwitch = 0x0200000000f1;

void announce(Stage& stage, bool is_switch, const std::vector<HeaderSpec>& more, std::uint64_t lifetime = 120) {
    std::vector<HeaderSpec> tlvs =
        lldp_station(is_switch ? kSwitch : kNic, is_switch ? "Ethernet12" : "enp1s0f0", lifetime);
    tlvs.push_back(tlv(5, kind::lldp_system_name, {}, octets_of_text(is_switch ? "leaf-1" : "node-1")));
    if (is_switch)
        tlvs.push_back(
            tlv(7, kind::lldp_capabilities, {{"lldp.tlv.system_cap", 0x14}, {"lldp.tlv.enable_system_cap", 0x14}}));
    tlvs.insert(tlvs.end(), more.begin(), more.end());
    stage.put(lldp_frame(is_switch ? kSwitch : kNic, tlvs));
}

void both(Stage& stage, const std::vector<HeaderSpec>& of_switch, const std::vector<HeaderSpec>& of_nic,
          unsigned times) {
    for (unsigned i = 0; i < times; ++i) {
        announce(stage, true, of_switch);
        stage.dialogue(1, 2, 21, 2, {}, {}, 2 * i);
        announce(stage, false, of_nic);
        stage.wait((20 + i) * kASecond);
    }
}

std::vector<HeaderSpec> older_lossless(std::uint64_t priorities) {
    return cee({cee_tlv(3, kind::cee_pfc, {{"lldp.dcbx.feature.enabled", 1}, {"rdma.lldp.pfc.enabled", priorities}})});
}

// Variant 0: neither is willing; 1: the NIC is, and goes on; 2: CEE.
void pfc(Stage& stage, unsigned variant) {
    if (variant == 2) return both(stage, older_lossless(0x08), older_lossless(0x68), 1);
    both(stage, {pfc_tlv(0x08, false)}, {pfc_tlv(variant == 0 ? 0x18 : 0, variant == 1)}, 2 + 2 * variant);
}

HeaderSpec shares(std::uint64_t subtype, std::uint64_t percent, bool willing) {
    TlvFields fields{{kGroupOfPriorityNames[3], 1}, {kGroupOfPriorityNames[6], 2}, {kBandwidthNames[0], 100 - percent},
                     {kBandwidthNames[1], percent}, {kSelectionNames[0], 2},       {kSelectionNames[1], 2}};
    if (willing) fields.emplace_back("lldp.dcbx.ieee.willing", 1);
    return bridging_tlv(subtype, subtype == 9 ? kind::dcbx_ets : kind::dcbx_ets_recommended, fields);
}
std::vector<HeaderSpec> older_shares(std::uint64_t percent) {
    return cee({cee_tlv(2, kind::cee_groups,
                        {{"lldp.dcbx.feature.enabled", 1},
                         {kGroupOfPriorityNames[3], 1},
                         {kGroupOfPriorityNames[6], 15},
                         {kBandwidthNames[0], 100 - percent},
                         {kBandwidthNames[1], percent}})});
}
void ets(Stage& stage, unsigned variant) {
    if (variant == 2) return both(stage, older_shares(60), older_shares(70), 1);
    if (variant == 1) return both(stage, {shares(9, 50, false), shares(10, 60, false)}, {shares(9, 50, true)}, 4);
    both(stage, {shares(9, 50, false)}, {shares(9, 40, false)}, 2);
}

HeaderSpec applications(std::initializer_list<unsigned> entries) {
    std::vector<std::byte> table;
    for (const unsigned entry : entries) table.push_back(static_cast<std::byte>(entry));
    return bridging_tlv(12, kind::dcbx_applications, {}, table);
}
std::vector<HeaderSpec> older_applications(unsigned priorities) {
    std::vector<std::byte> table;
    for (const unsigned octet : {0x12U, 0xb7U, 0x01U, 0x1bU, 0x21U, priorities})
        table.push_back(static_cast<std::byte>(octet));
    return cee({cee_tlv(4, kind::cee_applications, {{"lldp.dcbx.feature.enabled", 1}}, table)});
}
void roce(Stage& stage, unsigned variant) {
    if (variant == 2) return both(stage, older_applications(0x08), older_applications(0x30), 1);
    both(stage, {applications({0x63, 0x12, 0xb7})}, {applications({variant == 0 ? 0x83U : 0xa4U, 0x12, 0xb7})},
         3 + variant);
}

// Variant 0: by tags; 1: by DSCPs as the switch maps them; 2: tags of several priorities, some lossless, one of them
// from then on.
void outside(Stage& stage, unsigned variant) {
    std::vector<HeaderSpec> tlvs{pfc_tlv(0x08, false)};
    if (variant == 1) tlvs.push_back(applications({0xa5, 0, 34}));
    announce(stage, true, tlvs);
    announce(stage, false, {});
    for (unsigned number = 0; number < 12 + variant; ++number) {
        stage.send(1, 2, 21, number, {{"eth.dst", kNic}, {"ip.dsfield.dscp", variant == 1 ? 34 : 0}});
        if (variant != 1) {
            Record& record = stage.recording.records.back();
            const unsigned priority = variant == 0 || number % 4 < 2 ? 0 : number % 4 - 1 + number % 2;
            const std::array<std::uint8_t, 4> tag{0x81, 0, static_cast<std::uint8_t>(priority << 5U), 7};
            record.bytes.insert(record.bytes.begin() + 12, tag.begin(), tag.end());
            record.wire += 4;
        }
        stage.acknowledge(2, 1, 21, number);
    }
    if (variant == 2) announce(stage, true, {pfc_tlv(0x0a, false)});
}

// Variant 0: the NIC is not heard any more; 1: it says that it stops; 2: the switch stops, later.
void stopped(Stage& stage, unsigned variant) {
    const std::vector<HeaderSpec> tlvs{pfc_tlv(0x08, false)};
    both(stage, tlvs, tlvs, 1 + variant);
    if (variant == 1) announce(stage, false, {}, 0);
    for (unsigned i = 0; i < 6 + variant; ++i) {
        stage.wait(25 * kASecond);
        announce(stage, variant != 2, tlvs);
    }
}

constexpr std::array kBridgingScenes{
    Scene{"pfc-differs", pfc},          Scene{"ets-differs", ets},      Scene{"application-priority-differs", roce},
    Scene{"roce-outside-pfc", outside}, Scene{"lldp-stopped", stopped},
};

}  // namespace

}  // namespace scenes

std::span<const Scene> bridging_scenes() { return scenes::kBridgingScenes; }

}  // namespace qps::court
