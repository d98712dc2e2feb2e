// The dialog of the preferences.
#pragma once

#include <gui/preferences/preferences.hpp>

#include <optional>

class QWidget;

namespace qps::gui {

// What the user wants from now on; nothing where the dialog was cancelled.
[[nodiscard]] std::optional<Preferences> askPreferences(const Preferences& before, QWidget* parent);

}  // namespace qps::gui
