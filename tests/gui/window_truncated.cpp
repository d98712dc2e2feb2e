// The window and a file that somebody truncates, while it is read and afterwards: what is there stays, what is gone is
// said with its offset, and nothing ends the program.
#include <gui/window/views.hpp>
#include <tests/gui/window.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QFile>
#include <QToolButton>
#include <filesystem>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

constexpr qint64 kHeader = 24;  // of a pcap file

// The packets of a sample, so many times over.
QString writtenCopies(const QTemporaryDir& folder, const std::string& sample, int copies) {
    QFile from(QString::fromStdString(sampleFile(sample)));
    REQUIRE(from.open(QIODevice::ReadOnly));
    const QByteArray bytes = from.readAll();
    QFile file(folder.filePath(QStringLiteral("shrinks.pcap")));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write(bytes.left(kHeader));
    for (int i = 0; i < copies; ++i) file.write(bytes.mid(kHeader));
    return file.fileName();
}

std::uint64_t truncated(const QString& path, std::uint64_t to) {
    std::filesystem::resize_file(path.toStdString(), to);
    return to;
}

// What the button in the status line tells.
QString told(OpenWindow& opened) {
    const Answering answering;
    auto& button = opened.named<QToolButton>("Read error");
    REQUIRE(button.isVisible());
    QTest::mouseClick(&button, Qt::LeftButton);
    REQUIRE(answering.dialogs() == 1);
    return answering.said()[0];
}

QString atOffset(std::uint64_t offset) { return QStringLiteral("(at offset %L1)").arg(offset); }

void lookAtEverything(OpenWindow& opened) {
    for (const ViewRow& row : viewRows()) {
        REQUIRE(opened.window.showView(QString::fromUtf8(row.id)));
        QTest::qWait(50);
    }
    opened.window.showView(QStringLiteral("packets"));
}

}  // namespace

TEST_CASE("window: a file that is truncated while it is read is shown as far as it was there") {
    const QTemporaryDir folder;
    const QString path = writtenCopies(folder, "loss_read", 240);
    const std::uint64_t size = std::filesystem::file_size(path.toStdString());
    OpenWindow opened;
    opened.window.showView(QStringLiteral("packets"));
    opened.window.open({path});
    REQUIRE(QTest::qWaitFor([&] { return opened.session().packets() != 0; }, kPatience));
    REQUIRE(opened.session().busy());
    const std::uint64_t end = truncated(path, size / 2 + 1001);  // within a record and a page
    opened.settle();
    CHECK(opened.session().state() == Session::State::Done);
    CHECK(opened.session().isDamaged());
    REQUIRE(opened.session().problems().size() == 1);
    CHECK(opened.session().problems()[0] ==
          path + QStringLiteral(": the file was truncated while it was read ") + atOffset(end));
    CHECK(told(opened) == opened.session().problems()[0]);
    // No packet is made of what is no longer there: the last one is the last whole record.
    const std::uint64_t read = opened.session().packets();
    CHECK(opened.session().timeline()->quality.packets == read);
    opened.key(Qt::Key_End, Qt::ControlModifier);
    CHECK(opened.packet() == read);
    REQUIRE(opened.view<PacketsView>().panes().tree().packet() != nullptr);
    opened.window.open({path});  // what is there now, whole but for its last record
    opened.settle();
    CHECK(opened.session().packets() == read);
    CHECK(opened.session().problems().size() == 1);
}

TEST_CASE("window: a file that is truncated after it was read is told of, and what is left of it can be looked at") {
    const QTemporaryDir folder;
    const QString path = writtenCopies(folder, "loss_write", 1);
    const std::uint64_t size = std::filesystem::file_size(path.toStdString());
    OpenWindow opened;
    opened.open({path});
    const std::uint64_t packets = opened.session().packets();
    REQUIRE(packets > 100);
    REQUIRE(opened.session().problems().isEmpty());
    CHECK_FALSE(opened.named<QToolButton>("Read error").isVisible());
    const std::uint64_t end = truncated(path, GENERATE_COPY(size / 2, std::uint64_t{0}));
    REQUIRE(QTest::qWaitFor([&] { return !opened.session().problems().isEmpty(); }, kPatience));
    CHECK(opened.session().problems()[0] ==
          path + QStringLiteral(" was truncated after it was read ") + atOffset(end) +
              QStringLiteral(": packets behind that are in the analysis, but cannot be shown any more."));
    CHECK(told(opened) == opened.session().problems()[0]);
    CHECK_FALSE(opened.session().isDamaged());  // all of it was judged
    lookAtEverything(opened);
    CHECK(opened.session().packets() == packets);
    auto& panes = opened.view<PacketsView>().panes();
    opened.key(Qt::Key_End, Qt::ControlModifier);
    CHECK(opened.packet() == packets);
    CHECK(panes.tree().packet() == nullptr);
    CHECK(opened.said() == QStringLiteral("Packet %1 cannot be read: the file has changed or is gone").arg(packets));
    opened.key(Qt::Key_Home, Qt::ControlModifier);
    CHECK(opened.packet() == 1);
    CHECK((panes.tree().packet() != nullptr) == (end != 0));
    QTest::qWait(1200);
    CHECK(opened.session().problems().size() == 1);  // once
    // What is there now is another capture.
    if (end == 0) return;
    opened.key(Qt::Key_R, Qt::ControlModifier);
    opened.settle();
    CHECK(opened.session().packets() < packets);
    CHECK(opened.session().packets() > packets / 4);
    CHECK(opened.session().isDamaged());
}
