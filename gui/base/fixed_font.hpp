// The fixed-width font of what stands in columns. Only its family is fixed: the size stays that of the application, so
// that larger text is larger here too.
#pragma once

#include <QFont>
#include <QFontDatabase>
#include <QStringList>

namespace qps::gui {

[[nodiscard]] inline QFont fixedFont() {
    QFont font;
    font.setFamilies(QFontDatabase::systemFont(QFontDatabase::FixedFont).families());
    font.setStyleHint(QFont::Monospace);
    return font;
}

}  // namespace qps::gui
