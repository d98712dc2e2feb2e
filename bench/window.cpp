// The window, measured from inside, without a screen:  bench_window FILE [ROWS]
//
// Opens FILE as a user would and prints, a line each: when the first packets were painted, when all was read and
// analysed, memory of our own then, how long a filter on fields of the index takes and sorting does, a heat map of a
// thousand hosts, and repainting. ROWS (default 100 million): how long a page takes in a list of so many packets, those
// of FILE over and over.
#include <gui/hosts/heat_map.hpp>
#include <gui/packets/packet_list.hpp>
#include <gui/packets/packet_sorting.hpp>
#include <gui/packets/packets_view.hpp>
#include <gui/pictures/plot.hpp>
#include <gui/window/main_window.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QApplication>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QPainter>
#include <QPointer>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace qps::gui;
using qps::dissect::FrameIndex;

namespace {

double seconds(const QElapsedTimer& timer) { return static_cast<double>(timer.nsecsElapsed()) / 1e9; }

template <class Done> void until(Done done) {
    // The window itself wakes up 20 times a second while something goes on; this adds a look every 5 ms.
    QTimer look;
    look.start(5);
    while (!done()) QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
}

// Of this process, in MiB: what no file can give back.
double ownMemory() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "RssAnon:") {
            double kilobytes = 0;
            status >> kilobytes;
            return kilobytes / 1024;
        }
    return 0;
}

struct Spread {
    double median = 0;
    double worst = 0;
};
Spread spread(std::vector<double> values) {
    std::ranges::sort(values);
    return values.empty() ? Spread{} : Spread{values[values.size() / 2], values.back()};
}

// So many packets, those of an index over and over.
class Repeated : public PacketRows {
public:
    Repeated(std::shared_ptr<const qps::transport::CaptureIndex> index, std::uint64_t rows)
        : m_index(std::move(index)), m_reader(m_index), m_rows(rows) {}
    [[nodiscard]] std::uint64_t total() const override { return m_rows; }
    [[nodiscard]] qps::transport::PacketRow row(FrameIndex frame) const override { return m_index->row(real(frame)); }
    [[nodiscard]] std::uint64_t count() const override { return m_rows; }
    [[nodiscard]] FrameIndex frameAt(std::uint64_t position) const override { return FrameIndex{position + 1}; }
    [[nodiscard]] std::uint64_t positionOf(FrameIndex frame) const override { return std::to_underlying(frame) - 1; }
    [[nodiscard]] bool isShown(FrameIndex) const override { return true; }
    [[nodiscard]] const qps::transport::GrowingStore<qps::transport::MessageRow>* messages() const override {
        return nullptr;
    }
    [[nodiscard]] const qps::dissect::Packet* read(FrameIndex frame) override { return m_reader.read(real(frame)); }
    [[nodiscard]] std::unique_ptr<PacketRows> snapshot() const override {
        return std::make_unique<Repeated>(m_index, m_rows);
    }

private:
    [[nodiscard]] FrameIndex real(FrameIndex frame) const {
        return FrameIndex{(std::to_underlying(frame) - 1) % m_index->packets.size() + 1};
    }
    std::shared_ptr<const qps::transport::CaptureIndex> m_index;
    qps::transport::PacketReader m_reader;
    std::uint64_t m_rows;
};

// A page at random places, painted at once.
Spread scrolling(PacketList& list, std::uint64_t rows) {
    std::mt19937_64 random(1);
    std::vector<double> times;
    constexpr int kPages = 300;
    for (int i = 0; i < kPages; ++i) {
        QElapsedTimer timer;
        timer.start();
        list.scrollTo(random() % rows);
        list.viewport()->repaint();
        times.push_back(seconds(timer) * 1000);
    }
    return spread(times);
}

void filter(MainWindow& window, const char* name, const char* text) {
    QElapsedTimer timer;
    timer.start();
    if (!window.selection().applyFilter(QString::fromUtf8(text))) std::exit(2);
    until([&] { return !window.selection().filtering(); });
    std::printf("%s_s=%.4f hits=%llu\n", name, seconds(timer),
                static_cast<unsigned long long>(window.selection().shown()));
}

// By a column that the rows have, and by one whose texts are made of each packet.
void sorting(MainWindow& window, PacketList& list) {
    const std::vector<PacketColumn> columns = list.columns();
    for (const ColumnKind kind : {ColumnKind::Length, ColumnKind::Info}) {
        const auto column = std::ranges::find(columns, kind, &PacketColumn::kind);
        if (column == columns.end()) continue;
        PacketSorting sorting(window.session(), window.selection());
        bool refused = false;
        QObject::connect(&sorting, &PacketSorting::refused, [&] { refused = true; });
        QElapsedTimer timer;
        timer.start();
        sorting.sort(*column, false);
        until([&] { return sorting.order() != nullptr || refused; });
        std::printf("sort_%s_s=%.4f%s\n", kind == ColumnKind::Length ? "length" : "info", seconds(timer),
                    refused ? " refused" : "");
    }
}

// So many hosts, each of which sends to each.
void heatMap(int hosts) {
    HeatData heat;
    for (int i = 0; i < hosts; ++i) heat.names << QStringLiteral("10.0.%1.%2").arg(i / 256).arg(i % 256);
    heat.cells.reserve(static_cast<std::size_t>(hosts) * static_cast<std::size_t>(hosts));
    for (int row = 0; row < hosts; ++row)
        for (int column = 0; column < hosts; ++column)
            if (row != column)
                heat.cells.push_back({column, row, static_cast<double>((row * 7919 + column * 104'729) % 1'000'003)});
    HeatMap map;
    map.resize(1200, 900);
    map.setVisible(true);  // its own show() takes data
    QElapsedTimer timer;
    timer.start();
    map.show(std::move(heat), [](int, int) { return QString(); }, [](double value) { return QString::number(value); });
    QImage image(map.size(), QImage::Format_ARGB32_Premultiplied);
    map.render(&image);  // nobody sees the window, so repaint() would do nothing
    const double first = seconds(timer) * 1000;
    std::vector<double> times;
    for (int i = 0; i < 30; ++i) {
        QKeyEvent key(QEvent::KeyPress, i % 2 == 0 ? Qt::Key_Plus : Qt::Key_Minus, Qt::NoModifier, QStringLiteral("+"));
        QElapsedTimer each;
        each.start();
        QApplication::sendEvent(&map, &key);
        map.render(&image);
        times.push_back(seconds(each) * 1000);
    }
    const Spread spent = spread(times);
    std::printf("heat_map_first_ms=%.3f heat_map_ms=%.3f heat_map_worst_ms=%.3f hosts=%d\n", first, spent.median,
                spent.worst, hosts);
}

// The same work without a window, for comparison.
double indexed(const std::string& file) {
    qps::transport::CaptureIndex index;
    QElapsedTimer timer;
    timer.start();
    const auto jobs = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
    static_cast<void>(qps::transport::build_index(index, {.files = {file}, .jobs = {jobs}, .spool_folder = {}}, {}));
    return seconds(timer);
}

// Each picture of the largest connection, drawn anew.
void pictures(MainWindow& window) {
    const auto& connections = window.session().timeline()->connections;
    if (connections.empty()) return;
    const auto largest = std::ranges::max_element(connections, {}, [](const auto& each) { return each.packets(); });
    window.selection().selectConnection(largest->uid);
    for (const char* view : {"psn", "throughput", "latency", "congestion"}) {
        QElapsedTimer timer;
        timer.start();
        window.showView(QString::fromLatin1(view));
        QPointer<Plot> plot;
        for (Plot* each : window.findChildren<Plot*>())
            if (each->isVisible()) plot = each;
        if (plot.isNull()) continue;
        until([&] { return !plot->data().panels.empty() || timer.elapsed() > 10'000; });
        if (plot->data().panels.empty()) continue;  // this capture has none of it
        const double computed = seconds(timer);
        std::vector<double> times;
        for (int i = 0; i < 50; ++i) {
            QImage image(plot->size(), QImage::Format_ARGB32_Premultiplied);
            QPainter painter(&image);
            QElapsedTimer each;
            each.start();
            plot->render(painter, image.rect(), 1, plot->palette());  // not repaint(), which has the picture ready
            times.push_back(seconds(each) * 1000);
        }
        const Spread spent = spread(times);
        std::printf("picture=%s computed_s=%.3f repaint_ms=%.3f worst_ms=%.3f\n", view, computed, spent.median,
                    spent.worst);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return std::fputs("usage: bench_window FILE [ROWS]\n", stderr), 2;
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    const QTemporaryDir settings;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    QCoreApplication::setOrganizationName(QStringLiteral("qpscope-bench"));
    const std::uint64_t rows = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100'000'000;

    std::printf("index_s=%.4f\n", indexed(argv[1]));
    MainWindow window;
    window.resize(1600, 1000);
    window.show();
    window.showView(QStringLiteral("packets"));
    until([&] { return window.isVisible(); });
    const double before = ownMemory();

    QElapsedTimer timer;
    timer.start();
    window.open({QString::fromLocal8Bit(argv[1])});
    auto& list = *window.findChild<PacketList*>();
    until([&] { return window.session().packets() != 0 || !window.session().busy(); });
    list.viewport()->repaint();
    std::printf("first_packets_ms=%.1f\n", seconds(timer) * 1000);
    until([&] { return !window.session().busy(); });
    const double all = seconds(timer);
    const auto packets = static_cast<double>(window.session().packets());
    std::printf("packets=%.0f all_s=%.4f\n", packets, all);
    std::printf("own_mib=%.1f before_mib=%.1f bytes_a_packet=%.1f\n", ownMemory(), before,
                (ownMemory() - before) * 1024 * 1024 / packets);

    filter(window, "filter_index", "rdma.retransmission or infiniband.aeth.syndrome.opcode == NAK");
    filter(window, "filter_packets", "infiniband.reth.dmalen > 1000");
    static_cast<void>(window.selection().applyFilter({}));

    sorting(window, list);
    heatMap(1000);
    const Spread here = scrolling(list, window.session().packets());
    std::printf("near_ms=%.3f near_worst_ms=%.3f\n", here.median, here.worst);
    Repeated repeated(window.session().index(), rows);
    list.setRows(&repeated);
    const Spread many = scrolling(list, rows);
    std::printf("far_ms=%.3f far_worst_ms=%.3f rows=%llu\n", many.median, many.worst,
                static_cast<unsigned long long>(rows));
    pictures(window);
    std::fflush(stdout);
    std::_Exit(0);  // the list still knows `repeated`
}
