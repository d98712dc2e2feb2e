// Text of the core, which is UTF-8, as Qt shows it.
#pragma once

#include <QString>
#include <string_view>

namespace qps::gui {

[[nodiscard]] inline QString shown(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

// A sentence of the core as rich text: nothing in it is a tag, commands between backquotes are code.
[[nodiscard]] QString sentence(const QString& text);

}  // namespace qps::gui
