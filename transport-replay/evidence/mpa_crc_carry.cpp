#include <dissect/ulp/crc32c.hpp>
#include <dissect/ulp/fpdu.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <transport-replay/evidence/mpa_crc_carry.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kSequence = 4;  // where a TCP header has its sequence number

void append(std::vector<std::byte>& to, Bytes bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

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
        if (follows) {
            append(open.before, was.first(part));
            append(open.after, is.first(part));
        }
        open.remaining -= part;
        open.next = sequence + segment->length;
        const bool ends = follows && open.remaining == 0 && part >= mpa::kCrcLength;
        if (ends) {
            const std::size_t covered = open.before.size() - mpa::kCrcLength, at = part - mpa::kCrcLength;
            const auto crc = read_be<std::uint32_t>(was, at);
            const std::uint32_t right = crc32c(Bytes(open.after).first(covered));
            const bool was_right = crc == crc32c(Bytes(open.before).first(covered));
            write_bits(is, at * 8, 32, was_right ? right : crc == 0 ? 0 : difference_.wrong(right));
        }
        if (!follows || open.remaining == 0) open_.erase(found);
    }

    if (!whole || hint.iwarp.what != IwarpPlace::What::fpdus || !hint.iwarp.crc || hint.iwarp.markers) return;
    const auto layers = before.layers();
    const auto last =
        std::find_if(layers.rbegin(), layers.rend(), [](const Layer& layer) { return layer.kind == kind::mpa_fpdu; });
    if (last == layers.rend() || last->offset < segment->offset || last->length < mpa::kLengthField) return;
    const std::size_t from = last->offset - segment->offset;
    const std::size_t length = mpa::plain_bytes(read_be<std::uint16_t>(before.bytes_of(*last), 0));
    if (from + length <= was.size() || open_.size() >= kMostWays) return;
    Open open{.next = sequence + segment->length, .remaining = from + length - was.size(), .before = {}, .after = {}};
    append(open.before, was.subspan(from));
    append(open.after, is.subspan(from));
    open_.insert_or_assign(way, std::move(open));
}

}  // namespace qps::transport
