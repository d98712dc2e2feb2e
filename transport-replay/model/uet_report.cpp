#include <transport-replay/model/uet_report.hpp>

#include <algorithm>

namespace qps::transport {

bool UetConversation::is_quiet() const {
    return std::ranges::all_of(ways, [](const UetWay& way) {
        return way.resent_frames.empty() && way.trimmed == 0 && way.nacks.empty() && way.refusals.empty() &&
               way.further_codes == 0;
    });
}

}  // namespace qps::transport
