// Searching packets: by a display filter, by the text of their line, by bytes, by PSN; from one packet on, around the
// end of the capture if need be. No widgets: it runs in any thread.
#pragma once

#include <gui/packets/packet_rows.hpp>

#include <QString>
#include <expected>
#include <functional>
#include <vector>

namespace qps::gui {

enum class SearchKind { Filter, Text, Bytes, Psn };

class PacketSearch {
public:
    // Errors: a sentence for the user.
    [[nodiscard]] static std::expected<PacketSearch, QString> make(SearchKind kind, const QString& text);
    [[nodiscard]] bool matches(PacketRows& rows, dissect::FrameIndex frame) const;

private:
    explicit PacketSearch(std::function<bool(PacketRows&, dissect::FrameIndex)> test) : m_test(std::move(test)) {}
    std::function<bool(PacketRows&, dissect::FrameIndex)> m_test;
};

struct SearchResult {
    std::optional<dissect::FrameIndex> frame{};
    bool wrapped = false;    // found past the end, or the beginning, of the capture
    bool cancelled = false;  // by `goOn`
};

enum class SearchWay { Forward, Backward };

// The nearest packet that is shown and matches, `from` itself the last. Asks goOn(part of the capture seen) now and
// then; false ends the search.
[[nodiscard]] SearchResult searchPackets(PacketRows& rows, const PacketSearch& search, dissect::FrameIndex from,
                                         SearchWay way, const std::function<bool(double)>& goOn);

// "0a 0b:0c-0d" or "0x0a0b"; nothing where it is no whole bytes in hex.
[[nodiscard]] std::optional<std::vector<std::byte>> bytesOfHex(const QString& text);

}  // namespace qps::gui
