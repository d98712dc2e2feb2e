// Colours of the pictures, computed from the palettes of gui/look: what means different things in one view is told
// apart with three kinds of colour blindness, and stands out from its ground.
#include <gui/base/look.hpp>
#include <gui/base/theme.hpp>
#include <gui/follow/text_lines.hpp>
#include <gui/pictures/congestion_picture.hpp>
#include <gui/pictures/latency_picture.hpp>
#include <gui/pictures/psn_picture.hpp>
#include <gui/pictures/throughput_picture.hpp>
#include <tests/support/catch.hpp>

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>

#include "application.hpp"

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;
using qps::dissect::Instant;
namespace series = qps::transport::series;

namespace {

constexpr double kFarEnough = 20;  // dE2000
constexpr double kSeen = 3;        // WCAG 2.1, 1.4.11: graphics

using Triple = std::array<double, 3>;

// Machado, Oliveira, Fernandes: A physiologically-based model for simulation of color vision deficiency, 2009;
// severity 1.
struct Vision {
    const char* name;
    std::array<Triple, 3> matrix;
};
constexpr std::array kVisions{
    Vision{"all colours", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
    Vision{"protanopia",
           {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}}},
    Vision{"deuteranopia",
           {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}}},
    Vision{"tritanopia",
           {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}},
};

double linear(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }
Triple linear(const QColor& color) { return {linear(color.redF()), linear(color.greenF()), linear(color.blueF())}; }

Triple through(const std::array<Triple, 3>& matrix, const Triple& color) {
    Triple seen{};
    for (std::size_t row = 0; row < 3; ++row)
        seen[row] = matrix[row][0] * color[0] + matrix[row][1] * color[1] + matrix[row][2] * color[2];
    return seen;
}

// CIE 15: L*a*b* of a colour of sRGB under D65.
Triple lab(Triple color) {
    for (double& part : color) part = std::clamp(part, 0.0, 1.0);
    constexpr std::array<Triple, 3> kXyz{
        {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}};
    constexpr Triple kWhite{0.95047, 1, 1.08883};
    Triple xyz = through(kXyz, color);
    for (std::size_t i = 0; i < 3; ++i) {
        const double t = xyz[i] / kWhite[i];
        xyz[i] = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
    }
    return {116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])};
}

double radians(double degrees) { return degrees * std::numbers::pi / 180; }
double degrees(double radians) { return radians * 180 / std::numbers::pi; }

// Sharma, Wu, Dalal: The CIEDE2000 color-difference formula, 2005.
double difference(const Triple& one, const Triple& two) {
    const auto power7 = [](double c) { return std::pow(c, 7) / (std::pow(c, 7) + std::pow(25.0, 7)); };
    const double mean = (std::hypot(one[1], one[2]) + std::hypot(two[1], two[2])) / 2;
    const double g = 0.5 * (1 - std::sqrt(power7(mean)));
    const double a1 = one[1] * (1 + g);
    const double a2 = two[1] * (1 + g);
    const double c1 = std::hypot(a1, one[2]);
    const double c2 = std::hypot(a2, two[2]);
    const auto hue = [](double a, double b) {
        return a == 0 && b == 0 ? 0 : std::fmod(degrees(std::atan2(b, a)) + 360, 360);
    };
    const double h1 = hue(a1, one[2]);
    const double h2 = hue(a2, two[2]);
    double dh = h2 - h1;
    if (dh > 180) dh -= 360;
    if (dh < -180) dh += 360;
    if (c1 * c2 == 0) dh = 0;
    const double delta_h = 2 * std::sqrt(c1 * c2) * std::sin(radians(dh / 2));
    const double l = (one[0] + two[0]) / 2;
    const double c = (c1 + c2) / 2;
    double h = h1 + h2;
    if (c1 * c2 != 0) h = std::abs(h1 - h2) <= 180 ? h / 2 : h < 360 ? (h + 360) / 2 : (h - 360) / 2;
    const double t = 1 - 0.17 * std::cos(radians(h - 30)) + 0.24 * std::cos(radians(2 * h)) +
                     0.32 * std::cos(radians(3 * h + 6)) - 0.2 * std::cos(radians(4 * h - 63));
    const double rotation = -std::sin(radians(60 * std::exp(-std::pow((h - 275) / 25, 2)))) * 2 * std::sqrt(power7(c));
    const double sl = 1 + 0.015 * std::pow(l - 50, 2) / std::sqrt(20 + std::pow(l - 50, 2));
    const double dl = (two[0] - one[0]) / sl;
    const double dc = (c2 - c1) / (1 + 0.045 * c);
    const double dhh = delta_h / (1 + 0.015 * c * t);
    return std::sqrt(dl * dl + dc * dc + dhh * dhh + rotation * dc * dhh);
}

double luminance(const QColor& color) {
    const Triple parts = linear(color);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}
double contrast(const QColor& a, const QColor& b) {
    return (std::max(luminance(a), luminance(b)) + 0.05) / (std::min(luminance(a), luminance(b)) + 0.05);
}

using Inks = std::set<Ink>;

Inks inksOf(const PlotData& data) {
    Inks found;
    for (const Panel& panel : data.panels)
        for (const Layer& layer : panel.layers) found.insert(layer.ink);
    return found;
}

Inks ofPsns() {
    series::PsnSeries psns;
    for (auto& mark : psns.marks) mark.push_back({Instant{1}, 1, FrameIndex{1}, 1});
    for (std::size_t kind = 0; kind < qps::transport::kRecoveryKindNames.size(); ++kind)
        psns.waits.push_back(
            {Instant{1}, Instant{2}, 1, static_cast<qps::transport::RecoveryKind>(kind), FrameIndex{1}, FrameIndex{2}});
    return inksOf(psnPlot(psns));
}

series::Throughput someThroughput() {
    std::vector<series::Amount> before(2);
    before[1].bytes = before[1].packets = 1;
    return {{Instant{0}, Instant{10}}, qps::dissect::Duration{10}, before};
}

Inks ofThroughput() {
    series::Outstanding outstanding;
    outstanding.bytes.push_back({Instant{0}, 1, FrameIndex{1}});
    return inksOf(throughputPlot(someThroughput(), outstanding));
}

Inks ofLatencies() {
    std::vector<series::LatencyPoint> points;
    for (std::size_t kind = 0; kind < qps::transport::kMessageKindNames.size(); ++kind)
        points.push_back({.time = Instant{1}, .y = 1, .kind = static_cast<qps::transport::MessageKind>(kind)});
    return inksOf(latencyPlot(points));
}

Inks ofCongestion() {
    series::CongestionSeries congestion;
    congestion.marks = congestion.notifications = {{Instant{1}, 1, FrameIndex{1}}};
    std::vector<HitFlow> flows;
    for (std::size_t i = 0; i < kMostHitFlows; ++i) flows.push_back({QString::number(i), someThroughput()});
    series::PauseRows pauses;
    pauses.rows.resize(1);
    pauses.rows[0].periods.resize(1);
    pauses.rows[0].stops = pauses.rows[0].resumes = {{Instant{1}, 1, FrameIndex{1}}};
    return inksOf(congestionPlot(congestion, pauses, std::move(flows), someThroughput()));
}

struct DrawnView {
    const char* name;
    Inks inks;
};

std::vector<DrawnView> views() {
    using enum Ink;
    return {{"PSN over time", ofPsns()},
            {"throughput", ofThroughput()},
            {"latency", ofLatencies()},
            {"congestion", ofCongestion()},
            {"ladder", {Request, Response, Acknowledgment, Retransmission, NegativeAcknowledgment, Wait}},
            {"waits and pauses", {Wait, Pause}},  // neither is on the other's picture, but beside it in the packet list
            {"notifications", {Notification, NegativeAcknowledgment}}};
}

}  // namespace

TEST_CASE("the formula of colour differences says what its authors say") {
    // From the table of Sharma, Wu and Dalal.
    CHECK(difference({50, 2.6772, -79.7751}, {50, 0, -82.7485}) == Approx(2.0425).margin(1e-4));
    CHECK(difference({50, 2.5, 0}, {73, 25, -18}) == Approx(27.1492).margin(1e-4));
    CHECK(difference({2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}) == Approx(0.9082).margin(1e-4));
    CHECK(difference({50, 2.5, 0}, {50, 0, -2.5}) == Approx(4.3065).margin(1e-4));
}

TEST_CASE("colours that mean different things in a view are told apart, whatever colours one sees") {
    needApplication();
    const Theme theme = GENERATE(Theme::Light, Theme::Dark);
    const QPalette palette = paletteOf(theme);
    for (const DrawnView& view : views()) {
        REQUIRE(view.inks.size() >= 2);
        for (const Vision& vision : kVisions)
            for (auto one = view.inks.begin(); one != view.inks.end(); ++one)
                for (auto two = std::next(one); two != view.inks.end(); ++two) {
                    const auto seen = [&](Ink ink) { return lab(through(vision.matrix, linear(color(ink, palette)))); };
                    INFO(view.name << ", " << vision.name << ", " << name(theme).toStdString() << ": inks "
                                   << static_cast<int>(*one) << " and " << static_cast<int>(*two));
                    CHECK(difference(seen(*one), seen(*two)) >= kFarEnough);
                }
    }
}

TEST_CASE("what pictures draw stands out from the ground of both themes") {
    needApplication();
    const QPalette palette = paletteOf(GENERATE(Theme::Light, Theme::Dark));
    for (int ink = 0; ink <= static_cast<int>(Ink::Other); ++ink) {
        CAPTURE(ink);
        CHECK(contrast(color(static_cast<Ink>(ink), palette), palette.color(QPalette::Base)) >= kSeen);
    }
}

TEST_CASE("boxes, fields and buttons of both themes have a border that is seen, enabled or not") {
    needApplication();
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        use(theme);
        QWidget window;
        QVBoxLayout column(&window);
        std::vector<QWidget*> controls{new QCheckBox, new QRadioButton, new QLineEdit,
                                       new QComboBox, new QSpinBox,     new QPushButton(QStringLiteral("OK"))};
        for (QWidget* each : controls) column.addWidget(each);
        window.show();
        QApplication::processEvents();
        const QImage image = window.grab().toImage();
        const QColor ground = QApplication::palette().color(QPalette::Window);
        for (const QWidget* each : controls) {
            CAPTURE(name(theme).toStdString(), each->metaObject()->className());
            // From the left into its middle: the first that differs is the border.
            double best = 1;
            const int y = each->geometry().center().y();
            for (int x = each->geometry().left(); x < each->geometry().left() + 6; ++x)
                best = std::max(best, contrast(image.pixelColor(x, y), ground));
            CHECK(best >= kSeen);
        }
    }
    use(Theme::Desktop);
}

TEST_CASE("controls of both themes can be seen: borders of fields and boxes, and what is selected") {
    needApplication();
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        const QPalette palette = paletteOf(theme);
        CAPTURE(name(theme).toStdString());
        CHECK(contrast(palette.color(QPalette::Highlight), palette.color(QPalette::Base)) >= kSeen);
        CHECK(contrast(palette.color(QPalette::Highlight), palette.color(QPalette::Window)) >= kSeen);
        CHECK(contrast(palette.color(QPalette::PlaceholderText), palette.color(QPalette::Window)) >= 4.5);
        CHECK(contrast(palette.color(QPalette::Disabled, QPalette::ButtonText), palette.color(QPalette::Button)) >=
              kSeen);
    }
}

TEST_CASE("what messages carried can be read in both themes, of either end") {
    needApplication();
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        use(theme);
        TextLines lines(QStringLiteral("Payload"));
        lines.setLines(
            {{QStringLiteral("00"), 0, qps::transport::End::a}, {QStringLiteral("01"), 0, qps::transport::End::b}});
        for (int row = 0; row < 2; ++row) {
            CAPTURE(name(theme).toStdString(), row);
            const auto ink = lines.model()->index(row, 0).data(Qt::ForegroundRole).value<QColor>();
            CHECK(contrast(ink, lines.palette().color(QPalette::Base)) >= 4.5);
        }
    }
    use(Theme::Desktop);
}
