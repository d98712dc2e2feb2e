// The models of the tables keep Qt's contract while they are sorted, narrowed, searched and replaced, and show what the
// core says.
#include <dissect/filter/filter.hpp>
#include <gui/tables/cm_model.hpp>
#include <gui/tables/connection_model.hpp>
#include <gui/tables/finding_model.hpp>
#include <gui/tables/message_model.hpp>
#include <gui/tables/operation_model.hpp>
#include <gui/tables/table_text.hpp>
#include <tests/gui/application.hpp>
#include <tests/gui/sample.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QAbstractItemModelTester>
#include <QPersistentModelIndex>
#include <cstdlib>
#include <numeric>

using namespace qps;
using namespace qps::gui;
using namespace qps::gui::tests;
using namespace qps::transport;

namespace {

std::string allText(const TableModel& model) {
    std::vector<int> rows(static_cast<std::size_t>(model.rowCount()));
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<int> columns(static_cast<std::size_t>(model.columnCount()));
    std::iota(columns.begin(), columns.end(), 0);
    return tableText(model, rows, columns, TextFormat::Tsv).toStdString();
}

std::vector<TableModel::Row> order(const TableModel& model) {
    std::vector<TableModel::Row> rows;
    for (int row = 0; row < model.rowCount(); ++row) rows.push_back(model.sourceOf(model.index(row, 0)));
    return rows;
}
using RowOrder = std::vector<TableModel::Row>;

int columnOf(const TableModel& model, const char* name) {
    for (int column = 0; column < model.columnCount(); ++column)
        if (model.columnName(column) == QLatin1String(name)) return column;
    FAIL("no column " << name);
    return -1;
}

// Three connections of 10, 30 and 20 packets of end a.
std::shared_ptr<Timeline> three() {
    auto timeline = std::make_shared<Timeline>(qps::tests::healthy());
    qps::tests::add_connection(*timeline, 1, 9);
    qps::tests::add_connection(*timeline, 1, 10);
    timeline->connections[0].ways[0].packets = 10;
    timeline->connections[1].ways[0].packets = 30;
    timeline->connections[2].ways[0].packets = 20;
    return timeline;
}

void checkGolden(TableModel& model, const char* name) {
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    qps::tests::check_golden(std::string("gui/golden/") + name, allText(model));
    for (int column = 0; column < model.columnCount(); ++column) {
        CAPTURE(column);
        RowOrder before = order(model);
        model.sort(column, Qt::DescendingOrder);
        RowOrder after = order(model);
        std::ranges::sort(before);
        std::ranges::sort(after);
        CHECK(before == after);
    }
}

}  // namespace

TEST_CASE("connections of a capture as a table") {
    needApplication();
    ConnectionModel model;
    model.setTimeline(readSample("loss_write").timeline);
    checkGolden(model, "connections.txt");
}

TEST_CASE("messages of a capture as a table") {
    needApplication();
    MessageModel model;
    const char* capture = GENERATE("loss_write", "atomic_cas", "err_bad_rkey", "write_bidir_cm");
    const ReadSample read = readSample(capture);
    model.setIndex(read.index);
    model.setTimeline(read.timeline);
    checkGolden(model, (std::string("messages_") + capture + ".txt").c_str());
}

TEST_CASE("operations of a capture as a table, a packet leads to its operation") {
    needApplication();
    OperationModel model;
    const ReadSample read = readSample("nvme_rdma");
    model.setIndex(read.index);
    model.setTimeline(read.timeline);
    checkGolden(model, "operations_nvme_rdma.txt");
    REQUIRE(model.sources() > 50);
    for (TableModel::Row row = 0; row < model.sources(); ++row) {
        const RowPlace place = model.place(row);
        CHECK(place.first <= place.last);
        CHECK(model.rowOfPacket(place.first) == row);
        CHECK(qps::dissect::Filter::compile(model.filter(row).toStdString()).has_value());
    }
}

TEST_CASE("findings of a capture as a table") {
    needApplication();
    FindingModel model;
    const ReadSample read = readSample("loss_write");
    model.setTimeline(read.timeline, read.index);
    checkGolden(model, "findings.txt");
}

TEST_CASE("connection attempts of a capture as a table") {
    needApplication();
    CmModel model;
    model.setTimeline(readSample("cm_reject_noport").timeline);
    checkGolden(model, "cm.txt");
}

TEST_CASE("sorting moves selections with their rows, and column -1 brings back the order of the capture") {
    needApplication();
    ConnectionModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setTimeline(three());
    const QPersistentModelIndex chosen = model.index(1, 0);
    model.sort(columnOf(model, "packets"), Qt::DescendingOrder);
    CHECK(order(model) == RowOrder{1, 2, 0});
    CHECK(chosen.row() == 0);
    model.sort(columnOf(model, "endpoints"), Qt::AscendingOrder);
    CHECK(order(model) == RowOrder{0, 1, 2});  // 10.0.0.10 behind 10.0.0.9
    model.sort(columnOf(model, "packets"));
    CHECK(order(model) == RowOrder{0, 2, 1});
    model.sort(-1);
    CHECK(order(model) == RowOrder{0, 1, 2});
    CHECK(chosen.row() == 1);
}

TEST_CASE("a limit and a search narrow what is shown, in its order, and a selection of a row that stays stays") {
    needApplication();
    ConnectionModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setTimeline(three());
    model.sort(columnOf(model, "packets"), Qt::DescendingOrder);
    const QPersistentModelIndex chosen = model.index(2, 0);  // connection 1
    const QPersistentModelIndex other = model.index(0, 0);   // connection 2
    model.setLimit([](TableModel::Row row) { return row != 1; });
    CHECK(order(model) == RowOrder{2, 0});
    CHECK(chosen.row() == 1);
    CHECK_FALSE(other.isValid());
    model.setSearch(QStringLiteral("10.0.0.9"));
    model.finishSearch();
    CHECK(model.rowCount() == 0);
    model.setLimit({});
    model.finishSearch();
    CHECK(order(model) == RowOrder{1});
    model.setSearch({});
    CHECK(order(model) == RowOrder{1, 2, 0});
    CHECK(model.rowOf(2) == 1);
}

TEST_CASE("a newer timeline keeps rows and selection, another capture begins anew") {
    needApplication();
    ConnectionModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const auto timeline = three();
    model.setTimeline(timeline);
    const QPersistentModelIndex chosen = model.index(2, 0);
    auto newer = std::make_shared<Timeline>(*timeline);
    qps::tests::add_connection(*newer, 3, 4);
    newer->connections[2].ways[0].packets = 5000;
    model.setTimeline(newer);
    CHECK(model.rowCount() == 4);
    CHECK(chosen.row() == 2);
    CHECK(model.index(2, columnOf(model, "packets")).data().toString().contains(QLatin1String("5200")));
    model.setTimeline(timeline, true);
    CHECK(model.rowCount() == 3);
    CHECK_FALSE(chosen.isValid());
}

TEST_CASE("a packet finds the message that it belongs to") {
    const ReadSample read = readSample("loss_write");
    MessageModel model;
    model.setIndex(read.index);
    model.setTimeline(read.timeline);
    REQUIRE(model.sources() > 1);
    for (TableModel::Row row = 0; row < model.sources(); ++row) {
        CAPTURE(row);
        CHECK(model.rowOfPacket(model.place(row).first) == row);
    }
    CHECK_FALSE(model.rowOfPacket(dissect::FrameIndex{}).has_value());
    CHECK_FALSE(model.rowOfPacket(dissect::FrameIndex{1'000'000}).has_value());
}

TEST_CASE("a million messages are sorted by any column while nobody waits long") {
    needApplication();
    constexpr std::uint32_t kMessages = 1'000'000;
    auto index = std::make_shared<CaptureIndex>();
    Observation request;
    request.kind = ObservationKind::transport;
    Message message;
    message.outcome = Outcome::completed;
    for (std::uint32_t at = 1; at <= kMessages; ++at) {
        request.time = dissect::Instant{at * 1000};
        request.psn = dissect::Psn(at);
        PacketRecord record;
        record.connection = ConnectionId{1 + at % 500};
        index->packets.append(PacketRow(0, at, request, record));
        message.first_frame = message.last_frame = dissect::FrameIndex{at};
        message.bytes = at * 2654435761U % 65536;
        index->messages.append(MessageRow(*record.connection, End::a, message));
    }
    auto timeline = std::make_shared<Timeline>(qps::tests::healthy());
    for (unsigned at = 0; at < 499; ++at) qps::tests::add_connection(*timeline, at % 200, at % 7);
    MessageModel model;
    model.setIndex(index);
    model.setTimeline(timeline);
    for (const char* column : {"bytes", "from", "time", "latency", "when"}) {
        const auto start = processorTime();
        model.sort(columnOf(model, column), Qt::DescendingOrder);
        const std::chrono::duration<double> took = processorTime() - start;
        CAPTURE(column, took.count());
        CHECK(took.count() < 10);  // of computing, whatever else runs; some tenths optimised
        if (std::getenv("QPSCOPE_TIMES") != nullptr) WARN(column << ": " << took.count() << " s");
    }
    CHECK(model.sourceOf(model.index(0, 0)) == kMessages - 1);
}
