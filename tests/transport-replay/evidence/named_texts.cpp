// Texts of packets that say who somebody is, with a = in them: only iSCSI's keys are keys.
#include <tests/support/catch.hpp>
#include <tests/support/lldp.hpp>
#include <tests/support/nvme_capsules.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/scsi_ulp.hpp>
#include <transport-replay/evidence/anonymizer.hpp>

using namespace qps;
using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;
using namespace std::string_view_literals;

namespace {

std::string anonymized(const PacketSpec& spec, const UlpHint& hint = {}) {
    const std::vector<std::byte> bytes = build(spec);
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    frame.link = spec.link;
    Pseudonyms pseudonyms(Pseudonyms::Key{std::byte{7}}, false, 1000);
    Anonymizer anonymizer(pseudonyms, PayloadMode::zero);
    const Frame made = anonymizer.anonymize(frame, {}, hint);
    return {reinterpret_cast<const char*>(made.bytes.data()), made.bytes.size()};
}

std::string anonymized(const Octets& message, UlpProtocol protocol) {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    spec.payload = message;
    return anonymized(spec, UlpHint{protocol, true, 0, {}});
}

bool has(const std::string& bytes, std::string_view text) { return bytes.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("an LLDP frame that somebody anonymizes keeps no text, with or without a =") {
    auto tlvs = lldp_station(0x5254'0077'0011, "to=db-prod07");
    tlvs.push_back(tlv(6, kind::lldp_system_description, {}, octets_of_text("host=db7.acme k=secret")));
    const PacketSpec spec = lldp_frame(0x5254'0077'0011, tlvs);
    const std::string made = anonymized(spec);
    for (const std::string_view part : {"prod07"sv, "host"sv, "db7"sv, "acme"sv, "secret"sv})
        CHECK_FALSE(has(made, part));
    CHECK(std::ranges::count(made, '=') == 3);
}

TEST_CASE("a node description that somebody anonymizes is another, with or without a =") {
    const auto& attributes = kMadAttributes;
    const auto row = std::ranges::find(attributes, LayerKind::node_description, &MadAttribute::data);
    REQUIRE(row != attributes.end());
    PacketSpec spec = mad_packet(ManagementClass::subnet_lid_routed, *row, Network::native_local);
    std::vector<std::byte> text = octets_of_text("node=db-prod HCA-1");
    text.resize(64);
    REQUIRE(set(spec, "infiniband.nodedescription.nodestring", Bytes(text)));
    const std::string made = anonymized(spec);
    CHECK_FALSE(has(made, "node="));
    CHECK_FALSE(has(made, "prod"));
}

TEST_CASE("NQNs that somebody anonymizes are others, with or without a =") {
    const Octets entry = nvme_connect(1, 0), data = nvme_connect_data("nqn.2026-11.lab:host=alpha", "K=Q00000ZZQ");
    Octets capsule = entry;
    capsule.insert(capsule.end(), data.begin(), data.end());
    const std::string made = anonymized(capsule, UlpProtocol::nvme);
    CHECK(has(made, "nqn."));
    for (const std::string_view part : {"alpha"sv, "host="sv, "K="sv, "ZZQ"sv}) CHECK_FALSE(has(made, part));
}

TEST_CASE("of the keys of an iSCSI login that somebody anonymizes only harmless ones keep their values") {
    const std::string made = anonymized(
        iscsi_login_request(
            "SendTargets=iqn.2019-06.com.acme\0X-com.acme.host=db-prod-03.ac\0MaxBurstLength=262144\0TargetAlias=db=prod\0"sv),
        UlpProtocol::iser);
    CHECK(has(made, "SendTargets=iqn."sv));
    CHECK(has(made, "MaxBurstLength=262144"sv));
    CHECK(has(made, "TargetAlias="sv));
    for (const std::string_view part : {"acme"sv, "2019"sv, "prod"sv, "host"sv}) CHECK_FALSE(has(made, part));
}
