// Lists of large values put in order: their places are sorted, then each value moves once. The sort of places is
// compiled once for all lists, where std::ranges::stable_sort is some ten kilobytes of code for each kind of value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace qps::transport {

// The places 0 to `count` - 1, ordered by `before` (a strict weak order of two places), equal ones as they are. `count`
// is below 2^32.
[[nodiscard]] std::vector<std::uint32_t> ordered_places(
    std::size_t count, const std::function<bool(std::uint32_t, std::uint32_t)>& before);

// Orders a list with random access by what `key` makes of its values, equal ones as they are. Memory beside the list: 6
// bytes a value.
template <class List, class Key> void order_stably(List& list, Key key) {
    std::vector<std::uint32_t> places = ordered_places(list.size(), [&](std::uint32_t a, std::uint32_t b) {
        return std::invoke(key, list[a]) < std::invoke(key, list[b]);
    });
    for (std::uint32_t first = 0; first < places.size();
         ++first) {  // each cycle of the permutation, by one value that is held aside
        if (places[first] == first) continue;
        auto held = std::move(list[first]);
        std::uint32_t at = first;
        while (places[at] != first) {
            list[at] = std::move(list[places[at]]);
            at = std::exchange(places[at], at);
        }
        list[at] = std::move(held);
        places[at] = at;
    }
}

}  // namespace qps::transport
