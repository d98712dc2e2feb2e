// Who makes room where all places of a server are taken and somebody else asks for one: no address holds more than its
// share of them with connections on which nothing was ever done, from the first one on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>

namespace qps::transport::live::peers {

// `idle`: of each address, how many such connections it has. The address with the most, where that is more than each
// would have if all shared `places` alike, and more than the newcomer's has; nullptr: nobody has to go.
template <class Who>
[[nodiscard]] const Who* who_makes_room(const std::map<Who, std::size_t>& idle, const Who& newcomer,
                                        std::size_t places) {
    const auto most = std::ranges::max_element(idle, {}, [](const auto& share) { return share.second; });
    if (most == idle.end() || most->first == newcomer) return nullptr;
    const auto own = idle.find(newcomer);
    const std::size_t addresses = idle.size() + (own == idle.end() ? 1 : 0);
    if (most->second <= places / addresses || (own != idle.end() && own->second >= most->second)) return nullptr;
    return &most->first;
}

}  // namespace qps::transport::live::peers
