// The picture of the program, for windows that a desktop does not know by their desktop file.
#pragma once

#include <QIcon>

namespace qps::gui {

// Drawn from the SVG in the sizes that desktops ask for; needs no plugin for SVG icons.
[[nodiscard]] QIcon programIcon();

}  // namespace qps::gui
