#include <dissect/ulp/crc32c.hpp>
#include <dissect/ulp/fpdu.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <transport-replay/evidence/mpa_crc_carry.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kSequence = 4;  // where a TCP header has its sequence number

void append_changed(std::vector<std::byte>& changed, Bytes before, Bytes after) {
    for (std::size_t i = 0; i < before.size(); ++i) changed.push_back(before[i] ^ after[i]);
}

// By how much the CRC of bytes changes that are changed so.
std::uint32_t change_of(Bytes changed) {
    const std::vector<std::byte> zeros(changed.size());
    return crc32c(changed) ^ crc32c(zeros);
}

}  // namespace

void MpaCrcCarry::pass(const FlowKey& way, const Packet& before, const UlpHint& hint, MutableBytes after) {
    const auto segment = mpa::tcp_segment(before);
    if (!segment || segment->length == 0) return;
    const Layer& tcp = before.layer_storage[segment->layer];
    const auto sequence = read_be<std::uint32_t>(before.bytes_of(tcp), kSequence);
    const Bytes was = slice(before.frame.bytes, segment->offset, segment->captured);
    const MutableBytes is = after.subspan(segment->offset, was.size());
    const bool whole = segment->captured == segment->length;

    if (const auto found = open_.find(way); found != open_.end()) {
        Open& open = found->second;
        const std::size_t part = std::min(open.remaining, was.size());
        const bool follows = whole && open.next == sequence;
        if (follows) append_changed(open.changed, was.first(part), is.first(part));
        open.remaining -= part;
        open.next = sequence + segment->length;
        const bool ends = follows && open.remaining == 0 && part >= mpa::kCrcLength;
        if (ends) {
            open.changed.resize(open.changed.size() - mpa::kCrcLength);
            const std::size_t at = part - mpa::kCrcLength;
            write_bits(is, at * 8, 32, read_be<std::uint32_t>(was, at) ^ change_of(open.changed));
        }
        if (!follows || open.remaining == 0) open_.erase(found);
    }

    if (!whole || hint.iwarp.what != IwarpPlace::What::fpdus || !hint.iwarp.crc || hint.iwarp.markers) return;
    const auto layers = before.layers();
    const auto last = std::find_if(layers.rbegin(), layers.rend(), [](const Layer& layer) { return layer.kind == kind::mpa_fpdu; });
    if (last == layers.rend() || last->offset < segment->offset || last->length < mpa::kLengthField) return;
    const std::size_t from = last->offset - segment->offset;
    const std::size_t length = mpa::plain_bytes(read_be<std::uint16_t>(before.bytes_of(*last), 0));
    if (from + length <= was.size() || open_.size() >= kMostWays) return;
    Open open{.next = sequence + segment->length, .remaining = from + length - was.size(), .changed = {}};
    append_changed(open.changed, was.subspan(from), is.subspan(from));
    open_.insert_or_assign(way, std::move(open));
}

}  // namespace qps::transport
