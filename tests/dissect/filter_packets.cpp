// The packets that the tests of filters ask about, written down as hexadecimal digits.
#include <dissect/filter/filter.hpp>
#include <tests/dissect/filter_packets.hpp>

#include <fmt/format.h>

namespace qps::test {

namespace {

using namespace dissect;

std::vector<std::byte> bytes_of_hex(std::string_view hex) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::vector<std::byte> bytes;
    std::size_t half = 0;
    for (const char c : hex) {
        const std::size_t digit = kDigits.find(c);
        if (digit == std::string_view::npos) continue;
        if (half++ % 2 == 0) {
            bytes.push_back(static_cast<std::byte>(digit << 4));
        } else {
            bytes.back() |= static_cast<std::byte>(digit);
        }
    }
    return bytes;
}

constexpr std::string_view kWrite =
    "020000000002 020000000001 0800"                     // Ethernet
    "45 6a 0048 0007 4000 40 11 0000 0a000001 0a000002"  // IPv4: DSCP 26, ECT(0), DF, TTL 64
    "c000 12b7 0034 0000"                                // UDP 49152 -> 4791
    "0a 40 ffff 00 000011 80 000005"                     // BTH: WRITE_ONLY, MigReq, AckReq
    "00007f3a00001000 00001234 0000000c"                 // RETH
    "48656c6c6f2c4e564d652100"                           // "Hello,NVMe!" and a zero
    "00000000";                                          // ICRC, wrong
constexpr std::string_view kNak = "020000000001 020000000002 0800"
                                  "45 02 0030 0008 0000 40 11 0000 0a000002 0a000001"
                                  "c001 12b7 001c 0000"
                                  "11 40 ffff 00 000012 00 000006"
                                  "60 000003"  // AETH: NAK, PSN sequence error, MSN 3
                                  "00000000";
constexpr std::string_view kTunnel = "040000000002 040000000001 0800"
                                     "45 00 0052 0009 0000 20 11 0000 0a010001 0a010002"
                                     "d000 12b5 003e 0000"  // UDP 53248 -> 4789
                                     "08000000 00002a00"    // VXLAN 42
                                     "060000000002 060000000001 0800"
                                     "45 00 0020 000a 0000 10 11 0000 c0a80001 c0a80002"
                                     "1000 2000 000c 0000"  // UDP 4096 -> 8192
                                     "31323334";
constexpr std::string_view kSix =
    "020000000002 020000000001 86dd"
    "60012345 0028 11 40 fd000000000000000000000000000001 fd000000000000000000000000000002"
    "c002 12b7 0028 0000"
    "64 40 ffff 00 000013 00 000007"
    "80010000 00 000010"  // DETH: Q_Key, source QP 16
    "00010203 04050607"
    "00000000";
constexpr std::string_view kArp = "ffffffffffff 020000000001 0806"
                                  "0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002";

// NodeInfo (40 bytes): base and class version, type, ports, then system image, node and port GUID; NodeDescription
// (64).
constexpr std::string_view kNode =
    "01010102 00000000 00000000 0002c9030000beef 0002c9030000cafe 0001 1003 00000000 01 0002c9"
    "6e6f64652d37";

Exhibit exhibit(char letter, std::string_view hex) { return {letter, bytes_of_hex(hex), {}, {}}; }

std::vector<Exhibit> make_exhibits() {
    std::vector<Exhibit> all;
    all.push_back(exhibit('W', kWrite));
    all.push_back(exhibit('N', kNak));
    all.push_back(exhibit('T', kTunnel));
    all.push_back(exhibit('S', kSix));
    all.push_back(exhibit('A', kArp));
    all.push_back(exhibit('G', kNode));
    all.front().options = bytes_of_hex("0100 0a00 6669727374206c6f6f6b 0000 0000 0000");  // opt_comment "first look"
    all.back().bytes.resize(40 + 64);
    std::uint64_t index = 0;
    for (Exhibit& e : all) {
        Frame frame;
        frame.bytes = e.bytes;
        frame.wire_length = static_cast<std::uint32_t>(e.bytes.size());
        frame.index = FrameIndex{++index};
        frame.elapsed =
            Duration{static_cast<std::int64_t>(index) * 500'000'000 - 1'000'000'000};  // -0.5 s, 0, 0.5, 1, ...
        frame.options = e.options;
        decode(frame, e.packet);
    }
    Packet& node = all.back().packet;
    node.layer_count = 3;
    node.layer_storage[0] = {.kind = LayerKind::frame};
    node.layer_storage[1] = {.kind = LayerKind::node_info, .offset = 0, .length = 40};
    node.layer_storage[2] = {.kind = LayerKind::node_description, .offset = 40, .length = 64};
    return all;
}

}  // namespace

const std::vector<Exhibit>& exhibits() {
    static const std::vector<Exhibit> all = make_exhibits();
    return all;
}

std::string passed(std::string_view filter) {
    const auto compiled = Filter::compile(filter);
    if (!compiled) return explain(filter, compiled.error());
    std::string letters;
    for (const Exhibit& e : exhibits())
        if (compiled->matches(e.packet)) letters += e.letter;
    return letters;
}

std::string complaint(std::string_view filter) {
    const auto compiled = Filter::compile(filter);
    if (compiled) return {};
    const FilterError& error = compiled.error();
    std::string text = fmt::format("{}: {}", error.column, error.message);
    if (!error.suggestion.empty()) text += fmt::format("; did you mean {}?", error.suggestion);
    return text;
}

}  // namespace qps::test
