// Fuzzer of Ultra Ethernet: packets of contexts between two hosts, whose PSNs are near what is due, in any order,
// trimmed, cut and copied; or any bytes behind UDP. Sums are those of their parts, findings name frames that exist.
#include <tests/fuzz/bytewise.hpp>
#include <transport-replay/analysis/annotator.hpp>
#include <transport-replay/model/timeline.hpp>

#include <array>
#include <cstdlib>
#include <vector>

namespace {

using namespace qps;
using Block = std::vector<std::byte>;

void put(Block& to, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;) to.push_back(static_cast<std::byte>(value >> 8 * i));
}
void put(Block& to, std::span<const std::uint8_t> bytes) {
    const auto some = std::as_bytes(bytes);
    to.insert(to.end(), some.begin(), some.end());
}
std::uint64_t number(fuzz::Bytewise& input, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | input.byte();
    return value;
}

struct Near {
    std::uint32_t psn = 0xffff'fff0;
    std::uint16_t message = 1;
};

// From its packet delivery header on.
Block delivery(fuzz::Bytewise& input, Near& near, bool from_a) {
    Block made;
    const std::uint8_t how = input.byte();
    if (how == 0xff) {
        put(made, input.take(input.byte()));
        return made;
    }
    const std::uint64_t type = (how & 15) % 13 + 2;
    const std::uint64_t form = input.byte() % 7;
    const std::uint64_t flags = input.byte() & 0x7c;
    near.psn += static_cast<std::uint32_t>(static_cast<std::int8_t>(input.byte()) / 16);
    const std::uint32_t psn = (how & 0xf0) == 0xf0 ? static_cast<std::uint32_t>(number(input, 4)) : near.psn;
    put(made, type << 11 | form << 7 | flags, 2);
    put(made, (how & 0x10) != 0 ? number(input, 2) : 0, 2);
    put(made, psn, 4);
    const std::uint8_t ids = input.byte();
    put(made, from_a ? 0x101U + (ids & 1U) : 0x202U + (ids >> 1 & 1U), 2);
    put(made, (ids & 4) != 0 ? 0U : from_a ? 0x202U + (ids >> 1 & 1U) : 0x101U + (ids & 1U), 2);
    if (type == 8) put(made, input.take(20));
    if (type == 10 || type == 11 || type >= 13) put(made, number(input, 4), 4);
    constexpr std::size_t kFirst = 4;
    const std::uint8_t ses = input.byte();
    if (form == 0) return made;
    if (form == 3) near.message = static_cast<std::uint16_t>(near.message + (ses >> 6 & 1U));
    put(made, ses & 15U, 1);
    put(made, ses >> 4 & 3U, 1);
    put(made, form == 3 ? near.message : number(input, 2), 2);
    put(made, 0xabc, kFirst);
    constexpr std::array<std::size_t, 7> kLengths{0, 20, 32, 44, 12, 20, 12};
    while (made.size() % 4 != 0) put(made, 0, 1);
    put(made, input.take(kLengths[form] - 8));
    put(made, input.take(input.byte() & 63U));
    return made;
}

Block frame(fuzz::Bytewise& input, std::vector<Near>& near) {
    constexpr std::uint16_t kIp = 20, kUdp = 8, kPort = 4793;
    const std::uint8_t how = input.byte();
    const bool from_a = (how & 1) != 0;
    const Block data = delivery(input, near[(how >> 1) % near.size()], from_a);
    Block made;
    put(made, 0x4500U + (how >> 2 & 3U), 2);
    put(made, kIp + kUdp + data.size(), 2);
    put(made, (how & 0x10) != 0 ? input.byte() : 0, 4);
    put(made, 0x4011, 2);
    put(made, 0, 2);
    put(made, from_a ? 0x0a000001 : 0x0a000002, 4);
    put(made, from_a ? 0x0a000002 : 0x0a000001, 4);
    put(made, 0xc000U + (how >> 5), 2);
    put(made, kPort, 2);
    put(made, kUdp + data.size() + ((how & 0xf0) == 0x80 ? 500U : 0U), 2);  // trimmed
    put(made, 0, 2);
    made.insert(made.end(), data.begin(), data.end());
    return made;
}

std::uint64_t messages_of(const transport::Timeline& timeline) {
    std::uint64_t counted = 0;
    for (const transport::Connection& connection : timeline.connections)
        for (const transport::Way& way : connection.ways) counted += way.all_messages();
    return counted;
}

void follow(fuzz::Bytewise input) {
    transport::AnalysisSettings settings;
    settings.memory = transport::MemoryBudget{std::uint64_t{1} << 20};  // so that places are short
    std::uint64_t reported = 0;
    settings.message = [&](transport::ConnectionId, transport::End, const transport::Message&) { ++reported; };
    transport::Analysis analysis(std::move(settings));
    transport::Observation observation;
    dissect::Packet packet;
    std::vector<Near> near(2);
    Block last;
    std::uint64_t index = 0;
    while (!input.empty()) {
        const std::uint8_t how = input.byte();
        const Block whole = (how & 7) == 7 && !last.empty() ? last : frame(input, near);
        last = whole;
        const Block kept(
            whole.begin(),
            whole.end() - ((how & 24) == 24 ? std::min<std::ptrdiff_t>(input.byte(), std::ssize(whole)) : 0));
        dissect::Frame one;
        one.bytes = kept;
        one.wire_length = static_cast<std::uint32_t>(whole.size());
        one.link = dissect::LinkType::ipv4;
        one.index = dissect::FrameIndex{++index};
        one.time = dissect::Instant{static_cast<std::int64_t>(index) * ((how & 32) != 0 ? 1000 : 3000000)};
        dissect::decode(one, packet);
        transport::observe(packet, observation);
        const transport::PacketRecord record = analysis.observe(observation);
        if (record.retransmission && !record.connection) std::abort();
    }
    const transport::Timeline timeline = analysis.finish();
    if (timeline.retired.connections == 0 && messages_of(timeline) != reported) std::abort();
    for (const transport::Finding& finding : timeline.findings)
        for (const dissect::FrameIndex each : finding.packets)
            if (std::to_underlying(each) == 0 || std::to_underlying(each) > index) std::abort();
    for (const transport::UetConversation& context : timeline.uet.conversations)
        for (const transport::UetWay& way : context.ways) {
            std::uint64_t packets = way.further_paths;
            for (const transport::UetPath& path : way.paths) packets += path.packets;
            if (way.after_trimming > way.after_nack || packets > index) std::abort();
        }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kMost = 1 << 14;  // longer inputs find nothing more
    follow(fuzz::Bytewise(std::span(data, std::min(size, kMost))));
    return 0;
}
