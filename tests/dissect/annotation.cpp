// Fields that come from a packet's annotation: present where somebody annotated it, and only there.
#include <dissect/filter/field_index.hpp>
#include <dissect/filter/filter.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

#include <array>
#include <string>

using namespace qps::dissect;
using qps::tests::Decoded;

namespace {

constexpr std::array<std::uint32_t, 6> kFramesOfMessage{3, 4, 5, 9, 11, 12};
// Every member says something.
constexpr Annotation kFull{
    .connection = 7,
    .from = Annotation::End::b,
    .arrival = Annotation::Arrival::repeated,
    .retransmission = true,
    .duplicated = true,
    .mirror_copy = true,
    .unmatched = true,
    .psn_missing = 3,
    .messages_completed = 2,
    .latency = Duration{1'234'567},
    .ulp = {},
    .since_previous = Duration{1'500},
    .link_credits = 12,
    .message = 17,
    .message_frames = kFramesOfMessage,
};

// What has all of them: credits are of flow control packets, the others of RDMA.
Decoded flow_control() { return Decoded(qps::tests::hex("0123 4456 beef"), LinkType::infiniband); }
Decoded send_only() { return Decoded(transport_packet(Opcode{4}, Network::roce_v2_ipv4)); }

bool passes(std::string_view text, const Packet& packet) {
    const auto filter = Filter::compile(text);
    REQUIRE(filter);
    return filter->matches(packet);
}

template <class Each> void for_each_annotated(const Each& each) {
    std::size_t count = 0;
    for (const NameEntry& entry : all_names())
        if (!entry.fields.empty() && entry.fields.front().field->annotated) {
            INFO(entry.name);
            each(entry);
            ++count;
        }
    CHECK(count == 16);  // members of Annotation, one of which gives three
}

}  // namespace

TEST_CASE("a packet without an annotation has none of the annotated fields, one that is full has all") {
    for_each_annotated([&](const NameEntry& entry) {
        const bool of_link = entry.name == "rdma.link.credits";
        Decoded plain = of_link ? flow_control() : send_only();
        Decoded full = of_link ? flow_control() : send_only();
        full.packet.annotation = &kFull;
        CHECK((entry.name.starts_with("rdma.") || entry.name == "frame.time_delta"));
        CHECK_FALSE(plain.value(entry.name));
        CHECK_FALSE(passes(entry.name, plain.packet));
        CHECK(full.value(entry.name));
        CHECK(passes(entry.name, full.packet));
    });
}

TEST_CASE("what an annotation leaves open is not there") {
    const Annotation nothing;
    Decoded decoded = send_only();
    decoded.packet.annotation = &nothing;
    for_each_annotated([&](const NameEntry& entry) { CHECK_FALSE(decoded.value(entry.name)); });
}

TEST_CASE("annotated values are numbers, words and seconds") {
    Decoded decoded = send_only();
    decoded.packet.annotation = &kFull;
    CHECK(decoded.plain("rdma.connection") == "7");
    CHECK(decoded.plain("rdma.message.latency") == "0.001234567");
    CHECK(decoded.plain("rdma.message") == "17");
    CHECK(decoded.plain("rdma.message.frames") == "3-5,9,11,12");
    CHECK(decoded.plain("rdma.message.first_frame") == "3");
    CHECK(decoded.plain("rdma.message.last_frame") == "12");
    for (const char* filter :
         {"rdma.connection == 7", "rdma.from == b", "rdma.arrival == repeated", "rdma.retransmission == 1",
          "rdma.psn_missing > 2", "rdma.message.completed == 2", "rdma.message.latency > 0.001"})
        CHECK(passes(filter, decoded.packet));
    for (const char* filter :
         {"rdma.from == a", "rdma.arrival in {first, in_order, ahead, late, restart}", "rdma.message.latency > 0.002"})
        CHECK_FALSE(passes(filter, decoded.packet));
}

TEST_CASE("decoding leaves a packet without an annotation") {
    Decoded decoded = send_only();
    decoded.packet.annotation = &kFull;
    decode(Frame(decoded.packet.frame), decoded.packet);
    CHECK(decoded.packet.annotation == nullptr);
}

TEST_CASE("filters and columns say whether they need annotations") {
    const auto needs = [](const std::string& text) {
        const auto filter = Filter::compile(text);
        REQUIRE(filter);
        return filter->needs_annotation();
    };
    for (const NameEntry& entry : all_names()) {
        INFO(entry.name);
        const bool annotated = !entry.fields.empty() && entry.fields.front().field->annotated;
        const bool ulp_field = std::ranges::any_of(entry.fields, is_ulp, &FieldPlace::kind);
        const bool ulp = ulp_field || std::ranges::any_of(entry.layers, is_ulp);
        // Whether a TCP segment has conclusions, as those of iWARP do, is known to those who follow its connection
        // alone.
        const bool conclusions = std::ranges::find(entry.layers, LayerKind::rdma) != entry.layers.end();
        CHECK(needs(std::string(entry.name)) == (annotated || ulp || conclusions));
        if (!entry.fields.empty()) CHECK(column(entry.name)->needs_annotation() == (annotated || ulp_field));
        const bool whole = entry.name == "rdma.message" || entry.name == "rdma.message.frames" ||
                           (entry.name.starts_with("rdma.message.") && entry.name.ends_with("_frame"));
        CHECK(Filter::compile(entry.name)->needs_whole_capture() == whole);
        if (!entry.fields.empty()) CHECK(column(entry.name)->needs_whole_capture() == whole);
    }
    CHECK_FALSE(Filter().needs_annotation());
    CHECK_FALSE(needs(""));
    CHECK_FALSE(needs("infiniband and ip.src == 10.0.0.1"));
    CHECK(needs("rdma and ip.src == 10.0.0.1"));
    CHECK(needs("ip.src == 10.0.0.1 and not (udp or rdma.connection in {1..3})"));
    CHECK(needs("frame.number == rdma.connection"));
}
