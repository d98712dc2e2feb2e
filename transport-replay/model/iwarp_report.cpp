#include <transport-replay/model/iwarp_report.hpp>

#include <algorithm>

namespace qps::transport {

bool IwarpConversation::is_quiet() const {
    const auto quiet = [](const IwarpWay& way) {
        return way.crc_bad + way.missing_bytes + way.lost_alignment + way.unread_bytes == 0 &&
               way.turned_read == dissect::FrameIndex{} && way.odd_markers == dissect::FrameIndex{};
    };
    return !terminated && !(attempt && attempt->rejection) && std::ranges::all_of(ways, quiet);
}

}  // namespace qps::transport
