#include <gui/base/look.hpp>
#include <gui/base/outlined_style.hpp>
#include <gui/base/theme.hpp>

#include <QApplication>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>
#include <array>

namespace qps::gui {

namespace {

struct Named {
    Theme theme;
    const char* name;
};
constexpr std::array kNames{Named{Theme::Desktop, "desktop"}, Named{Theme::Light, "light"}, Named{Theme::Dark, "dark"}};

struct Roles {
    QRgb window, base, alternate, text, faint, button, highlight, highlighted, link, tip;
};
constexpr Roles kLight{0xfff3f4f5, 0xffffffff, 0xfff6f7f8, 0xff1b1e21, 0xff656c72,
                       0xfff3f4f5, 0xff1f66b0, 0xffffffff, 0xff0b5cad, 0xfffbfbe8};
constexpr Roles kDark{0xff25282c, 0xff1b1d20, 0xff212429, 0xffe4e6e8, 0xff9aa1a8,
                      0xff2f3338, 0xff3778bb, 0xffffffff, 0xff6cb2ff, 0xff33373c};

QPalette paletteOf(const Roles& roles) {
    QPalette palette;
    const auto set = [&](QPalette::ColorRole role, QRgb rgb) { palette.setColor(role, QColor::fromRgba(rgb)); };
    set(QPalette::Window, roles.window);
    set(QPalette::WindowText, roles.text);
    set(QPalette::Base, roles.base);
    set(QPalette::AlternateBase, roles.alternate);
    set(QPalette::Text, roles.text);
    set(QPalette::PlaceholderText, roles.faint);
    set(QPalette::Button, roles.button);
    set(QPalette::ButtonText, roles.text);
    set(QPalette::BrightText, roles.highlighted);
    set(QPalette::Highlight, roles.highlight);
    set(QPalette::HighlightedText, roles.highlighted);
    set(QPalette::Link, roles.link);
    set(QPalette::LinkVisited, roles.link);
    set(QPalette::ToolTipBase, roles.tip);
    set(QPalette::ToolTipText, roles.text);
    const QColor window = palette.color(QPalette::Window);
    const QColor text = palette.color(QPalette::Text);
    palette.setColor(QPalette::Light, mixed(window, text, 0.04));
    palette.setColor(QPalette::Midlight, mixed(window, text, 0.08));
    palette.setColor(QPalette::Mid, mixed(window, text, 0.25));
    palette.setColor(QPalette::Dark, mixed(window, text, 0.35));
    palette.setColor(QPalette::Shadow, mixed(window, QColor(Qt::black), 0.6));
    for (const auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, QColor::fromRgba(roles.faint));
    palette.setColor(QPalette::Disabled, QPalette::Highlight, mixed(window, text, 0.2));
    return palette;
}

// What the desktop had before we changed anything.
struct Desktop {
    QPalette palette = QApplication::palette();
    QString style = QApplication::style()->objectName();
};

const Desktop& desktopAtFirst() {
    static const Desktop desktop;
    return desktop;
}

Theme& chosen() {
    static Theme theme = Theme::Desktop;
    return theme;
}

}  // namespace

std::optional<Theme> themeOf(const QString& name) {
    for (const Named& each : kNames)
        if (name == QLatin1String(each.name)) return each.theme;
    return std::nullopt;
}

QString name(Theme theme) { return QString::fromLatin1(kNames[static_cast<std::size_t>(theme)].name); }

Theme themeInUse() { return chosen(); }

QPalette paletteOf(Theme theme) {
    return theme == Theme::Desktop ? desktopAtFirst().palette : paletteOf(theme == Theme::Dark ? kDark : kLight);
}

void use(Theme theme) {
    const Desktop& desktop = desktopAtFirst();
    chosen() = theme;
    if (theme == Theme::Desktop) {
        QApplication::setStyle(QStyleFactory::create(desktop.style));
        QApplication::setPalette(desktop.palette);
        return;
    }
    // The one style that draws itself wholly from the palette.
    QApplication::setStyle(new OutlinedStyle);
    QApplication::setPalette(paletteOf(theme));
}

}  // namespace qps::gui
