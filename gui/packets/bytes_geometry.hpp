// Bytes geometry: where the bytes of a frame stand in a dump of offset, hex and characters, counted in columns of a
// fixed-width font and in lines; and which byte is at such a place.
#pragma once

#include <cstddef>
#include <optional>

namespace qps::gui {

struct BytesGeometry {
    static constexpr std::size_t kPerLine = 16;
    static constexpr int kHalf = 8;  // a wider gap in the middle of a line

    std::size_t size = 0;

    [[nodiscard]] constexpr std::size_t lines() const { return (size + kPerLine - 1) / kPerLine; }
    // Digits of an offset: four, more where the frame is longer than 64 KiB.
    [[nodiscard]] constexpr int digits() const {
        int count = 4;
        for (std::size_t rest = size >> 16; rest > 0; rest >>= 4) ++count;
        return count;
    }
    [[nodiscard]] static constexpr std::size_t line(std::size_t byte) { return byte / kPerLine; }
    // The first of the two columns of its hex digits, and that of its character.
    [[nodiscard]] constexpr int hexColumn(std::size_t byte) const {
        return digits() + 2 + inLine(byte) * 3 + gap(byte);
    }
    [[nodiscard]] constexpr int textColumn(std::size_t byte) const { return firstText() + inLine(byte) + gap(byte); }
    [[nodiscard]] constexpr int columns() const { return firstText() + static_cast<int>(kPerLine) + 1; }

    // The byte whose digits, or the space behind them, or whose character are at a place.
    [[nodiscard]] constexpr std::optional<std::size_t> byteAt(std::size_t at_line, int column) const {
        for (std::size_t i = 0; i < kPerLine; ++i) {
            const std::size_t byte = at_line * kPerLine + i;
            if (byte >= size) break;
            const bool hex = column >= hexColumn(byte) && column < hexColumn(byte) + 3;
            if (hex || column == textColumn(byte)) return byte;
        }
        return std::nullopt;
    }

private:
    [[nodiscard]] static constexpr int inLine(std::size_t byte) { return static_cast<int>(byte % kPerLine); }
    [[nodiscard]] static constexpr int gap(std::size_t byte) { return inLine(byte) >= kHalf ? 1 : 0; }
    [[nodiscard]] constexpr int firstText() const { return digits() + 2 + static_cast<int>(kPerLine) * 3 + 1 + 2; }
};

}  // namespace qps::gui
