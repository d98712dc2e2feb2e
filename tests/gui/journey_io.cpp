// An I/O graph made by keys: its data, saved as CSV, is what the packets of the command line come to in each bin.
#include <gui/filter/filter_line.hpp>
#include <gui/pictures/io_picture.hpp>
#include <tests/gui/journey.hpp>

#include <QComboBox>
#include <QFile>
#include <algorithm>
#include <cmath>
#include <map>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::transport::series::Measure;

namespace {

using Bins = std::map<qint64, std::vector<double>>;  // values by the number of the bin

double comeTo(Measure measure, std::vector<double> values, double seconds) {
    double sum = 0;
    for (const double value : values) sum += value;
    std::ranges::sort(values);
    switch (measure) {
        case Measure::packets:
        case Measure::count: return static_cast<double>(values.size());
        case Measure::bytes:
        case Measure::sum: return sum;
        case Measure::bits_per_second: return sum * 8 / seconds;
        case Measure::average: return sum / static_cast<double>(values.size());
        case Measure::minimum: return values.front();
        case Measure::maximum: return values.back();
        case Measure::p99: return values[(values.size() * 99 + 99) / 100 - 1];
    }
    return 0;
}

QString heardDescription(QWidget& widget) {
    return QAccessible::queryAccessibleInterface(&widget)->text(QAccessible::Description);
}

struct Graph : Journey {
    explicit Graph(const std::string& sample) : Journey({sample}) {
        goTo("I/O graph");
        settled();
    }
    IoPicture& picture() { return view<IoPicture>(); }
    void settled() {
        REQUIRE(soon([this] { return picture().settled(); }));
    }
    template <class Part> Part& called(const QString& name) {
        for (Part* each : picture().findChildren<Part*>())
            if (each->accessibleName() == name && each->isVisible()) return *each;
        FAIL("nothing is called " << name.toStdString());
        return *picture().findChild<Part*>();
    }
    void choose(QComboBox& box, int index) {
        box.setFocus();
        key(Qt::Key_Home);
        for (int step = 0; step < index; ++step) key(Qt::Key_Down);
        REQUIRE(box.currentIndex() == index);
    }
    void fill(QLineEdit& line, const QString& text) {
        line.setFocus();
        line.selectAll();
        QTest::keyClick(&line, Qt::Key_Delete);
        QTest::keyClicks(&line, text);
        QTest::keyClick(&line, Qt::Key_Escape);  // what is offered
        QTest::keyClick(&line, Qt::Key_Return);
        QApplication::processEvents();
    }
    // The first series, and no other.
    void onlySeries(Measure measure, const QString& field, const QString& filter) {
        while (picture().seriesList().wishes().size() > 1)
            QTest::mouseClick(&called<QAbstractButton>(words("Remove series 2")), Qt::LeftButton);
        choose(called<QComboBox>(words("What of series 1")), static_cast<int>(measure));
        if (!field.isEmpty()) fill(called<QLineEdit>(words("Field of series 1")), field);
        fill(called<FilterLine>(words("Filter of series 1")), filter);
        REQUIRE(
            picture().seriesList().wishes().front() ==
            SeriesWish{true, measure, field.isEmpty() ? picture().seriesList().wishes().front().field : field, filter});
        QTest::qWait(100);
        settled();
    }
    // Of its only series, by bin.
    std::map<qint64, double> data(double seconds) {
        const QTemporaryDir folder;
        const QString path = folder.filePath(words("io.csv"));
        picture().plot().setFocus();
        chooseFile(path, [&] { key(Qt::Key_P, Qt::ControlModifier); });
        QFile file(path);
        REQUIRE(file.open(QIODevice::ReadOnly));
        QStringList lines = QString::fromUtf8(file.readAll()).split(words("\r\n"), Qt::SkipEmptyParts);
        REQUIRE(lines.size() > 1);
        const QStringList names = lines.takeFirst().split(QLatin1Char(','));
        const qsizetype time = names.indexOf(words("time_s")), value = names.indexOf(words("value"));
        REQUIRE(time >= 0);
        REQUIRE(value >= 0);
        std::map<qint64, double> bins;
        for (const QString& line : lines) {
            const QStringList cells = line.split(QLatin1Char(','));
            bins[std::llround(cells[time].toDouble() / seconds)] = cells[value].toDouble();
        }
        return bins;
    }
    Bins told(const QString& field, const QString& filter, double seconds) {
        QStringList arguments{words("packets"), words("-e"), words("frame.time_relative"), words("-e"), field};
        if (!filter.isEmpty()) arguments << words("-Y") << filter;
        Bins bins;
        for (const CommandRow& packet : command(arguments)) {
            bool isNumber = false;
            const double value = packet[field].toDouble(&isNumber);
            if (isNumber)
                bins[static_cast<qint64>(std::floor(packet[words("frame.time_relative")].toDouble() / seconds + 1e-9))]
                    .push_back(value);
        }
        return bins;
    }
};

struct Asked {
    Measure measure;
    const char* field;
    const char* filter;
};

}  // namespace

TEST_CASE("journey: an I/O graph of any field, by figures of the command line", "[.journey]") {
    constexpr double kWidth = 0.001;
    Graph window("loss_write");
    QComboBox& width = window.called<QComboBox>(words("Bin width"));
    window.choose(width, width.findData(1'000'000));
    const std::array kAsked{
        Asked{Measure::packets, "", ""},
        Asked{Measure::bytes, "", "rdma.retransmission"},
        Asked{Measure::bits_per_second, "", "infiniband.bth.opcode == 7"},
        Asked{Measure::count, "infiniband.aeth.msn", ""},
        Asked{Measure::sum, "frame.len", "ip.src == 10.77.0.11"},
        Asked{Measure::average, "frame.len", ""},
        Asked{Measure::minimum, "infiniband.bth.psn", ""},
        Asked{Measure::maximum, "infiniband.bth.psn", ""},
        Asked{Measure::p99, "frame.len", "frame.len > 70"},
    };
    for (const Asked& asked : kAsked) {
        CAPTURE(static_cast<int>(asked.measure), asked.field, asked.filter);
        window.onlySeries(asked.measure, words(asked.field), words(asked.filter));
        const auto shown = window.data(kWidth);
        const QString field = *asked.field != 0 ? words(asked.field) : words("frame.len");
        const Bins told = window.told(field, words(asked.filter), kWidth);
        const bool sumsUp = asked.measure <= Measure::sum;
        std::size_t compared = 0;
        for (const auto& [bin, values] : told) {
            CAPTURE(bin);
            REQUIRE(shown.contains(bin));
            CHECK(std::abs(shown.at(bin) - comeTo(asked.measure, values, kWidth)) <=
                  0.5);  // averages are drawn as whole numbers
            ++compared;
        }
        CHECK(compared > 3);
        if (!sumsUp) CHECK(shown.size() == told.size());
        for (const auto& [bin, value] : shown)
            if (!told.contains(bin) && bin <= told.rbegin()->first) CHECK(value == 0);
    }
    grab(window.window, QStringLiteral("journey_io_p99"));
}

TEST_CASE("journey: several series, kept for the next time, and what cannot be drawn is said", "[.journey]") {
    Graph window("loss_write");
    window.press("Add series");
    window.choose(window.called<QComboBox>(words("What of series 3")), static_cast<int>(Measure::p99));
    window.fill(window.called<QLineEdit>(words("Field of series 3")), words("frame.len"));
    window.press("Add series");
    window.choose(window.called<QComboBox>(words("What of series 4")), static_cast<int>(Measure::packets));
    window.fill(window.called<FilterLine>(words("Filter of series 4")), words("rdma.finding"));
    QTest::qWait(100);
    window.settled();
    const PlotData& data = window.picture().plot().data();
    std::size_t layers = 0;
    for (const Panel& panel : data.panels) layers += panel.layers.size();
    CHECK(layers == 4);
    CHECK(data.panels.size() == 3);  // a rate, counts, values
    grab(window.window, QStringLiteral("journey_io_several"));

    Graph again("loss_write");
    CHECK(again.picture().seriesList().wishes().size() == 2);  // settings of tests are their own
    again.onlySeries(Measure::maximum, words("no.such.field"), {});
    CHECK(again.picture().plot().data().empty());
    CHECK(heardDescription(again.picture().plot()).contains(words("no.such.field")));
    // What is wrong is said beside what is drawn.
    again.press("Add series");
    QTest::qWait(100);
    again.settled();
    REQUIRE(again.picture().plot().data().panels.size() == 1);
    CHECK(again.picture().plot().data().panels.front().subject.contains(words("no.such.field")));
    CHECK_FALSE(whyNot({true, Measure::maximum, words("ip.src"), {}}).isEmpty());
    CHECK(whyNot({true, Measure::maximum, words("frame.len"), {}}).isEmpty());
    grab(again.window, QStringLiteral("journey_io_wrong"));

    SeriesList list;
    list.restore(window.picture().seriesList().saved());
    CHECK(list.wishes() == window.picture().seriesList().wishes());
}
