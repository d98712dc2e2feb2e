#include <gui/look.hpp>

#include <algorithm>
#include <array>

namespace qps::gui {

namespace {

struct Pair {
    QRgb light;  // on light ground
    QRgb dark;   // on dark ground
};

// By Ink.
constexpr std::array kInks{
    Pair{0xff0072b2, 0xff56b4e9},  // Request
    Pair{0xff6a51a3, 0xffb39ddb},  // Response
    Pair{0xff00805c, 0xff2fc99b},  // Acknowledgment
    Pair{0xffd55e00, 0xffff9148},  // Retransmission
    Pair{0xffc1121f, 0xffff6b6b},  // NegativeAcknowledgment
    Pair{0xff9a6a00, 0xfff0c050},  // Wait
    Pair{0xffb5478f, 0xffe79ac8},  // Congestion
    Pair{0xff8c2d04, 0xffffb07c},  // Notification
    Pair{0xff7f7f00, 0xffe5e35a},  // Pause
    Pair{0xff6b6b6b, 0xffa8a8a8},  // Other
};

// By Severity.
constexpr std::array kSeverities{
    Pair{0xff2b5f8a, 0xff8fc1ea},  // note
    Pair{0xff8a5a00, 0xfff2bd4b},  // warning
    Pair{0xffb3161b, 0xffff7b72},  // error
};

QColor chosen(const Pair& pair, const QPalette& palette) { return QColor::fromRgba(isDark(palette) ? pair.dark : pair.light); }

}  // namespace

bool isDark(const QPalette& palette) { return palette.color(QPalette::Base).lightnessF() < palette.color(QPalette::Text).lightnessF(); }

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
    return QColor::fromRgbF(mix(first.redF(), second.redF()), mix(first.greenF(), second.greenF()), mix(first.blueF(), second.blueF()));
}

}  // namespace qps::gui
