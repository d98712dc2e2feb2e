// The dialog of a packet's comment: several lines, so that Enter begins one; Ctrl+Enter is OK, and Tab goes on to the
// buttons.
#pragma once

#include <QString>
#include <cstdint>
#include <optional>

class QWidget;

namespace qps::gui {

// What the user wants it to be; nothing where he wants no change.
[[nodiscard]] std::optional<QString> askComment(std::uint64_t packet, const QString& before, QWidget* parent);

}  // namespace qps::gui
