#include <gui/base/look.hpp>
#include <gui/base/outlined_style.hpp>

#include <QPainter>
#include <QStyleOption>

namespace qps::gui {

namespace {

constexpr double kShare = 0.5;  // of the text's colour: WCAG's 3 to 1 against window and field, in both themes
constexpr double kDisabledShare = 0.3;
constexpr double kRadius = 2;

void outline(QPainter& painter, const QStyleOption& option, const QRect& rect, bool round) {
    const bool enabled = option.state.testFlag(QStyle::State_Enabled);
    const QPalette& palette = option.palette;
    const QColor focus = palette.color(QPalette::Highlight);
    const QColor plain = mixed(palette.color(QPalette::Window), palette.color(QPalette::Active, QPalette::WindowText),
                               enabled ? kShare : kDisabledShare);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(option.state.testFlag(QStyle::State_HasFocus) ? focus : plain, 1));
    painter.setBrush(Qt::NoBrush);
    const QRectF border = QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5);
    if (round) painter.drawEllipse(border);
    else painter.drawRoundedRect(border, kRadius, kRadius);
    painter.restore();
}

}  // namespace

OutlinedStyle::OutlinedStyle() : QProxyStyle(QStringLiteral("Fusion")) {}

void OutlinedStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                                  const QWidget* widget) const {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    switch (element) {
        case PE_IndicatorCheckBox:
        case PE_IndicatorItemViewItemCheck:
        case PE_FrameLineEdit:
        case PE_PanelButtonCommand: return outline(*painter, *option, option->rect, false);
        case PE_IndicatorRadioButton: return outline(*painter, *option, option->rect, true);
        default: return;
    }
}

void OutlinedStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                                       const QWidget* widget) const {
    QProxyStyle::drawComplexControl(control, option, painter, widget);
    if (control == CC_ComboBox || control == CC_SpinBox) return outline(*painter, *option, option->rect, false);
    if (control != CC_ScrollBar) return;
    const QRect handle = subControlRect(control, option, SC_ScrollBarSlider, widget);
    if (!handle.isEmpty()) outline(*painter, *option, handle.adjusted(1, 1, -1, -1), false);
}

}  // namespace qps::gui
