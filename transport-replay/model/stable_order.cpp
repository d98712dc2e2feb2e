#include <transport-replay/model/stable_order.hpp>

#include <algorithm>
#include <numeric>

namespace qps::transport {

std::vector<std::uint32_t> ordered_places(std::size_t count,
                                          const std::function<bool(std::uint32_t, std::uint32_t)>& before) {
    std::vector<std::uint32_t> places(count);
    std::iota(places.begin(), places.end(), 0U);
    if (!std::ranges::is_sorted(places, before)) std::ranges::stable_sort(places, before);
    return places;
}

}  // namespace qps::transport
