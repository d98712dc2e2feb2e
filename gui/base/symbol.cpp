#include <gui/base/symbol.hpp>
#include <gui/base/theme.hpp>

#include <QApplication>
#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QSvgRenderer>
#include <utility>

// The linker leaves out resources of a static library that nobody calls for; the macro must stand outside of
// namespaces.
static void needSymbols() { Q_INIT_RESOURCE(icons); }

namespace qps::gui {

namespace {

QByteArray drawingOf(const QString& name) {
    QFile file(QStringLiteral(":/symbols/%1.svg").arg(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

class SymbolEngine : public QIconEngine {
public:
    explicit SymbolEngine(QString name) : m_name(std::move(name)), m_drawing(drawingOf(m_name)) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
        const QIcon themed = themeInUse() == Theme::Desktop || m_drawing.isEmpty() ? QIcon::fromTheme(m_name) : QIcon();
        if (!themed.isNull()) return themed.paint(painter, rect, Qt::AlignCenter, mode, state);
        const auto group = mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active;
        const auto role = mode == QIcon::Selected ? QPalette::HighlightedText : QPalette::ButtonText;
        QByteArray colored = m_drawing;
        colored.replace("currentColor", QApplication::palette().color(group, role).name().toLatin1());
        QSvgRenderer(colored).render(painter, rect);
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        QPixmap made(size);
        made.fill(Qt::transparent);
        QPainter painter(&made);
        paint(&painter, QRect(QPoint(0, 0), size), mode, state);
        return made;
    }
    [[nodiscard]] QIconEngine* clone() const override { return new SymbolEngine(*this); }
    QString iconName() override { return m_name; }
    bool isNull() override { return m_drawing.isEmpty() && !QIcon::hasThemeIcon(m_name); }

private:
    QString m_name;
    QByteArray m_drawing;
};

}  // namespace

QIcon symbol(const QString& name) {
    needSymbols();
    return name.isEmpty() ? QIcon() : QIcon(new SymbolEngine(name));
}

}  // namespace qps::gui
