// RowSet: some of the packets of a capture, in its order: those that a filter lets through, or that somebody marked.
//
// A bit for each packet, and a count for each 32768 of them, so that the n-th member and the rank of a packet are found
// at once and a hundred million packets cost 12 MB. One thread changes it; who reads meanwhile takes a copy or asks
// that thread.
#pragma once

#include <dissect/base/types.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace qps::transport {

class RowSet {
public:
    // A piece of a filter's answer: whether each of `count` packets from `first` on is a member. Pieces may come in any
    // order; one that comes again replaces the first.
    static constexpr std::size_t kPieceRows = 1U << 15;
    static constexpr std::size_t kPieceWords = kPieceRows / 64;
    struct Piece {
        std::uint64_t number = 0;         // its rows begin at number * kPieceRows
        std::vector<std::uint64_t> bits;  // kPieceWords of them
    };
    void put(const Piece& piece);

    void set(dissect::FrameIndex frame, bool member);
    void clear();
    [[nodiscard]] bool contains(dissect::FrameIndex frame) const;

    [[nodiscard]] std::uint64_t size() const { return size_; }
    // The member at a position below size(), counted from 0.
    [[nodiscard]] dissect::FrameIndex at(std::uint64_t position) const;
    // How many members come before that packet: its position, if it is one.
    [[nodiscard]] std::uint64_t rank(dissect::FrameIndex frame) const;
    // The nearest member after or before a packet.
    [[nodiscard]] std::optional<dissect::FrameIndex> next(dissect::FrameIndex frame) const;
    [[nodiscard]] std::optional<dissect::FrameIndex> previous(dissect::FrameIndex frame) const;

private:
    struct Stored {
        std::vector<std::uint64_t> bits;  // empty: no members
        std::uint64_t count = 0;
    };
    void recount() const;

    std::vector<Stored> pieces_;
    std::uint64_t size_ = 0;
    mutable std::vector<std::uint64_t> before_;  // members before each piece
    mutable bool counted_ = true;
};

}  // namespace qps::transport
