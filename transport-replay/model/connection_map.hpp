// ConnectionMap: what a room knows of each connection, by its number. Numbers only grow, and connections go in about
// the order in which they came: pages of them are given back when all of a page are forgotten.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <utility>
#include <vector>

namespace qps::transport {

template <class T> class ConnectionMap {
public:
    // What is known of it; `none` where nothing is.
    [[nodiscard]] const T& get(ConnectionId connection, const T& none) const {
        const auto [page, at] = place_of(connection);
        return page < pages_.size() && !pages_[page].values.empty() ? pages_[page].values[at] : none;
    }
    // A place for it, which begins as `none`.
    [[nodiscard]] T& at(ConnectionId connection, const T& none) {
        const auto [page, at] = place_of(connection);
        if (page >= pages_.size()) pages_.resize(page + 1);
        Page& here = pages_[page];
        if (here.values.empty()) here.values.assign(kPage, none);
        return here.values[at];
    }
    // Call it once for each connection that was ever numbered, whether anything is known of it or not.
    void forget(ConnectionId connection, const T& none) {
        const auto [page, at] = place_of(connection);
        if (page >= pages_.size()) pages_.resize(page + 1);
        Page& here = pages_[page];
        if (!here.values.empty()) here.values[at] = none;
        if (++here.forgotten == kPage)
            std::vector<T>().swap(here.values);  // gives the memory back, as assigning {} does not
    }

private:
    static constexpr std::size_t kPage = 4096;
    struct Page {
        std::vector<T> values;  // empty: nothing is known of any
        std::uint32_t forgotten = 0;
    };
    [[nodiscard]] static std::pair<std::size_t, std::size_t> place_of(ConnectionId connection) {
        const std::size_t number = std::to_underlying(connection);  // from 1 on: the first page is never given back
        return {number / kPage, number % kPage};
    }
    std::vector<Page> pages_;
};

}  // namespace qps::transport
