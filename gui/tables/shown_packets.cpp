#include <gui/tables/shown_packets.hpp>

#include <algorithm>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;

namespace {

template <class Use> void forEachHit(const CaptureIndex& index, const RowSet& hits, std::uint64_t packets, Use use) {
    if (packets == 0) return;
    for (auto frame = hits.contains(FrameIndex{1}) ? std::optional(FrameIndex{1}) : hits.next(FrameIndex{1});
         frame && std::to_underlying(*frame) <= packets; frame = hits.next(*frame))
        if (const auto connection = index.row(*frame).connection())
            use(std::to_underlying(*connection), static_cast<std::uint32_t>(std::to_underlying(*frame) - 1));
}

}  // namespace

ShownPackets::ShownPackets(const CaptureIndex& index, const RowSet& hits) {
    const std::uint64_t packets = index.packets.size();  // more may come meanwhile
    forEachHit(index, hits, packets, [this](std::uint32_t connection, std::uint32_t) {
        if (m_begin.size() < connection + 2) m_begin.resize(connection + 2);
        ++m_begin[connection + 1];
    });
    for (std::size_t i = 1; i < m_begin.size(); ++i) m_begin[i] += m_begin[i - 1];
    m_rows.resize(m_begin.empty() ? 0 : m_begin.back());
    std::vector<std::uint32_t> next = m_begin;
    forEachHit(index, hits, packets,
               [&](std::uint32_t connection, std::uint32_t row) { m_rows[next[connection]++] = row; });
}

bool ShownPackets::any(ConnectionId connection) const {
    const std::size_t at = std::to_underlying(connection);
    return at + 1 < m_begin.size() && m_begin[at] != m_begin[at + 1];
}

bool ShownPackets::any(ConnectionId connection, FrameIndex first, FrameIndex last) const {
    if (!any(connection) || first == FrameIndex{}) return false;
    const auto begin = m_rows.begin() + m_begin[std::to_underlying(connection)];
    const auto end = m_rows.begin() + m_begin[std::to_underlying(connection) + 1];
    const auto found = std::lower_bound(begin, end, std::to_underlying(first) - 1);
    return found != end && *found <= std::to_underlying(last) - 1;
}

}  // namespace qps::gui
