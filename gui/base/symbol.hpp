// Symbols of buttons, by their names in icon themes: those of the desktop's theme while the window looks as the desktop
// does, else, and where the theme lacks one, our own drawings (gui/symbols/), in the colour of the text beside them.
#pragma once

#include <QIcon>
#include <QString>

namespace qps::gui {

// Follows the theme as it changes. Null where neither has the name.
[[nodiscard]] QIcon symbol(const QString& name);

}  // namespace qps::gui
