#include <gui/tables/troubles.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <tuple>

namespace qps::gui {

using namespace transport;

Troubles::Troubles(const Timeline& timeline) {
    for (const Recovery& recovery : timeline.recoveries) {
        const bool refused =
            recovery.asked() || recovery.kind == RecoveryKind::sequence_nak || recovery.kind == RecoveryKind::rnr_nak;
        if (refused)
            m_entries.push_back({recovery.connection, {recovery.time.begin(), Trouble::Refused}, recovery.requester});
        if (recovery.resumed != dissect::FrameIndex{})
            m_entries.push_back({recovery.connection, {recovery.resumed_time, Trouble::Resent}, recovery.requester});
    }
    for (const Fatality& fatality : timeline.fatalities)
        m_entries.push_back({fatality.connection, {fatality.time, Trouble::Refused}, fatality.requester});
    std::ranges::sort(m_entries, {},
                      [](const Entry& entry) { return std::tuple(entry.connection, entry.moment.time); });
}

std::vector<Moment> Troubles::of(ConnectionId connection) const {
    std::vector<Moment> moments;
    for (const Entry& entry : std::ranges::equal_range(m_entries, connection, {}, &Entry::connection))
        moments.push_back(entry.moment);
    return moments;
}

std::vector<Moment> Troubles::of(ConnectionId connection, End requester, const TimeRange& range) const {
    std::vector<Moment> moments;
    const auto key = [](const Entry& entry) { return std::pair(entry.connection, entry.moment.time); };
    for (auto entry = std::ranges::lower_bound(m_entries, std::pair(connection, range.from), {}, key);
         entry != m_entries.end() && entry->connection == connection && entry->moment.time <= range.to; ++entry)
        if (entry->requester == requester) moments.push_back(entry->moment);
    return moments;
}

}  // namespace qps::gui
