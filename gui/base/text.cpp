#include <gui/base/text.hpp>

#include <QStringList>

namespace qps::gui {

QString sentence(const QString& text) {
    const QStringList parts = text.split(QLatin1Char('`'));
    if (parts.size() % 2 == 0) return text.toHtmlEscaped();  // one that is not closed means nothing
    QString rich;
    for (qsizetype i = 0; i < parts.size(); ++i)
        rich += i % 2 == 0 ? parts[i].toHtmlEscaped() : QStringLiteral("<code>%1</code>").arg(parts[i].toHtmlEscaped());
    return rich;
}

}  // namespace qps::gui
