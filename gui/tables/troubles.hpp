// When each connection had trouble, found by its number: what bars in tables mark.
#pragma once

#include <gui/tables/when.hpp>
#include <transport-replay/model/connection.hpp>

#include <vector>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

class Troubles {
public:
    Troubles() = default;
    explicit Troubles(const transport::Timeline& timeline);

    [[nodiscard]] std::vector<Moment> of(transport::ConnectionId connection) const;
    // Of what one end asked for, between two instants, both included.
    [[nodiscard]] std::vector<Moment> of(transport::ConnectionId connection, transport::End requester,
                                         const TimeRange& range) const;

private:
    struct Entry {
        transport::ConnectionId connection{};
        Moment moment;
        transport::End requester{};
    };
    std::vector<Entry> m_entries;  // by connection and time; two for each recovery of the timeline at most
};

}  // namespace qps::gui
