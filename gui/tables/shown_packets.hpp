// Which connections, and which stretches of them, have packets that the filter and the time range let through.
//
// Four bytes for each such packet, while a table is narrowed to them.
#pragma once

#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/index/row_set.hpp>

#include <vector>

namespace qps::gui {

class ShownPackets {
public:
    ShownPackets(const transport::CaptureIndex& index, const transport::RowSet& hits);
    [[nodiscard]] bool any(transport::ConnectionId connection) const;
    // Of the connection, between two frames, both included.
    [[nodiscard]] bool any(transport::ConnectionId connection, dissect::FrameIndex first,
                           dissect::FrameIndex last) const;

private:
    std::vector<std::uint32_t> m_begin;  // by connection: where its rows begin
    std::vector<std::uint32_t> m_rows;   // positions in the index, in its order
};

}  // namespace qps::gui
