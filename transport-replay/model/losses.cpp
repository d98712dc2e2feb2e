#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/ordering.hpp>

namespace qps::transport {

Losses losses_of(const Way& way) {
    const Incidents& had = *way.incidents;
    return {.requests_before_tap = had.gaps.network + had.gaps.again,
            .requests_behind_tap = had.ordering->naks_of(NakCause::lost_behind_tap),
            .responses_before_tap = had.response_gaps.network,
            .by_capture = had.gaps.tap + had.response_gaps.tap};
}

bool lacks_a_part(const Way& way) {
    constexpr std::uint64_t kSmallPart = 32;
    return way.incidents->gaps.tap * kSmallPart > way.requests;
}

}  // namespace qps::transport
