// BPF filters on frames.
#include <dissect/capture/bpf.hpp>
#include <tests/support/catch.hpp>

#include <vector>

using namespace qps::dissect;

namespace {

// An Ethernet frame with an IPv4 packet of `protocol`, and nothing in it.
std::vector<std::byte> ethernet_ipv4(unsigned protocol) {
    std::vector<std::byte> bytes(14 + 20 + 8);
    bytes[12] = std::byte{0x08};
    bytes[14] = std::byte{0x45};
    bytes[23] = static_cast<std::byte>(protocol);
    bytes[36] = std::byte{0x12};  // destination port 4791
    bytes[37] = std::byte{0xb7};
    return bytes;
}

Frame frame_of(Bytes bytes, LinkType link) {
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    frame.link = link;
    return frame;
}

}  // namespace

TEST_CASE("A BPF filter matches the frames it describes") {
    auto filter = BpfFilter::compile("udp dst port 4791");
    REQUIRE(filter);
    CHECK(filter->expression() == "udp dst port 4791");
    const auto udp = ethernet_ipv4(17);
    const auto tcp = ethernet_ipv4(6);
    CHECK(filter->matches(frame_of(udp, LinkType::ethernet)) == true);
    CHECK(filter->matches(frame_of(tcp, LinkType::ethernet)) == false);
    CHECK(filter->matches(frame_of({}, LinkType::ethernet)) == false);
    CHECK(filter->matches(frame_of(Bytes(udp).first(30), LinkType::ethernet)) == false);
}

TEST_CASE("A BPF filter follows the link type of each frame") {
    auto filter = BpfFilter::compile("udp");
    REQUIRE(filter);
    const auto ethernet = ethernet_ipv4(17);
    const Bytes ip = Bytes(ethernet).subspan(14);
    for (int i = 0; i < 3; ++i) {
        CHECK(filter->matches(frame_of(ethernet, LinkType::ethernet)) == true);
        CHECK(filter->matches(frame_of(ip, LinkType::raw_ip)) == true);
        CHECK(filter->matches(frame_of(ip, LinkType::ipv4)) == true);
    }
    CHECK(filter->matches(frame_of(ethernet, LinkType::raw_ip)) == false);
}

TEST_CASE("An empty BPF filter matches everything, and lengths are those of the wire") {
    auto all = BpfFilter::compile("");
    REQUIRE(all);
    CHECK(all->matches(frame_of(ethernet_ipv4(6), LinkType::ethernet)) == true);
    auto longer = BpfFilter::compile("greater 1000");
    REQUIRE(longer);
    const auto bytes = ethernet_ipv4(17);
    Frame frame = frame_of(bytes, LinkType::ethernet);
    CHECK(longer->matches(frame) == false);
    frame.wire_length = 1500;
    CHECK(longer->matches(frame) == true);
}

TEST_CASE("A BPF filter that cannot be compiled says why") {
    const auto wrong = BpfFilter::compile("udp dst prot 4791");
    REQUIRE_FALSE(wrong);
    CHECK_FALSE(wrong.error().empty());
    CHECK_FALSE(BpfFilter::compile(std::string(kMaxBpfExpression + 1, ' ')));
    CHECK_FALSE(BpfFilter::compile(std::string("udp\0 or tcp", 11)));
}

TEST_CASE("A BPF filter without a meaning for a link type says so for each frame") {
    auto filter = BpfFilter::compile("ether host 01:02:03:04:05:06");
    REQUIRE(filter);
    const auto bytes = ethernet_ipv4(17);
    CHECK(filter->matches(frame_of(bytes, LinkType::ethernet)) == false);
    for (int i = 0; i < 2; ++i) {
        const auto result = filter->matches(frame_of(Bytes(bytes).subspan(14), LinkType::raw_ip));
        REQUIRE_FALSE(result);
        CHECK_FALSE(result.error().empty());
    }
}

TEST_CASE("A BPF filter compiled for all link types matches as the others do, and compiles nothing later") {
    auto filter = BpfFilter::compile_for_all("udp dst port 4791");
    REQUIRE(filter);
    const auto udp = ethernet_ipv4(17);
    for (const LinkTypeName& row : kLinkTypeNames) {
        INFO(row.name);
        auto one = BpfFilter::compile("udp dst port 4791", row.link);
        CHECK(filter->accepts(row.link).has_value() == one.has_value());
        if (one) CHECK(filter->matches(frame_of(udp, row.link)) == one->matches(frame_of(udp, row.link)));
        else CHECK(filter->accepts(row.link).error() == one.error());
    }
    constexpr LinkType kRadio{127};
    CHECK(BpfFilter::compile("len > 1", kRadio));
    CHECK_FALSE(filter->accepts(kRadio));
    CHECK_FALSE(filter->matches(frame_of(udp, kRadio)));

    auto wrong = BpfFilter::compile_for_all("no filter");
    REQUIRE(wrong);
    CHECK(wrong->accepts(LinkType::ethernet).error() == BpfFilter::compile("no filter").error());
    CHECK_FALSE(BpfFilter::compile_for_all(std::string(kMaxBpfExpression + 1, ' ')));
}
