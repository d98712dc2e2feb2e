// Theme: whether the window is light, dark, or as the desktop has it. Where a desktop says nothing (remote displays,
// bare window managers) a user still has the choice.
#pragma once

#include <QPalette>
#include <QString>
#include <optional>

namespace qps::gui {

enum class Theme { Desktop, Light, Dark };

// "desktop", "light", "dark"; nothing for other names.
[[nodiscard]] std::optional<Theme> themeOf(const QString& name);
[[nodiscard]] QString name(Theme theme);

// The colours of a theme; of the desktop those that it had at first.
[[nodiscard]] QPalette paletteOf(Theme theme);

// For the whole application, at once. The first call remembers what the desktop has.
void use(Theme theme);
[[nodiscard]] Theme themeInUse();

}  // namespace qps::gui
