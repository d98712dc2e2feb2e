// How wide columns are at first: as their texts want it, and where that is more than there is room for, the widest give
// way.
#pragma once

#include <algorithm>
#include <span>

namespace qps::gui {

// Makes the widest smaller, and alike, until all fit into `room`; none smaller than `least`. What is smaller anyway
// stays.
inline void shareRoom(std::span<int> widths, int room, int least) {
    const auto total = [&](int most) {
        int sum = 0;
        for (const int width : widths) sum += std::min(width, most);
        return sum;
    };
    int low = least;
    int high = widths.empty() ? least : std::max(least, std::ranges::max(widths));
    while (low < high) {  // the largest limit at which all fit
        const int middle = low + (high - low + 1) / 2;
        if (total(middle) <= room) low = middle;
        else high = middle - 1;
    }
    for (int& width : widths) width = std::min(width, low);
}

}  // namespace qps::gui
