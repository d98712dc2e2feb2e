// The dialog of colouring rules: name, filter and colour of each, which of them are on, and in which order they are
// asked.
#pragma once

#include <gui/packets/row_rules.hpp>

#include <optional>

class QWidget;

namespace qps::gui {

// Until the user is content or gives up. A rule whose filter is none, or more than RowRules::kMost, cannot be kept.
[[nodiscard]] std::optional<std::vector<RowRule>> askRules(const std::vector<RowRule>& before, QWidget* parent);

}  // namespace qps::gui
