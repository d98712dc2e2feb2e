#include <transport-replay/index/row_set.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace qps::transport {

using dissect::FrameIndex;

namespace {

// Where a packet stands: frames count from 1, rows from 0.
std::uint64_t row_of(FrameIndex frame) { return std::to_underlying(frame) - 1; }
FrameIndex frame_of(std::uint64_t row) { return FrameIndex{row + 1}; }

std::uint64_t ones(const std::vector<std::uint64_t>& words) {
    std::uint64_t count = 0;
    for (const std::uint64_t word : words) count += static_cast<std::uint64_t>(std::popcount(word));
    return count;
}

// The place of the n-th one of a word, from 0.
unsigned nth_one(std::uint64_t word, unsigned n) {
    for (; n > 0; --n) word &= word - 1;
    return static_cast<unsigned>(std::countr_zero(word));
}

}  // namespace

void RowSet::put(const Piece& piece) {
    if (piece.number >= pieces_.size()) pieces_.resize(piece.number + 1);
    Stored& stored = pieces_[piece.number];
    size_ -= stored.count;
    stored.count = ones(piece.bits);
    if (stored.count == 0) stored.bits.clear();
    else stored.bits = piece.bits;
    stored.bits.resize(stored.count == 0 ? 0 : kPieceWords);
    size_ += stored.count;
    counted_ = false;
}

void RowSet::set(FrameIndex frame, bool member) {
    if (frame == FrameIndex{} || contains(frame) == member) return;
    const std::uint64_t row = row_of(frame);
    const std::uint64_t number = row / kPieceRows;
    if (number >= pieces_.size()) pieces_.resize(number + 1);
    Stored& stored = pieces_[number];
    stored.bits.resize(kPieceWords);
    stored.bits[row % kPieceRows / 64] ^= std::uint64_t{1} << row % 64;
    member ? ++stored.count : --stored.count;
    member ? ++size_ : --size_;
    counted_ = false;
}

void RowSet::clear() { *this = {}; }

bool RowSet::contains(FrameIndex frame) const {
    const std::uint64_t row = row_of(frame);
    if (frame == FrameIndex{} || row / kPieceRows >= pieces_.size()) return false;
    const Stored& stored = pieces_[row / kPieceRows];
    return !stored.bits.empty() && (stored.bits[row % kPieceRows / 64] >> row % 64 & 1) != 0;
}

void RowSet::recount() const {
    if (counted_ && before_.size() == pieces_.size()) return;
    before_.resize(pieces_.size());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        before_[i] = sum;
        sum += pieces_[i].count;
    }
    counted_ = true;
}

FrameIndex RowSet::at(std::uint64_t position) const {
    recount();
    const auto after = std::ranges::upper_bound(before_, position);
    const auto number = static_cast<std::size_t>(after - before_.begin()) - 1;
    std::uint64_t rest = position - before_[number];
    const std::vector<std::uint64_t>& bits = pieces_[number].bits;
    for (std::size_t word = 0; word < bits.size(); ++word) {
        const auto here = static_cast<std::uint64_t>(std::popcount(bits[word]));
        if (rest < here)
            return frame_of(number * kPieceRows + word * 64 + nth_one(bits[word], static_cast<unsigned>(rest)));
        rest -= here;
    }
    return {};
}

std::uint64_t RowSet::rank(FrameIndex frame) const {
    recount();
    if (frame == FrameIndex{}) return 0;
    const std::uint64_t row = row_of(frame);
    const std::uint64_t number = row / kPieceRows;
    if (number >= pieces_.size()) return size_;
    std::uint64_t rank = before_[number];
    const std::vector<std::uint64_t>& bits = pieces_[number].bits;
    if (bits.empty()) return rank;
    const std::size_t last = row % kPieceRows / 64;
    for (std::size_t word = 0; word < last; ++word) rank += static_cast<std::uint64_t>(std::popcount(bits[word]));
    const std::uint64_t below = (std::uint64_t{1} << row % 64) - 1;
    return rank + static_cast<std::uint64_t>(std::popcount(bits[last] & below));
}

std::optional<FrameIndex> RowSet::next(FrameIndex frame) const {
    const std::uint64_t position = rank(frame) + (contains(frame) ? 1 : 0);
    return position < size_ ? std::optional(at(position)) : std::nullopt;
}

std::optional<FrameIndex> RowSet::previous(FrameIndex frame) const {
    const std::uint64_t position = rank(frame);
    return position > 0 ? std::optional(at(position - 1)) : std::nullopt;
}

}  // namespace qps::transport
