// Data Center Bridging: what switch and NIC announce, from their frames to the findings.
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/durations.hpp>
#include <tests/support/lldp.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/watch/bridging.hpp>

#include <algorithm>
#include <random>
#include <string>

#include <fmt/format.h>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

constexpr std::uint64_t kNic = 0x020000000001, kSwitch = 0x0200000000f1;
constexpr std::uint64_t kThree = 0x08, kThreeAndFour = 0x18;

// A link, and what is recorded of it. Times are in seconds.
struct RecordedLink {
    Analysis analysis;
    std::uint64_t frames = 0;
    std::uint32_t interface = 0;
    std::uint16_t file = 0;
    std::uint64_t receiver = kNic;  // of data

    void put(const PacketSpec& spec, double time, std::size_t captured = std::dynamic_extent) {
        const std::vector<std::byte> bytes = build(spec);
        Frame frame = frame_of(spec, bytes, captured);
        frame.index = FrameIndex{++frames};
        frame.time = Instant{static_cast<std::int64_t>(time * static_cast<double>(kSecond))};
        frame.interface = InterfaceId{interface};
        Packet packet;
        decode(frame, packet);
        Observation observation;
        observe(packet, observation);
        observation.file = file;
        analysis.observe(observation);
    }
    void announce(std::uint64_t mac, double time, std::vector<HeaderSpec> more = {}, std::uint64_t lifetime = 120,
                  std::size_t captured = std::dynamic_extent) {
        std::vector<HeaderSpec> tlvs = lldp_station(mac, "port", lifetime);
        tlvs.push_back(tlv(5, kind::lldp_system_name, {}, octets_of_text(mac == kSwitch ? "leaf-1" : "node-1")));
        if (mac == kSwitch)
            tlvs.push_back(
                tlv(7, kind::lldp_capabilities, {{"lldp.tlv.system_cap", 0x14}, {"lldp.tlv.enable_system_cap", 0x14}}));
        tlvs.insert(tlvs.end(), more.begin(), more.end());
        put(lldp_frame(mac, tlvs), time, captured);
    }
    void data(double time, std::optional<unsigned> priority, std::uint64_t dscp, std::uint8_t opcode = 0x04) {
        PacketSpec spec = transport_packet(Opcode{opcode}, Network::roce_v2_ipv4);
        set(spec, "ip.src", 0xc0000201);
        set(spec, "ip.dst", 0xc0000202);
        set(spec, "eth.dst", receiver);
        set(spec, "infiniband.bth.destqp", 0x22);
        set(spec, "infiniband.bth.psn", frames);
        set(spec, "ip.dsfield.dscp", dscp);
        if (priority) {
            spec.headers.insert(spec.headers.begin() + 1, {LayerKind::vlan});
            set(spec, "vlan.priority", *priority);
        }
        put(spec, time);
    }
    // Every 30 s, each after the other.
    void repeat(const std::vector<HeaderSpec>& of_switch, const std::vector<HeaderSpec>& of_nic, int times = 3,
                double from = 0) {
        for (int i = 0; i < times; ++i) {
            announce(kSwitch, from + 30 * i, of_switch);
            announce(kNic, from + 30 * i + 1, of_nic);
        }
    }
    // The sentences of a finding.
    std::vector<std::string> said(std::string_view id) {
        const Timeline timeline = analysis.finish();
        std::vector<std::string> sentences;
        for (const Finding& finding : timeline.findings)
            if (finding.id == id) sentences.push_back(finding.summary);
        return sentences;
    }
};

HeaderSpec applications(std::initializer_list<unsigned> entries) {
    std::vector<std::byte> table;
    for (const unsigned entry : entries) table.push_back(static_cast<std::byte>(entry));
    return bridging_tlv(12, kind::dcbx_applications, {}, table);
}
HeaderSpec roce_at(unsigned priority) { return applications({priority << 5U | 3U, 0x12, 0xb7}); }

// Priority 3 in a class of its own, with so much of the bandwidth; the others in class `rest`.
HeaderSpec ets(std::uint64_t subtype, std::uint64_t percent, bool willing, std::uint64_t rest = 0) {
    TlvFields fields;
    const std::uint64_t lossless = rest == 0 ? 1 : 0;
    for (std::size_t i = 0; i < 8; ++i) fields.emplace_back(kGroupOfPriorityNames[i], i == 3 ? lossless : rest);
    fields.emplace_back(kBandwidthNames[lossless], percent);
    fields.emplace_back(kBandwidthNames[rest], 100 - percent);
    fields.emplace_back(kSelectionNames[lossless], 2);
    fields.emplace_back(kSelectionNames[rest], 2);
    if (willing) fields.emplace_back("lldp.dcbx.ieee.willing", 1);
    return bridging_tlv(subtype, subtype == 9 ? kind::dcbx_ets : kind::dcbx_ets_recommended, fields);
}
std::vector<HeaderSpec> cee_priorities(std::uint64_t priorities, bool willing, bool enabled = true) {
    return cee({cee_tlv(3, kind::cee_pfc,
                        {{"lldp.dcbx.feature.enabled", enabled ? 1 : 0},
                         {"lldp.dcbx.feature.willing", willing ? 1 : 0},
                         {"rdma.lldp.pfc.enabled", priorities}})});
}

}  // namespace

TEST_CASE("switch and NIC that announce other lossless priorities, and take nothing, disagree") {
    RecordedLink link;
    link.announce(kSwitch, 0, {pfc_tlv(kThree, false)});
    link.announce(kNic, 1, {pfc_tlv(kThreeAndFour, false)});
    const auto said = link.said("pfc-differs");
    REQUIRE(said.size() == 1);
    CHECK(
        said[0] ==
        "02:00:00:00:00:f1 (leaf-1) announces PFC for priority 3, and its link partner 02:00:00:00:00:01 (node-1) for priorities 3 and 4, on "
        "interface 0; neither is willing to take the other's.");
}

TEST_CASE("a willing NIC has time to take the configuration of the switch") {
    RecordedLink quick, slow, late;
    quick.announce(kNic, 0, {pfc_tlv(0, true)});
    quick.announce(kSwitch, 1, {pfc_tlv(kThree, false)});
    quick.announce(kNic, 2, {pfc_tlv(0, true)});  // as it was when it had not heard the switch
    quick.announce(kNic, 3, {pfc_tlv(0, true)});
    CHECK(quick.said("pfc-differs").empty());
    slow.repeat({pfc_tlv(kThree, false)}, {pfc_tlv(0, true)}, 2);
    slow.repeat({pfc_tlv(kThree, false)}, {pfc_tlv(kThree, true)}, 2, 60);
    CHECK(slow.said("pfc-differs").empty());
    late.repeat({pfc_tlv(kThree, false)}, {pfc_tlv(0, true)});
    const auto said = late.said("pfc-differs");
    REQUIRE(said.size() == 1);
    CHECK(
        said[0] ==
        "02:00:00:00:00:f1 (leaf-1) announces PFC for priority 3, and its link partner 02:00:00:00:00:01 (node-1) for no priority, on interface 0; "
        "02:00:00:00:00:01 is willing to take the other's, but repeated its own twice within 61 s.");
}

TEST_CASE("of two ends that are willing the one with the higher address takes") {
    RecordedLink link;
    link.repeat({pfc_tlv(kThree, true)}, {pfc_tlv(kThreeAndFour, true)}, 4);
    const auto said = link.said("pfc-differs");
    REQUIRE(said.size() == 1);
    CHECK(said[0].ends_with(
        "02:00:00:00:00:f1 is willing to take the other's, but repeated its own 3 times within 89 s."));
}

TEST_CASE("announcements that nobody can compare are no disagreement") {
    const std::vector<HeaderSpec> three{pfc_tlv(kThree, false)}, more{pfc_tlv(kThreeAndFour, false)};
    SECTION("one end alone") {
        RecordedLink link;
        link.announce(kSwitch, 0, three);
        CHECK(link.said("pfc-differs").empty());
    }
    SECTION("an end that says nothing of PFC") {
        RecordedLink link;
        link.repeat(three, {});
        CHECK(link.said("pfc-differs").empty());
    }
    SECTION("two switches, or two stations: perhaps a mirror of two links") {
        RecordedLink link;
        link.announce(kNic, 0, three);
        link.announce(kNic + 1, 1, more);
        CHECK(link.said("pfc-differs").empty());
    }
    SECTION("three stations") {
        RecordedLink link;
        link.announce(kSwitch, 0, three);
        link.announce(kNic, 1, more);
        link.announce(kNic + 1, 1, more);
        CHECK(link.said("pfc-differs").empty());
    }
    SECTION("two interfaces") {
        RecordedLink link;
        link.announce(kSwitch, 0, three);
        link.interface = 1;
        link.announce(kNic, 1, more);
        CHECK(link.said("pfc-differs").empty());
    }
    SECTION("one does not hold any more when the other speaks") {
        RecordedLink link;
        link.announce(kSwitch, 0, three);
        link.announce(kNic, 121, more);
        CHECK(link.said("pfc-differs").empty());
    }
    SECTION("one said that it stops") {
        RecordedLink link;
        link.announce(kSwitch, 0, three);
        link.announce(kSwitch, 1, {}, 0);
        link.announce(kNic, 2, more);
        CHECK(link.said("pfc-differs").empty());
    }
    SECTION("frames that the capture cut") {
        RecordedLink link;
        link.announce(kSwitch, 0, three, 120, 50);
        link.announce(kNic, 1, more);
        CHECK(link.said("pfc-differs").empty());
    }
    SECTION("IEEE here, CEE there") {
        RecordedLink link;
        link.announce(kSwitch, 0, three);
        link.announce(kNic, 1, cee_priorities(kThreeAndFour, false));
        CHECK(link.said("pfc-differs").empty());
    }
    SECTION("LLDP that passes bridges") {
        RecordedLink link;
        for (const bool is_switch : {true, false}) {
            std::vector<HeaderSpec> tlvs = lldp_station(is_switch ? kSwitch : kNic, "port");
            if (is_switch) tlvs.push_back(tlv(7, kind::lldp_capabilities, {{"lldp.tlv.enable_system_cap", 4}}));
            tlvs.push_back(is_switch ? three[0] : more[0]);
            PacketSpec spec = lldp_frame(is_switch ? kSwitch : kNic, tlvs);
            set(spec, "eth.dst", 0x0180c2000000);
            link.put(spec, 1);
        }
        CHECK(link.said("pfc-differs").empty());
    }
}

TEST_CASE("CEE announces what is wished for: only who is not willing disagrees") {
    RecordedLink both, willing, off;
    both.repeat(cee_priorities(kThree, false), cee_priorities(kThreeAndFour, false), 1);
    CHECK(both.said("pfc-differs").size() == 1);
    willing.repeat(cee_priorities(kThree, false), cee_priorities(kThreeAndFour, true), 5);
    CHECK(willing.said("pfc-differs").empty());
    off.repeat(cee_priorities(kThree, false), cee_priorities(kThreeAndFour, false, false), 1);
    CHECK(off.said("pfc-differs").empty());
}

TEST_CASE("ETS is compared by priority, whatever the classes are called") {
    RecordedLink same, differ, taken, recommended;
    same.repeat({ets(9, 60, false)}, {ets(9, 60, false, 5)}, 1);
    CHECK(same.said("ets-differs").empty());
    differ.repeat({ets(9, 60, false)}, {ets(9, 50, false)}, 1);
    const auto said = differ.said("ets-differs");
    REQUIRE(said.size() == 1);
    CHECK(
        said[0] ==
        "For priority 3 02:00:00:00:00:f1 (leaf-1) announces 60 % of the bandwidth, and its link partner 02:00:00:00:00:01 (node-1) announces 50 % of "
        "the bandwidth, on interface 0; 8 priorities differ; neither is willing to take the other's.");
    // A willing NIC takes what is recommended to it, which need not be what the switch does itself.
    taken.repeat({ets(9, 60, false), ets(10, 50, false)}, {ets(9, 50, true)});
    CHECK(taken.said("ets-differs").empty());
    recommended.repeat({ets(9, 50, false), ets(10, 60, false)}, {ets(9, 50, true)});
    CHECK(recommended.said("ets-differs").size() == 1);
}

TEST_CASE("switch and NIC disagree on the priority of RoCEv2") {
    RecordedLink differ, quick, others;
    differ.repeat({roce_at(3)}, {roce_at(4)});
    const auto said = differ.said("application-priority-differs");
    REQUIRE(said.size() == 1);
    CHECK(
        said[0] ==
        "02:00:00:00:00:f1 (leaf-1) announces priority 3 for RoCEv2 (UDP port 4791), and its link partner 02:00:00:00:00:01 (node-1) priority 4, on "
        "interface 0; the latter repeated it twice within 61 s.");
    quick.repeat({roce_at(3)}, {roce_at(4)}, 1);
    CHECK(quick.said("application-priority-differs").empty());
    others.repeat({roce_at(3)}, {applications({0x81, 0x89, 0x06})});  // FCoE at 4
    CHECK(others.said("application-priority-differs").empty());
}

TEST_CASE("RoCE packets of a priority without PFC are counted while the announcement holds") {
    RecordedLink link;
    link.data(0, 0U, 0);  // nobody announced anything yet
    link.announce(kSwitch, 1, {pfc_tlv(kThree, false)});
    link.data(1.2, 0U, 0);  // whose station it is for is not known yet
    link.announce(kNic, 1.5);
    for (int i = 0; i < 4; ++i) link.data(2 + i, 0U, 0);
    link.data(7, 5U, 0);
    link.data(8, 3U, 0);         // lossless
    link.data(9, 0U, 26);        // by its DSCP perhaps lossless
    link.data(10, {}, 0);        // untagged: nobody knows
    link.data(11, 0U, 0, 0x81);  // a CNP
    link.data(122, 0U, 0);       // what was announced holds no more
    const auto said = link.said("roce-outside-pfc");
    REQUIRE(said.size() == 1);
    CHECK(
        said[0] ==
        "02:00:00:00:00:f1 (leaf-1) announces PFC for priority 3 on interface 0, but 4 RoCE packets to 02:00:00:00:00:01 there are of priority 0 (by PCP, with "
        "DSCP 0), and 1 of others.");
}

TEST_CASE("the priority of a DSCP is known where the end announces it") {
    RecordedLink outside, inside, both, none, upper_bits;
    for (RecordedLink* link : {&outside, &inside, &both, &none, &upper_bits}) link->announce(kNic, 0);
    const HeaderSpec to_five = applications({0xa5, 0, 34}), to_three = applications({0x65, 0, 34});
    outside.announce(kSwitch, 0, {pfc_tlv(kThree, false), to_five});
    outside.data(1, {}, 34);
    const auto said = outside.said("roce-outside-pfc");
    REQUIRE(said.size() == 1);
    CHECK(
        said[0] ==
        "02:00:00:00:00:f1 (leaf-1) announces PFC for priority 3 on interface 0, but 1 RoCE packet to 02:00:00:00:00:01 there is of priority 5 (by "
        "DSCP 34, as it maps it).");
    inside.announce(kSwitch, 0, {pfc_tlv(kThree, false), to_three});
    inside.data(1, {}, 34);
    inside.data(2, 0U, 34);  // whether tags or DSCPs count is not announced
    CHECK(inside.said("roce-outside-pfc").empty());
    both.announce(kSwitch, 0, {pfc_tlv(kThree, false), to_five});
    both.data(1, 3U, 34);
    CHECK(both.said("roce-outside-pfc").empty());
    none.announce(kSwitch, 0, {pfc_tlv(0, false), to_five});  // no lossless class at all: RoCE that lives with loss
    none.data(1, {}, 34);
    none.data(2, 0U, 0);
    CHECK(none.said("roce-outside-pfc").empty());
    upper_bits.announce(kSwitch, 0, {pfc_tlv(kThree, false), applications({0xa5, 0, 26})});  // 26 / 8 is 3
    upper_bits.data(1, {}, 26);
    upper_bits.data(2, 5U, 26);
    CHECK(upper_bits.said("roce-outside-pfc").empty());
}

TEST_CASE("RoCE packets prove nothing where it is not known whose link they are on, or by what they go") {
    RecordedLink link;
    const std::vector<HeaderSpec> three{pfc_tlv(kThree, false)};
    link.announce(kSwitch, 0, three);
    SECTION("the station announces nothing: perhaps the port of a mirror") {}
    SECTION("packets of other hosts, mirrored") {
        link.announce(kNic, 1);
        link.receiver = kNic + 9;
    }
    SECTION("two switches: a bond") {
        link.announce(kNic, 1);
        link.announce(kSwitch + 1, 1,
                      {tlv(7, kind::lldp_capabilities, {{"lldp.tlv.enable_system_cap", 4}}), pfc_tlv(kThree, false)});
    }
    SECTION("two stations") {
        link.announce(kNic, 1);
        link.announce(kNic + 1, 1);
    }
    SECTION("DSCP 0 is of a lossless priority") {
        link.announce(kSwitch, 2, {pfc_tlv(1, false)});
        link.announce(kNic, 3);
    }
    link.data(4, 4U, 0);
    CHECK(link.said("roce-outside-pfc").empty());
}

TEST_CASE("announcements that two taps recorded, or files in the wrong order, are no repetitions") {
    const double apart = GENERATE(2e-5, 0.002, 0.3);
    RecordedLink link, stopped;
    for (const double time : {0.0, 30.0}) {
        for (const double tap : {0.0, apart}) link.announce(kSwitch, time + tap, {pfc_tlv(kThree, false)});
        for (const double tap : {0.0, apart}) link.announce(kNic, time + 1 + tap, {pfc_tlv(0, true)});
    }
    link.announce(kNic, 0.5, {pfc_tlv(0, true)});
    CHECK(link.said("pfc-differs").empty());
    for (const double tap : {0.0, apart}) stopped.announce(kNic, tap, {}, 0);
    for (const double time : {20.0, 50.0}) stopped.announce(kSwitch, time, {});
    CHECK(stopped.said("lldp-stopped").empty());
}

TEST_CASE("packets are judged by what was announced when they passed") {
    RecordedLink link;
    link.announce(kNic, 0);
    link.announce(kSwitch, 0, {pfc_tlv(kThreeAndFour, false)});
    link.data(1, 4U, 0);
    link.announce(kSwitch, 2, {pfc_tlv(kThree, false)});
    CHECK(link.said("roce-outside-pfc").empty());
}

TEST_CASE("packets of a priority whose PFC was announced later are told as past") {
    RecordedLink mended, moved, dropped, cut, mapped, both;
    for (RecordedLink* link : {&mended, &moved, &dropped, &cut, &both}) {
        link->announce(kNic, 0);
        link->announce(kSwitch, 0, {pfc_tlv(kThree, false)});
        for (int i = 0; i < 4; ++i) link->data(1 + i, 4U, 0);
    }
    const std::string then =
        "4 RoCE packets to 02:00:00:00:00:01 on interface 0 were of priority 4 (by PCP, with DSCP 0), for which 02:00:00:00:00:f1 (leaf-1) "
        "announced no PFC then";
    const auto only = [](RecordedLink& link) {
        const auto said = link.said("roce-outside-pfc");
        return said.size() == 1 ? said[0] : fmt::format("{} findings", said.size());
    };
    mended.announce(kSwitch, 10, {pfc_tlv(kThreeAndFour, false)});
    mended.data(11, 4U, 0);
    CHECK(only(mended) == then + "; its last announcement has PFC for priorities 3 and 4.");
    dropped.announce(kSwitch, 10, {pfc_tlv(0, false)});
    CHECK(only(dropped) == then + "; its last announcement has PFC for no priority.");
    cut.announce(kSwitch, 10, {pfc_tlv(kThreeAndFour, false)}, 120, 52);
    CHECK(only(cut) == then + ".");
    // Neither before nor now: it stays a warning, and says what is of before.
    moved.announce(kSwitch, 10, {pfc_tlv(0x20, false)});
    moved.data(11, 4U, 0);
    CHECK(
        only(moved) ==
        "02:00:00:00:00:f1 (leaf-1) announces PFC for priority 5 on interface 0, but 5 RoCE packets to 02:00:00:00:00:01 there are of priority 4 (by PCP, with "
        "DSCP 0); some passed before it changed what it announces, and had no PFC then either.");
    both.announce(kSwitch, 10, {pfc_tlv(kThreeAndFour, false)});
    both.data(11, 6U, 0);
    const auto said = both.said("roce-outside-pfc");
    REQUIRE(said.size() == 2);
    CHECK(std::ranges::count(said, then + "; its last announcement has PFC for priorities 3 and 4.") == 1);
    CHECK(
        std::ranges::count(
            said,
            "02:00:00:00:00:f1 (leaf-1) announces PFC for priorities 3 and 4 on interface 0, but 1 RoCE packet to 02:00:00:00:00:01 there is of "
            "priority 6 (by PCP, with DSCP 0).") == 1);
    // By the map of DSCPs, which changed.
    mapped.announce(kNic, 0);
    mapped.announce(kSwitch, 0, {pfc_tlv(kThree, false), applications({0xa5, 0, 34})});
    mapped.data(1, {}, 34);
    mapped.announce(kSwitch, 2, {pfc_tlv(kThree, false), applications({0x65, 0, 34})});
    mapped.data(3, {}, 34);
    CHECK(
        only(mapped) ==
        "1 RoCE packet to 02:00:00:00:00:01 on interface 0 was of priority 5 (by DSCP 34, as mapped then), for which 02:00:00:00:00:f1 (leaf-1) announced no "
        "PFC then; its last announcement has PFC for priority 3.");
}

TEST_CASE("what was told as past is a note") {
    RecordedLink link;
    link.announce(kNic, 0);
    link.announce(kSwitch, 0, {pfc_tlv(kThree, false)});
    link.data(1, 4U, 0);
    link.announce(kSwitch, 2, {pfc_tlv(kThreeAndFour, false)});
    const Timeline timeline = link.analysis.finish();
    const auto found = std::ranges::find(timeline.findings, "roce-outside-pfc", &Finding::id);
    REQUIRE(found != timeline.findings.end());
    CHECK(found->severity == Severity::note);
}

TEST_CASE("an end that stopped announcing is told from one that nobody could hear") {
    const std::vector<HeaderSpec> three{pfc_tlv(kThree, false)};
    SECTION("its time is over, and the other end goes on") {
        RecordedLink link;
        link.announce(kNic, 0, three);
        for (int i = 0; i < 6; ++i) link.announce(kSwitch, 1 + 29 * i, three);
        const auto said = link.said("lldp-stopped");
        REQUIRE(said.size() == 1);
        CHECK(
            said[0] ==
            "02:00:00:00:00:01 (node-1) announced on interface 0 its configuration for 120 s at a time, and nothing more in the 146 s that the capture "
            "goes on there.");
    }
    SECTION("the capture ends before its time is over") {
        RecordedLink link;
        link.announce(kNic, 0, three);
        for (int i = 0; i < 5; ++i) link.announce(kSwitch, 1 + 29 * i, three);
        CHECK(link.said("lldp-stopped").empty());
    }
    SECTION("a break in the capture, in which nobody was heard") {
        RecordedLink link;
        link.announce(kNic, 0, three);
        link.announce(kSwitch, 1, three);
        link.announce(kSwitch, 300, three);
        CHECK(link.said("lldp-stopped").empty());
    }
    SECTION("packets go on at another interface") {
        RecordedLink link;
        link.announce(kNic, 0, three);
        link.interface = 1;
        for (int i = 0; i < 20; ++i) link.data(10 * i, {}, 0);
        CHECK(link.said("lldp-stopped").empty());
    }
    SECTION("it says that it stops") {
        RecordedLink link;
        link.announce(kNic, 0, three);
        link.announce(kNic, 10, {}, 0);
        link.announce(kSwitch, 25, three);
        const auto said = link.said("lldp-stopped");
        REQUIRE(said.size() == 1);
        CHECK(
            said[0] ==
            "02:00:00:00:00:01 (node-1) announced on interface 0 that it stops (time to live 0), and nothing more in the 15 s that the capture goes on there.");
    }
    SECTION("it begins anew") {
        RecordedLink link;
        link.announce(kNic, 0, three);
        link.announce(kNic, 10, {}, 0);
        link.announce(kNic, 13, three);
        link.announce(kSwitch, 30, three);
        CHECK(link.said("lldp-stopped").empty());
    }
    SECTION("it goes on by another name of its port") {
        RecordedLink link;
        link.announce(kNic, 0, three);
        link.announce(kNic, 10, {}, 0);
        for (int i = 0; i < 6; ++i) {
            std::vector<HeaderSpec> tlvs = lldp_station(kNic, "renamed");
            link.put(lldp_frame(kNic, tlvs), 11 + 30 * i);
        }
        CHECK(link.said("lldp-stopped").empty());
    }
    SECTION("it goes on in the next file") {
        RecordedLink link;
        link.announce(kNic, 0, three);
        link.announce(kNic, 10, {}, 0);
        link.announce(kSwitch, 25, three);
        link.file = 1;
        link.announce(kNic, 31, three);
        CHECK(link.said("lldp-stopped").empty());
    }
    SECTION("files in the wrong order") {
        RecordedLink link;
        link.repeat(three, three, 5, 90);
        link.repeat(three, three, 3, 0);
        CHECK(link.said("lldp-stopped").empty());
    }
    SECTION("LLDP that cannot be read may be its own") {
        RecordedLink link;
        link.announce(kNic, 0, three);
        for (int i = 0; i < 6; ++i) link.announce(kSwitch, 1 + 29 * i, three, 120, i == 3 ? 16 : std::dynamic_extent);
        CHECK(link.said("lldp-stopped").empty());
    }
}

TEST_CASE("links and ends of them beyond their bounds are counted, whatever the bytes are") {
    BridgingTracker tracker;
    const PacketSpec spec = lldp_frame(kNic, lldp_station(kNic, "port"));
    std::vector<std::byte> bytes = build(spec);
    std::mt19937 draw(7);
    Packet packet;
    Observation observation;
    for (std::uint32_t i = 0; i < 4000; ++i) {
        std::vector<std::byte> changed = bytes;
        for (int k = 0; k < 3; ++k) changed[14 + draw() % (changed.size() - 14)] = static_cast<std::byte>(draw());
        changed[11] = static_cast<std::byte>(i % (kMaxBridgingEnds + 3));
        Frame frame = frame_of(spec, changed);
        frame.index = FrameIndex{i + 1};
        frame.time = Instant{i};
        frame.interface = InterfaceId{i % (2 * std::uint32_t{kMaxBridgingLinks})};
        decode(frame, packet);
        observe(packet, observation);
        tracker.observe(observation);
    }
    const BridgingReport report = tracker.finish();
    CHECK(report.links.size() == kMaxBridgingLinks);
    CHECK(report.left_out > 0);
    for (const BridgingLink& link : report.links) CHECK(link.ends.size() <= kMaxBridgingEnds);
}
