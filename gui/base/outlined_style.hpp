// OutlinedStyle: Fusion whose boxes, fields and buttons have a border that is seen: Fusion's own is a darker shade of
// the window, which vanishes where the window is dark.
#pragma once

#include <QProxyStyle>

namespace qps::gui {

class OutlinedStyle : public QProxyStyle {
    Q_OBJECT

public:
    OutlinedStyle();

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override;
};

}  // namespace qps::gui
