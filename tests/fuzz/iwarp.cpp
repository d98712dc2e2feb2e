// Fuzzer of iWARP: bytes as what both ends of TCP connections send, in segments that are lost, doubled and moved,
// followed and then decoded where the following said that FPDUs begin, and judged by the passive checks. CRCs are made
// right on request, for a fuzzer finds none.
#include <dissect/packet/build.hpp>
#include <dissect/ulp/crc32c.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/fuzz/bytewise.hpp>
#include <transport-replay/analysis/annotator.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/model/timeline.hpp>

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using namespace qps;
using Block = std::vector<std::byte>;

constexpr std::uint8_t kSyn = 2;

void put(Block& to, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;) to.push_back(static_cast<std::byte>(value >> 8 * i));
}

void put(Block& to, std::span<const std::uint8_t> bytes) {
    const auto some = std::as_bytes(bytes);
    to.insert(to.end(), some.begin(), some.end());
}

// A set-up frame, an FPDU with a right CRC, or anything.
Block payload(fuzz::Bytewise& input) {
    Block made;
    const std::uint8_t what = input.byte();
    const auto bytes = input.take(input.byte());
    if ((what & 3) == 0) {
        const std::string_view key = (what & 4) != 0 ? "MPA ID Rep Frame" : "MPA ID Req Frame";
        for (const char c : key) put(made, static_cast<std::uint8_t>(c), 1);
        put(made, bytes);
    } else if ((what & 3) != 3) {
        put(made, bytes.size(), 2);
        put(made, bytes);
        while (made.size() % 4 != 0) put(made, 0, 1);
        put(made, dissect::crc32c(made), 4);
    } else {
        put(made, bytes);
    }
    return made;
}

// `options`: of TCP, in words of 4 bytes.
Block frame(bool from_a, std::uint32_t seq, std::uint32_t ack, std::uint8_t flags, const Block& options,
            const Block& data) {
    constexpr std::uint16_t kIp = 20, kTcp = 20;
    Block made;
    put(made, 0x4500, 2);
    put(made, kIp + kTcp + options.size() + data.size(), 2);
    put(made, 0, 4);
    put(made, 0x4006, 2);
    put(made, 0, 2);
    put(made, from_a ? 0x0a000001 : 0x0a000002, 4);
    put(made, from_a ? 0x0a000002 : 0x0a000001, 4);
    put(made, from_a ? 40000 : 4711, 2);
    put(made, from_a ? 4711 : 40000, 2);
    put(made, seq, 4);
    put(made, ack, 4);
    put(made, (kTcp + options.size()) / 4 << 4, 1);
    put(made, flags, 1);
    put(made, 0, 6);
    made.insert(made.end(), options.begin(), options.end());
    made.insert(made.end(), data.begin(), data.end());
    return made;
}

// What a SYN announces: an MSS, or anything that has room in a header.
Block options_of_syn(fuzz::Bytewise& input) {
    constexpr std::size_t kWord = 4, kMostWords = 10;
    Block made;
    const std::size_t words = input.byte() % (kMostWords + 1);
    if (words == 1) put(made, 0x0204, 2);
    put(made, input.take(words * kWord - made.size()));
    made.resize(words * kWord);
    return made;
}

// Every layer lies in the frame, and every field can be read.
void look(const dissect::Packet& packet) {
    for (const dissect::Layer& layer : packet.layers()) {
        if (layer.length > 0 && std::size_t{layer.offset} + layer.length > packet.frame.bytes.size()) std::abort();
        for (const dissect::Field& field : dissect::header(layer.kind).fields)
            static_cast<void>(dissect::value_of(packet, layer, field));
    }
}

void follow(fuzz::Bytewise input) {
    transport::AnalysisSettings settings;
    std::uint64_t reported = 0;
    settings.message = [&](transport::ConnectionId, transport::End, const transport::Message&) { ++reported; };
    transport::Analysis analysis(std::move(settings));
    transport::conformance::PassiveSuite suite;
    transport::Observation observation;
    dissect::Packet packet;
    std::array<std::uint32_t, 2> next{0xfffffff0, 50};
    for (std::uint64_t index = 1; !input.empty(); ++index) {
        const std::uint8_t how = input.byte();
        const bool from_a = (how & 1) != 0;
        std::uint32_t& seq = next[from_a ? 0 : 1];
        if ((how & 2) != 0)
            seq += static_cast<std::uint32_t>(static_cast<std::int8_t>(input.byte()));  // lost, or sent again
        const Block data = payload(input);
        const std::uint8_t flags = (how & 0xc0) == 0xc0 ? input.byte() : 0x18;
        const Block options = (flags & kSyn) != 0 ? options_of_syn(input) : Block{};
        const Block whole = frame(from_a, seq, next[from_a ? 1 : 0], flags, options, data);
        seq += static_cast<std::uint32_t>(data.size());
        const Block kept(
            whole.begin(),
            whole.end() - ((how & 4) != 0 ? std::min<std::ptrdiff_t>(input.byte(), std::ssize(whole)) : 0));
        dissect::Frame one;
        one.bytes = kept;
        one.wire_length = static_cast<std::uint32_t>(whole.size());
        one.link = dissect::LinkType::ipv4;
        one.index = dissect::FrameIndex{index};
        one.time = dissect::Instant{static_cast<std::int64_t>(index) * 1000};
        dissect::decode(one, packet);
        transport::observe(packet, observation);
        const transport::PacketRecord record = analysis.observe(observation);
        suite.observe(observation, {}, record);
        const dissect::Annotation known = transport::annotation(record);
        packet.annotation = &known;
        dissect::add_ulp_layers(packet, known.ulp);
        look(packet);
    }
    const transport::Timeline timeline = analysis.finish();
    std::uint64_t counted = 0;
    for (const transport::Connection& connection : timeline.connections)
        for (const transport::Way& way : connection.ways) counted += way.all_messages();
    if (counted != reported) std::abort();
    for (const transport::conformance::CheckResult& result : suite.finish(timeline))
        if (result.evidence.size() > transport::conformance::kMostEvidence) std::abort();
}

// The walk where nobody who followed anything would send it.
void decode_anywhere(fuzz::Bytewise input) {
    dissect::UlpHint hint;
    hint.iwarp.what = (input.byte() & 1) != 0 ? dissect::IwarpPlace::What::set_up : dissect::IwarpPlace::What::fpdus;
    hint.iwarp.crc = (input.byte() & 1) != 0;
    hint.iwarp.markers = (input.byte() & 1) != 0;
    hint.iwarp.first = input.byte();
    hint.iwarp.to_marker = static_cast<std::uint16_t>(input.byte() * 2);
    Block data;
    put(data, input.take(SIZE_MAX));
    const Block whole = frame(true, 1, 1, 0x18, {}, data);
    dissect::Frame one;
    one.bytes = whole;
    one.wire_length = static_cast<std::uint32_t>(whole.size());
    one.link = dissect::LinkType::ipv4;
    dissect::Packet packet;
    dissect::decode(one, packet);
    dissect::Annotation known;
    known.ulp = hint;
    packet.annotation = &known;
    dissect::add_ulp_layers(packet, hint);
    look(packet);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kMost = 1 << 14;  // longer inputs find nothing more
    const fuzz::Bytewise input(std::span(data, std::min(size, kMost)));
    follow(input);
    decode_anywhere(input);
    return 0;
}
