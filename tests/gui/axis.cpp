// Axes: values on pixels and back; labels that never touch.
#include <gui/pictures/axis.hpp>
#include <tests/support/catch.hpp>

#include <QStringList>

using namespace qps::gui;

namespace {

// Letters of 8 pixels, and a distance of 10 to the next label.
double across(const QString& label) { return 8.0 * static_cast<double>(label.size()) + 10; }
double upright(const QString&) { return 18; }

QStringList labels(const auto& ticks) {
    QStringList list;
    for (const auto& tick : ticks)
        if (!tick.label.isEmpty()) list << tick.label;
    return list;
}

}  // namespace

TEST_CASE("times keep their nanosecond at any zoom") {
    const std::int64_t day = 86'400'000'000'000;
    const TimeScale scale{{200 * day, 200 * day + 1000}, 50, 1000};
    CHECK(scale.pixel(200 * day) == 50);
    CHECK(scale.pixel(200 * day + 1) == 51);
    CHECK(scale.time(551) == 200 * day + 501);
    CHECK(scale.time(1e300) == qps::dissect::kLongestTime);
    CHECK(scale.time(-1e300) == -qps::dissect::kLongestTime);
}

TEST_CASE("a logarithmic axis gives every decade the same height") {
    const ValueScale scale{{1, 1000}, true, 300, 300};
    CHECK(scale.pixel(1) == 300);
    CHECK(scale.pixel(10) == Approx(200));
    CHECK(scale.pixel(1000) == Approx(0));
    CHECK(scale.pixel(0) == 300);
    CHECK(scale.pixel(-5) == 300);
    CHECK(scale.value(200) == Approx(10));
}

TEST_CASE("the unit and the digits of times follow the zoom") {
    const auto texts = [](std::int64_t from, std::int64_t to) {
        return labels(timeTicks({{from, to}, 0, 1000}, across));
    };
    CHECK(texts(0, 10'000'000'000).contains(QStringLiteral("5.0 s")));
    CHECK(texts(0, 1'000'000).contains(QStringLiteral("0.5 ms")));
    CHECK(texts(0, 100'000).contains(QStringLiteral("50 us")));
    CHECK(texts(0, 100).contains(QStringLiteral("50 ns")));
    CHECK(texts(1'234'567'000, 1'234'567'100).contains(QStringLiteral("1.23456704 s")));
    CHECK(texts(-500'000, 500'000).contains(QStringLiteral("-200 us")));
}

TEST_CASE("labels of times never touch, nor leave the axis") {
    const double width = GENERATE(60.0, 200.0, 640.0, 3000.0);
    const std::int64_t from = GENERATE(0, 1, 999'999'999, 1'234'567'890'123, INT64_MAX - 2000);
    const std::int64_t length = GENERATE(10, 977, 1'000'000, 3'600'000'000'000, INT64_MAX);
    const TimeSpan span{from, qps::dissect::saturating::add(from, length)};
    const TimeScale scale{span, 100, width};
    double free = 99;
    for (const TimeTick& tick : timeTicks(scale, across)) {
        CAPTURE(width, from, length, tick.time, tick.label.toStdString());
        CHECK(span.contains(tick.time));
        if (tick.label.isEmpty()) continue;
        const double half = across(tick.label) / 2;
        CHECK(scale.pixel(tick.time) - half >= free - 1);
        free = scale.pixel(tick.time) + half;
        CHECK(free <= 100 + width + 1);
    }
}

TEST_CASE("bytes go by powers of 1024, rates by powers of ten") {
    const auto texts = [](double to, Quantity quantity) {
        return labels(valueTicks({{0, to}, false, 200, 200}, quantity, upright));
    };
    CHECK(texts(4.0 * 1024 * 1024, Quantity::Bytes).contains(QStringLiteral("2 MiB")));
    CHECK(texts(100e9, Quantity::BitRate).contains(QStringLiteral("60 Gbit/s")));
    CHECK(texts(1.2e9, Quantity::BitRate).contains(QStringLiteral("0.4 Gbit/s")));
    CHECK(texts(3, Quantity::Count) ==
          QStringList{QStringLiteral("0"), QStringLiteral("1"), QStringLiteral("2"), QStringLiteral("3")});
    CHECK(texts(1, Quantity::Count) ==
          QStringList{QStringLiteral("0"), QStringLiteral("1")});  // no halves of what is counted
}

TEST_CASE("labels of values keep apart, linear and logarithmic") {
    const double height = GENERATE(20.0, 90.0, 500.0);
    const bool logarithmic = GENERATE(false, true);
    const ValueSpan span =
        GENERATE(ValueSpan{1, 2}, ValueSpan{100, 1e10}, ValueSpan{1, 1e18}, ValueSpan{3e6, 3.0001e6});
    const ValueScale scale{span, logarithmic, 600, height};
    double free = 1e9;
    int labelled = 0;
    for (const ValueTick& tick : valueTicks(scale, Quantity::Duration, upright)) {
        CAPTURE(height, logarithmic, span.from, span.to, tick.value, tick.label.toStdString());
        CHECK(scale.pixel(tick.value) <= 601);
        CHECK(scale.pixel(tick.value) >= 599 - height);
        if (tick.label.isEmpty()) continue;
        ++labelled;
        CHECK(scale.pixel(tick.value) + 9 <= free + 1);
        free = scale.pixel(tick.value) - 9;
    }
    if (height > 80 && !logarithmic) CHECK(labelled >= 2);
}

TEST_CASE("a logarithmic axis of durations has its decades in words") {
    const QStringList texts = labels(valueTicks({{1000, 1e6}, true, 400, 400}, Quantity::Duration, upright));
    for (const char* wanted : {"1 us", "10 us", "100 us", "1 ms", "2 us"}) CHECK(texts.contains(QLatin1String(wanted)));
}

TEST_CASE("texts of single values") {
    CHECK(exactTimeText(0) == QStringLiteral("0 ns"));
    CHECK(exactTimeText(1'234'567'891) == QStringLiteral("1.234567891 s"));
    CHECK(exactTimeText(12'500) == QStringLiteral("12.5 us"));
    CHECK(exactTimeText(-12'500) == QStringLiteral("-12.5 us"));
    CHECK(exactTimeText(INT64_MIN) == QStringLiteral("-9223372036.854775808 s"));
    CHECK(valueText(1536, Quantity::Bytes) == QStringLiteral("1.5 KiB"));
    CHECK(valueText(98'765'432'100, Quantity::BitRate) == QStringLiteral("98.77 Gbit/s"));
    CHECK(valueText(12345678, Quantity::Count) == QStringLiteral("12345678"));
    CHECK(valueText(16777215, Quantity::Psn) == QStringLiteral("16777215"));
}
