// The picture of the program is there in the small sizes too, and is more than one colour.
#include <gui/base/icon.hpp>
#include <tests/gui/application.hpp>
#include <tests/support/catch.hpp>

#include <QImage>
#include <QSet>

using namespace qps::gui;
using namespace qps::gui::tests;

TEST_CASE("The icon is drawn in every size that desktops ask for") {
    needApplication();
    const QIcon icon = programIcon();
    for (const int size : {16, 32, 48, 256}) {
        const QImage image = icon.pixmap(size).toImage();
        CHECK(image.width() == size);
        QSet<QRgb> colours;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x) colours.insert(image.pixel(x, y));
        CHECK(colours.size() >= 4);  // the ground, the lifelines, either arrow
        CHECK(qAlpha(image.pixel(size / 2, 1)) == 255);
    }
}
