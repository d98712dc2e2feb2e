// docs/window.md and docs/window-keys.md say what there is: every view, every key of the table of actions.
#include <gui/session/actions.hpp>
#include <gui/window/views.hpp>
#include <tests/support/catch.hpp>

#include <QFile>
#include <QString>
#include <QStringList>

using namespace qps::gui;

namespace {

QString manual(const QString& page) {
    QFile file(QStringLiteral(QPSCOPE_SOURCE_DIR "/docs/") + page);
    REQUIRE(file.open(QIODevice::ReadOnly));
    return QString::fromUtf8(file.readAll());
}

}  // namespace

TEST_CASE("the manual of the window has every key of the table of actions") {
    const QString text = manual(QStringLiteral("window-keys.md"));
    std::size_t keys = 0;
    for (const ActionRow& row : actionRows())
        for (const QString& key : QString::fromLatin1(row.keys.data(), static_cast<qsizetype>(row.keys.size()))
                                      .split(QStringLiteral("; "), Qt::SkipEmptyParts)) {
            INFO(row.text << ": " << key.toStdString());
            CHECK(text.contains(QLatin1Char('`') + key + QLatin1Char('`')));
            ++keys;
        }
    CHECK(keys > 30);
}

TEST_CASE("the manual of the window has a row for every view") {
    const QString text = manual(QStringLiteral("window.md"));
    for (const ViewRow& row : viewRows()) {
        INFO(row.id);
        CHECK(text.contains(QStringLiteral("\n| %1 | ").arg(QString::fromUtf8(row.title))));
    }
}
