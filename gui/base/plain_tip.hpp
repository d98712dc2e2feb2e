// A tool tip shows text with tags as rich text: a name from a capture could bring pictures, links and colours.
#pragma once

#include <QString>
#include <QTextDocument>

namespace qps::gui {

// The text as a tool tip that shows it as it is.
[[nodiscard]] inline QString plainTip(const QString& text) {
    return Qt::mightBeRichText(text) ? QStringLiteral("<qt>%1</qt>")
                                           .arg(text.toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")))
                                     : text;
}

}  // namespace qps::gui
