// Colours must be read on the ground they stand on, in a light and in a dark palette.
#include <gui/base/look.hpp>
#include <gui/base/plain_tip.hpp>
#include <gui/base/theme.hpp>
#include <tests/support/catch.hpp>

#include <QApplication>
#include <algorithm>
#include <cmath>

#include "application.hpp"

using namespace qps::gui;
using qps::transport::Severity;

namespace {

QPalette palette(bool dark) {
    QPalette made;
    made.setColor(QPalette::Base, dark ? QColor(30, 30, 30) : QColor(255, 255, 255));
    made.setColor(QPalette::Text, dark ? QColor(230, 230, 230) : QColor(20, 20, 20));
    return made;
}

// Relative luminance and contrast as WCAG 2.1 defines them.
double luminance(const QColor& color) {
    const auto part = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * part(color.redF()) + 0.7152 * part(color.greenF()) + 0.0722 * part(color.blueF());
}
double contrast(const QColor& a, const QColor& b) {
    const double high = std::max(luminance(a), luminance(b));
    const double low = std::min(luminance(a), luminance(b));
    return (high + 0.05) / (low + 0.05);
}

}  // namespace

TEST_CASE("a tool tip shows names with tags as they are") {
    CHECK(plainTip(QStringLiteral("report.xlsx")) == QStringLiteral("report.xlsx"));
    const QString acting = QStringLiteral("<img src=\"http://192.0.2.1/x\">\nnext & last");
    REQUIRE(Qt::mightBeRichText(acting));
    const QString tip = plainTip(acting);
    CHECK_FALSE(tip.contains(QStringLiteral("<img")));
    QTextDocument shown;
    shown.setHtml(tip);
    CHECK(shown.toPlainText() == acting);
}

TEST_CASE("every ink stands out from the ground") {
    const bool dark = GENERATE(false, true);
    const QPalette used = palette(dark);
    REQUIRE(isDark(used) == dark);
    for (int ink = 0; ink <= static_cast<int>(Ink::Other); ++ink) {
        CAPTURE(ink, dark);
        CHECK(contrast(color(static_cast<Ink>(ink), used), used.color(QPalette::Base)) >= 3.0);  // WCAG: graphics
    }
}

TEST_CASE("texts of a severity can be read, alone and on a row of theirs") {
    const QPalette used = palette(GENERATE(false, true));
    for (const Severity severity : {Severity::note, Severity::warning, Severity::error}) {
        CAPTURE(static_cast<int>(severity));
        CHECK(contrast(textColor(severity, used), used.color(QPalette::Base)) >= 4.5);  // WCAG: text
        CHECK(contrast(used.color(QPalette::Text), rowColor(severity, used)) >= 4.5);
    }
}

TEST_CASE("the themes of ours can be read, in every role") {
    qps::gui::tests::needApplication();
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        use(theme);
        CHECK(themeInUse() == theme);
        CHECK(themeOf(name(theme)) == theme);
        const QPalette used = QApplication::palette();
        CHECK(isDark(used) == (theme == Theme::Dark));
        CHECK(contrast(used.color(QPalette::Text), used.color(QPalette::Base)) >= 7);
        CHECK(contrast(used.color(QPalette::WindowText), used.color(QPalette::Window)) >= 7);
        CHECK(contrast(used.color(QPalette::ButtonText), used.color(QPalette::Button)) >= 7);
        CHECK(contrast(used.color(QPalette::HighlightedText), used.color(QPalette::Highlight)) >= 4.5);
        CHECK(contrast(used.color(QPalette::PlaceholderText), used.color(QPalette::Base)) >= 4.5);
        CHECK(contrast(used.color(QPalette::Link), used.color(QPalette::Window)) >= 4.5);
        CHECK(contrast(used.color(QPalette::ToolTipText), used.color(QPalette::ToolTipBase)) >= 7);
    }
    use(Theme::Desktop);
    CHECK_FALSE(themeOf(QStringLiteral("pink")).has_value());
}
