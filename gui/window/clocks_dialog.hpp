// The dialog of the clocks of the files that are open: how much the times of each are moved, and whether their packets
// are merged by time.
#pragma once

#include <gui/session/session.hpp>

#include <QString>
#include <QStringList>
#include <optional>

class QWidget;

namespace qps::gui {

// Nothing where it was cancelled.
[[nodiscard]] std::optional<Clocks> askClocks(const QStringList& files, const Clocks& before, QWidget* parent);

// "-1.5ms", "+20us", "0.25" (seconds); nothing where it is no time, or more than a hundred years.
[[nodiscard]] std::optional<dissect::Duration> readOffset(const QString& text);
[[nodiscard]] QString offsetText(dissect::Duration offset);  // in the longest unit that needs no fraction

}  // namespace qps::gui
