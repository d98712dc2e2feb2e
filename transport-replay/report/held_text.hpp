// HeldText: what is to be printed once it is known to be right, within a part of the memory budget. What does not fit
// is let go, and has to be made again.
//
// What an attacker could feed: a capture with rows without number; bytes_beside() bounds what is kept of them.
#pragma once

#include <transport-replay/model/memory_beside.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport {

class HeldText {
public:
    explicit HeldText(const MemoryBudget& budget) : most_(bytes_beside(budget, Beside::printed)) {}

    // Nothing is added any more once there was no room for something.
    void add(std::string_view text) {
        while (!let_go_ && !text.empty()) {
            if (pieces_.empty() || pieces_.back().size() == kPiece) begin_piece();
            if (let_go_) return;
            std::string& piece = pieces_.back();
            const std::string_view fits = text.substr(0, kPiece - piece.size());
            piece += fits;
            text.remove_prefix(fits.size());
        }
    }
    [[nodiscard]] bool let_go() const { return let_go_; }
    [[nodiscard]] std::span<const std::string> pieces() const { return pieces_; }
    void clear() { *this = HeldText(most_); }

private:
    static constexpr std::size_t kPiece = std::size_t{1} << 18;  // bytes; pieces do not move when more comes
    static constexpr std::size_t kBesidePiece = 128;             // bytes: its string, and what the heap has around it

    explicit HeldText(std::uint64_t most) : most_(most) {}
    void begin_piece() {
        let_go_ = bytes_ + kPiece + kBesidePiece > most_;
        if (let_go_) return;
        pieces_.emplace_back().reserve(kPiece);
        bytes_ += kPiece + kBesidePiece;
    }

    std::uint64_t most_;
    std::uint64_t bytes_ = 0;  // of all pieces, filled or not
    bool let_go_ = false;
    std::vector<std::string> pieces_;
};

}  // namespace qps::transport
