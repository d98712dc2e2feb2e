// Viewport: what part of a picture is seen: zooming, panning, and the way back. No widgets.
//
// Invariant: a span is never shorter than kLeastTime, never leaves the whole, and its ends are in order.
#pragma once

#include <gui/pictures/axis.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace qps::gui {

inline constexpr std::int64_t kLeastTime = 10;       // ns: captures are no more exact than that
inline constexpr std::size_t kMaxZoomHistory = 100;  // steps back; more than anybody remembers
inline constexpr double kZoomStep = 1.5;             // of a key or a notch of the wheel
inline constexpr double kPanStep = 0.1;              // of the span, by a key
inline constexpr double kLeastDecades = 0.05;        // of a logarithmic axis
inline constexpr double kLeastShareOfWhole = 1e-9;   // of a value axis: where doubles begin to jump

// The part that `span` becomes, `factor` times as long, with `around` where it was. `factor` above 0.
[[nodiscard]] TimeSpan zoomed(TimeSpan span, std::int64_t around, double factor, TimeSpan whole);
[[nodiscard]] ValueSpan zoomed(ValueSpan span, double around, double factor, bool logarithmic);
// Moved by a share of its length; stops at the ends of the whole.
[[nodiscard]] TimeSpan panned(TimeSpan span, double share, TimeSpan whole);
[[nodiscard]] ValueSpan panned(ValueSpan span, double share, bool logarithmic);
// In order, long enough, and inside the whole.
[[nodiscard]] TimeSpan limited(TimeSpan span, TimeSpan whole);
// The span with a margin around it, so that no mark lies on the frame; from 0 where `from_zero`. Logarithmic: whole
// halves of decades.
[[nodiscard]] ValueSpan withMargin(ValueSpan span, bool logarithmic, bool fromZero);

// What is seen: a part of the time, and of each panel the values; nothing: those of the data in that time.
struct Viewport {
    TimeSpan time;
    std::vector<std::optional<ValueSpan>> values;
    [[nodiscard]] bool operator==(const Viewport&) const = default;
};

class ZoomHistory {
public:
    // Before a change: `now` is what back() returns to. Changes of the same kind in a row are one step.
    void remember(const Viewport& now, int kind);
    [[nodiscard]] std::optional<Viewport> back();
    void clear();
    [[nodiscard]] bool empty() const { return steps_.empty(); }

private:
    std::vector<Viewport> steps_;
    int kind_ = -1;
};

}  // namespace qps::gui
