// The field tree as values: its text, the bytes of its lines, and the filter of each line.
#include <dissect/filter/filter.hpp>
#include <dissect/filter/line_filter.hpp>
#include <dissect/packet/render.hpp>
#include <dissect/packet/tree.hpp>
#include <tests/dissect/filter_packets.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/sanitized.hpp>

#include <limits>
#include <map>
#include <random>

using namespace qps::dissect;
using qps::tests::Decoded;
using qps::tests::for_each_packet;
using qps::tests::sample_captures;

namespace {

const Packet& exhibit(char letter) {
    for (const auto& e : qps::test::exhibits())
        if (e.letter == letter) return e.packet;
    throw "no such packet";
}

// The line of the first field, or else the first heading, of that name.
TreeLine line_of(const Packet& packet, std::string_view name) {
    const auto lines = tree(packet);
    for (const TreeLine& line : lines)
        if (line.field != nullptr && line.field->name == name) return line;
    for (const TreeLine& line : lines)
        if (line.heading() && header(line.kind).name == name) return line;
    throw "no such line";
}

std::string filter_of(const Packet& packet, const TreeLine& line) {
    std::string text;
    append_filter(text, packet, line);
    return text;
}
std::string filter_of(const Packet& packet, std::string_view name) { return filter_of(packet, line_of(packet, name)); }

std::string shown_at(const Packet& packet, std::size_t byte) {
    const auto lines = tree(packet);
    const auto at = line_at(lines, byte);
    if (!at) return "nothing";
    std::string text(label(lines[*at]));
    append_value(text += '|', lines[*at]);
    return text;
}

// What the span of a field holds, read without the field's table.
std::uint64_t bits_of(const Packet& packet, const FrameSpan& span) {
    const Bytes bytes = packet.frame.bytes.subspan(span.offset, span.length);
    return read_bits(bytes, span.first_bit, span.bit_width != 0 ? span.bit_width : span.length * 8);
}

}  // namespace

TEST_CASE("a line says its layer, its bytes and bits, and its text") {
    const Packet& packet = exhibit('W');
    const TreeLine psn = line_of(packet, "infiniband.bth.psn");
    CHECK(psn.depth == 1);
    CHECK(psn.kind == LayerKind::bth);
    CHECK(psn.value.number == 5);
    CHECK(psn.span == FrameSpan{51, 3, 0, 0});
    CHECK(line_of(packet, "infiniband.bth.a").span == FrameSpan{50, 1, 0, 1});
    CHECK(line_of(packet, "ip.dsfield.ecn").depth == 2);
    CHECK(line_of(packet, "ip.dsfield.ecn").span == FrameSpan{15, 1, 6, 2});
    CHECK(line_of(packet, "infiniband.bth").span == FrameSpan{42, 12, 0, 0});
    CHECK(line_of(packet, "frame.number").span.length == 0);

    std::string text;
    append_text(text, line_of(packet, "infiniband.bth"));
    CHECK(text == "Base Transport Header, 12 bytes at 42");
    text.clear();
    append_text(text, psn);
    CHECK(text.starts_with("    Packet sequence number"));
    CHECK(text.substr(44) == " 5");
}

TEST_CASE("the tree of text is the lines, one below the other") {
    constexpr std::uint64_t kEach = 1000 / qps::tests::share(1000);
    for (const std::string& path : sample_captures())
        for_each_packet(path, [&](const Packet& packet) {
            if (std::to_underlying(packet.frame.index) % kEach != 0) return;
            std::string whole;
            append_tree(whole, packet);
            std::string joined;
            for (const TreeLine& line : tree(packet)) {
                append_text(joined, line);
                joined += '\n';
            }
            if (whole != joined) FAIL_CHECK(path << "\n" << whole);
        });
}

TEST_CASE("the bytes and bits of every line hold its value") {
    std::size_t numbers = 0;
    for (const std::string& path : sample_captures())
        for_each_packet(path, [&](const Packet& packet) {
            for (const TreeLine& line : tree(packet)) {
                REQUIRE(std::size_t{line.span.offset} + line.span.length <= packet.frame.bytes.size());
                if (line.field == nullptr || line.field->computed()) continue;
                INFO(path << " " << line.field->name);
                REQUIRE(line.span.length > 0);
                if (!line.value.bytes.empty()) {
                    REQUIRE(line.value.bytes.data() == packet.frame.bytes.data() + line.span.offset);
                    REQUIRE(line.value.bytes.size() == line.span.length);
                } else {
                    REQUIRE(bits_of(packet, line.span) * line.field->factor == line.value.number);
                    ++numbers;
                }
            }
        });
    CHECK(numbers > 10'000);
}

TEST_CASE("a byte belongs to the smallest thing that covers it") {
    const Packet& packet = exhibit('W');
    CHECK(shown_at(packet, 0).starts_with("Destination"));
    CHECK(shown_at(packet, 15) == "Differentiated services code point|26");
    CHECK(shown_at(packet, 51).ends_with("|5"));
    CHECK(shown_at(packet, 53) == shown_at(packet, 51));
    CHECK(shown_at(packet, 70).starts_with("Payload"));
    CHECK(shown_at(packet, packet.frame.bytes.size()) == "nothing");
    CHECK(shown_at(packet, ~std::size_t{0}) == "nothing");
    // Reserved bits that nobody set have no line: their byte is the layer's.
    CHECK(shown_at(exhibit('S'), 77).starts_with("Queue key"));
    CHECK(shown_at(exhibit('S'), 78) == "Datagram Extended Transport Header|8 bytes at 74");
}

TEST_CASE("reserved bits have a line where somebody set them, and no filter") {
    std::vector<std::byte> bytes(exhibit('S').frame.bytes.begin(), exhibit('S').frame.bytes.end());
    const std::size_t before = tree(Decoded(bytes, LinkType::ethernet).packet).size();
    bytes[78] = std::byte{0x05};  // before the source queue pair in the DETH
    const Decoded odd(bytes, LinkType::ethernet);
    const auto lines = tree(odd.packet);
    REQUIRE(lines.size() == before + 1);
    const auto reserved = std::ranges::find_if(
        lines, [](const TreeLine& line) { return line.field != nullptr && line.field->name.empty(); });
    REQUIRE(reserved != lines.end());
    CHECK(reserved->value.number == 5);
    CHECK(reserved->span == FrameSpan{78, 1, 0, 0});
    CHECK(filter_of(odd.packet, *reserved).empty());
}

TEST_CASE("a line has the filter that a person would type") {
    const Packet& write = exhibit('W');
    CHECK(filter_of(write, "infiniband.bth.psn") == "infiniband.bth.psn == 5");
    CHECK(filter_of(write, "infiniband.bth.opcode") == "infiniband.bth.opcode == RC_RDMA_WRITE_ONLY");
    CHECK(filter_of(write, "infiniband.bth") == "infiniband.bth");
    CHECK(filter_of(write, "infiniband.bth.a") == "infiniband.bth.a == true");
    CHECK(filter_of(write, "ip.src") == "ip.src == 10.0.0.1");
    CHECK(filter_of(write, "ip.dsfield.ecn") == "ip.dsfield.ecn == \"ECT(0)\"");
    CHECK(filter_of(write, "eth.src") == "eth.src == 02:00:00:00:00:01");
    CHECK(filter_of(write, "infiniband.reth.r_key") == "infiniband.reth.r_key == 0x1234");
    CHECK(filter_of(write, "infiniband.payload") == "infiniband.payload == 48:65:6c:6c:6f:2c:4e:56:4d:65:21:00");
    CHECK(filter_of(write, "rdma.icrc.status") == "rdma.icrc.status == bad");
    CHECK(filter_of(exhibit('S'), "ipv6.src") == "ipv6.src == fd00::1");
    CHECK(filter_of(exhibit('G'), "infiniband.nodedescription.nodestring")
              .starts_with("infiniband.nodedescription.nodestring == \""));
}

TEST_CASE("long values, faults and headers that are named as their field have filters too") {
    Decoded cut(qps::tests::hex("0200000000020200000000010800450000"), LinkType::ethernet);
    for (const TreeLine& line : tree(cut.packet))
        if (line.fault != Fault::none) CHECK(filter_of(cut.packet, line) == "rdma.frame.fault == too_short");

    std::vector<std::byte> bytes = qps::tests::hex("020000000002020000000001ffff");
    bytes.resize(14 + 33, std::byte{1});
    const Decoded data(bytes, LinkType::ethernet);
    CHECK(filter_of(data.packet, "data.data") == "data.data");

    // The header and its one field share a name, and the field was not captured.
    const PacketSpec spec = transport_packet(Opcode{0x05}, Network::roce_v2_ipv4);  // RC SEND Only with Immediate
    const Decoded whole(spec);
    const std::size_t at = line_of(whole.packet, "infiniband.immdt").span.offset;
    const Decoded part(spec, at + 2);
    for (const Decoded* const packet : {&whole, &part})
        for (const TreeLine& line : tree(packet->packet))
            if (line.heading() && line.kind == LayerKind::immdt)
                CHECK(filter_of(packet->packet, line) == (packet == &whole ? "infiniband.immdt" : ""));
}

TEST_CASE("the filter of every line of every sample compiles and matches its packet") {
    std::map<std::string, Filter> filters;
    const auto check = [&](const std::string& path, const Packet& packet) {
        for (const TreeLine& line : tree(packet)) {
            const std::string text = filter_of(packet, line);
            if (text.empty()) {
                // reserved bits, a fault that is not the packet's first, a cut header that is named as its field
                const bool cut_header = line.heading() && packet.layer_storage[line.layer].fault != Fault::none;
                CHECK((line.fault != Fault::none || cut_header || (line.field != nullptr && line.field->name.empty())));
                continue;
            }
            auto found = filters.find(text);
            if (found == filters.end()) {
                auto filter = Filter::compile(text);
                INFO(path << ": " << text);
                if (!filter) FAIL(explain(text, filter.error()));
                found = filters.emplace(text, *filter).first;
            }
            if (!found->second.matches(packet))
                FAIL_CHECK(path << " frame " << std::to_underlying(packet.frame.index) << ": " << text);
        }
    };
    for (const std::string& path : sample_captures())
        for_each_packet(path, [&](const Packet& packet) { check(path, packet); });
    for (const auto& e : qps::test::exhibits()) check("exhibit", e.packet);
    CHECK(filters.size() > 1000);

    // The same of packets with bytes that are wrong, and of their beginnings.
    std::mt19937 random(11);
    for (const std::string& path : sample_captures()) {
        std::size_t packets = 0;
        for_each_packet(path, [&](const Packet& packet) {
            if (packets++ >= 20 || packet.frame.bytes.empty()) return;
            std::vector<std::byte> bytes(packet.frame.bytes.begin(), packet.frame.bytes.end());
            for (int i = 0; i < 8; ++i)
                bytes[random() % std::min<std::size_t>(bytes.size(), 200)] = static_cast<std::byte>(random());
            check(path + " changed", Decoded(bytes, packet.frame.link, bytes.size() - random() % bytes.size()).packet);
        });
    }
}

TEST_CASE("filters of comments are escaped, and times before all others are left out") {
    const std::vector<std::byte> comment = qps::tests::hex("0100 0700 22 5c 0a c3 bc 41 0d 00");
    Packet packet;
    Frame frame;
    frame.options = comment;
    frame.time = Instant{std::numeric_limits<std::int64_t>::min()};
    frame.elapsed = Duration{-1'500'000'000};
    decode(frame, packet);
    for (const TreeLine& line : tree(packet)) {
        const std::string text = filter_of(packet, line);
        if (text.empty()) continue;
        INFO(text);
        const auto filter = Filter::compile(text);
        REQUIRE(filter.has_value());
        CHECK(filter->matches(packet));
    }
    CHECK(filter_of(packet, "frame.comment") == R"(frame.comment == "\"\\\x0a\xc3\xbcA\x0d")");
    CHECK(filter_of(packet, "frame.time_epoch") == "frame.time_epoch");
    CHECK(filter_of(packet, "frame.time_relative") == "frame.time_relative == -1.500000000");
}
