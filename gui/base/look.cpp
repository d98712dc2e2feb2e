#include <gui/base/look.hpp>

#include <algorithm>
#include <array>

namespace qps::gui {

namespace {

struct Pair {
    QRgb light;  // on light ground
    QRgb dark;   // on dark ground
};

// By Ink. Found by a search, not by eye: those that stand in one view lie 20 of CIEDE2000 apart with all colours and
// with three kinds of colour blindness, and 3 to 1 from their ground; tests/gui/colours.cpp computes it. A change of
// one needs the others looked at.
constexpr std::array kInks{
    Pair{0xff5146f7, 0xffa0a0ff},  // Request
    Pair{0xff030194, 0xff4b7076},  // Response
    Pair{0xff4a9eb4, 0xffa6f6fe},  // Acknowledgment
    Pair{0xffeb6d0c, 0xfff8e8c9},  // Retransmission
    Pair{0xffae1a07, 0xffe27b1d},  // NegativeAcknowledgment
    Pair{0xffa58f81, 0xff8c6045},  // Wait
    Pair{0xff0f001d, 0xff9030f0},  // Congestion
    Pair{0xff724b5d, 0xffddff00},  // Notification
    Pair{0xff3a0902, 0xffa29d91},  // Pause
    Pair{0xff59535d, 0xffa19c92},  // Other
};

// By Severity.
constexpr std::array kSeverities{
    Pair{0xff2b5f8a, 0xff8fc1ea},  // note
    Pair{0xff8a5a00, 0xfff2bd4b},  // warning
    Pair{0xffb3161b, 0xffff7b72},  // error
};

QColor chosen(const Pair& pair, const QPalette& palette) {
    return QColor::fromRgba(isDark(palette) ? pair.dark : pair.light);
}

}  // namespace

bool isDark(const QPalette& palette) {
    return palette.color(QPalette::Base).lightnessF() < palette.color(QPalette::Text).lightnessF();
}

QColor color(Ink ink, const QPalette& palette) { return chosen(kInks[static_cast<std::size_t>(ink)], palette); }

QColor textColor(transport::Severity severity, const QPalette& palette) {
    return chosen(kSeverities[static_cast<std::size_t>(severity)], palette);
}

QColor rowColor(transport::Severity severity, const QPalette& palette) {
    return mixed(palette.color(QPalette::Base), textColor(severity, palette), 0.16);
}

QColor mixed(const QColor& first, const QColor& second, double share) {
    const double part = std::clamp(share, 0.0, 1.0);
    const auto mix = [part](float a, float b) { return static_cast<float>(a + (b - a) * part); };
    return QColor::fromRgbF(mix(first.redF(), second.redF()), mix(first.greenF(), second.greenF()),
                            mix(first.blueF(), second.blueF()));
}

}  // namespace qps::gui
