// FrameRanges: packets that somebody selected, as ranges of frame numbers. A range says: all in it that are shown, so
// that it stays right when a filter comes or goes, and a hundred million selected packets cost 16 bytes.
#pragma once

#include <transport-replay/index/extract.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace qps::gui {

using transport::FrameRange;

class FrameRanges {
public:
    static constexpr std::size_t kMost = 1 << 16;  // what a hand can click together, and far more

    [[nodiscard]] bool empty() const { return ranges_.empty(); }
    void clear() { ranges_.clear(); }
    [[nodiscard]] const std::vector<FrameRange>& ranges() const { return ranges_; }  // in order, without overlap
    [[nodiscard]] bool contains(dissect::FrameIndex frame) const {
        const auto after = std::ranges::upper_bound(ranges_, frame, {}, &FrameRange::first);
        return after != ranges_.begin() && frame <= std::prev(after)->last;
    }

    // Those alone, which are in order; as many of the first as there is room for.
    void assign(const std::vector<dissect::FrameIndex>& frames) {
        ranges_.clear();
        for (const dissect::FrameIndex frame : frames) {
            if (!ranges_.empty() && step(ranges_.back().last, 1) == frame) ranges_.back().last = frame;
            else if (ranges_.size() == kMost) return;
            else ranges_.push_back({frame, frame});
        }
    }
    // Either order of the ends.
    void add(dissect::FrameIndex one, dissect::FrameIndex other) {
        FrameRange added{std::min(one, other), std::max(one, other)};
        std::vector<FrameRange> kept;
        for (const FrameRange& range : ranges_) {
            if (touches(range, added)) added = {std::min(range.first, added.first), std::max(range.last, added.last)};
            else kept.push_back(range);
        }
        if (kept.size() >= kMost) return;
        kept.insert(std::ranges::upper_bound(kept, added.first, {}, &FrameRange::first), added);
        ranges_ = std::move(kept);
    }
    void remove(dissect::FrameIndex frame) {
        std::vector<FrameRange> kept;
        for (const FrameRange& range : ranges_) {
            if (frame < range.first || range.last < frame) {
                kept.push_back(range);
                continue;
            }
            if (range.first < frame) kept.push_back({range.first, step(frame, -1)});
            if (frame < range.last) kept.push_back({step(frame, 1), range.last});
        }
        ranges_ = std::move(kept);
    }

private:
    [[nodiscard]] static dissect::FrameIndex step(dissect::FrameIndex frame, int by) {
        return dissect::FrameIndex{std::to_underlying(frame) +
                                   static_cast<std::uint64_t>(static_cast<std::int64_t>(by))};
    }
    [[nodiscard]] static bool touches(const FrameRange& a, const FrameRange& b) {
        return a.first <= step(b.last, 1) && b.first <= step(a.last, 1);
    }

    std::vector<FrameRange> ranges_;
};

}  // namespace qps::gui
