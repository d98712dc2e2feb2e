// Look: the colours that are ours, in a light and a dark form; all else comes from the palette of the desktop.
#pragma once

#include <transport-replay/model/finding.hpp>

#include <QColor>
#include <QPalette>

namespace qps::gui {

// Whether text is light on dark.
[[nodiscard]] bool isDark(const QPalette& palette);

// What pictures draw: told apart in both forms, also by people who are colour-blind.
enum class Ink {
    Request,
    Response,
    Acknowledgment,
    Retransmission,
    NegativeAcknowledgment,
    Wait,
    Congestion,
    Notification,
    Pause,
    Other
};
[[nodiscard]] QColor color(Ink ink, const QPalette& palette);

// Of a severity: for a text or a symbol, and for the background of a row.
[[nodiscard]] QColor textColor(transport::Severity severity, const QPalette& palette);
[[nodiscard]] QColor rowColor(transport::Severity severity, const QPalette& palette);

// Between two colours: 0 is the first, 1 the second.
[[nodiscard]] QColor mixed(const QColor& first, const QColor& second, double share);

}  // namespace qps::gui
