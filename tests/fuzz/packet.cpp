// Fuzzer of the decoder and everything that walks a decoded packet: values, words, lines, trees, JSON.
// Input: a byte that chooses the link type, two bytes that lengthen the packet on the wire, then the frame.
#include <dissect/base/packet.hpp>
#include <dissect/filter/filter.hpp>
#include <dissect/filter/line_filter.hpp>
#include <dissect/packet/census.hpp>
#include <dissect/packet/notation.hpp>
#include <dissect/packet/render.hpp>
#include <dissect/packet/render_value.hpp>
#include <tests/fuzz/decoded.hpp>
#include <tests/fuzz/mutators/sealed.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace qps::dissect;
using namespace qps::fuzz;

namespace {

// Every line of the tree lies in the frame; one of them, which the input chooses, has a filter that lets the packet
// through.
void check_tree(const Packet& packet, std::size_t choice) {
    const std::vector<TreeLine> lines = tree(packet);
    for (const TreeLine& line : lines)
        demand(std::size_t{line.span.offset} + line.span.length <= packet.frame.bytes.size());
    if (const auto at = line_at(lines, choice)) demand(lines[*at].span.covers(choice));
    std::string text;
    append_filter(text, packet, lines[choice % lines.size()]);
    if (text.empty()) return;
    const auto filter = Filter::compile(text);
    demand(filter && filter->matches(packet));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto frame = frame_of(data, size);
    if (!frame) return 0;
    Packet packet;
    decode(*frame, packet);
    check_decoded(packet);
    check_tree(packet, size * 31 + std::size_t{data[size - 1]});
    std::string text;
    for (const Layer& layer : packet.layers())
        for (const Field& field : header(layer.kind).fields)
            if (const auto value = value_of(packet, layer, field)) {
                append_plain(text, field, *value);
                append_words(text, field, *value);
            }
    append_line(text, packet);
    append_source(text, packet);
    append_destination(text, packet);
    append_tree(text, packet);
    append_json(text, packet);
    Census census;
    count(census, packet);
    demand(census.packets == 1 && !text.empty());
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    return qps::fuzz::mutate_packet(data, size, most, seed, kPacketControl);
}
