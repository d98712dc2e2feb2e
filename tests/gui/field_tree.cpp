// The fields of a packet as a tree, and its bytes: text, keys, what is remembered, and the way from a field to its
// bytes and back.
#include <dissect/filter/filter.hpp>
#include <gui/packets/bytes_view.hpp>
#include <gui/packets/field_tree.hpp>
#include <tests/gui/application.hpp>
#include <tests/gui/pictures.hpp>
#include <tests/gui/sample_rows.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/packets.hpp>

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;

namespace {

SharedPacket packetOf(SampleRows& rows, std::uint64_t number) {
    return std::make_shared<OwnedPacket>(*rows.read(FrameIndex{number}));
}

// The first packet of a sample that has a field or header of that name.
SharedPacket packetWith(SampleRows& rows, const char* filter) {
    const auto compiled = qps::dissect::Filter::compile(filter);
    REQUIRE(compiled.has_value());
    for (std::uint64_t i = 1; i <= rows.total(); ++i)
        if (compiled->matches(*rows.read(FrameIndex{i}))) return packetOf(rows, i);
    FAIL("no packet has " << filter);
    return nullptr;
}

void appendLines(QString& text, const FieldModel& model, const QModelIndex& parent, int depth) {
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex index = model.index(row, 0, parent);
        text += QString(4 * depth, QLatin1Char(' ')) + index.data().toString() + QStringLiteral(": ") +
                index.siblingAtColumn(1).data().toString() + QLatin1Char('\n');
        appendLines(text, model, index, depth + 1);
    }
}

bool select(FieldTree& tree, const char* field) {
    const auto& lines = tree.packet()->lines();
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (lines[i].field != nullptr && lines[i].field->name == field) {
            tree.setCurrentIndex(tree.fields().indexOf(i));
            return true;
        }
    return false;
}

struct Both {
    Both() {
        QObject::connect(&tree, &FieldTree::lineChanged, &bytes,
                         [this] { bytes.setHighlight(tree.currentSpan(), tree.layerSpan()); });
        QObject::connect(&bytes, &BytesView::byteSelected, &tree, [this] { tree.selectByte(*bytes.currentByte()); });
    }
    void show(const SharedPacket& packet) {
        bytes.setPacket(packet);
        tree.setPacket(packet);
    }
    struct Application {
        Application() { needApplication(); }
    } application;
    FieldTree tree;
    BytesView bytes;
};

}  // namespace

TEST_CASE("the model of the fields is a model, of any packet") {
    needApplication();
    const char* sample = GENERATE("write_bidir_cm", "tunnels", "wrong");
    SampleRows rows(loadSample(sample));
    FieldModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    CHECK(model.rowCount() == 0);
    for (std::uint64_t i = 1; i <= rows.total(); ++i) {
        model.setPacket(packetOf(rows, i));
        CHECK(model.rowCount() == model.packet()->packet().layer_count);
        const auto& lines = model.packet()->lines();
        for (std::size_t at = 0; at < lines.size(); ++at) {
            REQUIRE(model.line(model.indexOf(at)) == &lines[at]);
            for (const QChar c : model.indexOf(at, FieldModel::Words).data().toString()) REQUIRE(c.unicode() >= 0x20);
        }
    }
    model.setPacket(nullptr);
    CHECK(model.rowCount() == 0);
}

TEST_CASE("the tree says what stands in the packet") {
    needApplication();
    SampleRows rows(loadSample("write_8k"));
    FieldModel model;
    model.setPacket(packetWith(rows, "infiniband.reth"));
    QString text;
    appendLines(text, model, {}, 0);
    qps::tests::check_golden("gui/golden/tree_write.txt", text.toStdString());
}

TEST_CASE("keys open and close the tree, and the next packet is open where this one was") {
    Both both;
    SampleRows rows(loadSample("write_8k"));
    both.show(packetWith(rows, "infiniband.reth"));
    FieldTree& tree = both.tree;
    const auto heading = [&](const char* title) {
        for (int row = 0; row < tree.fields().rowCount(); ++row)
            if (const QModelIndex index = tree.fields().index(row, 0); index.data().toString() == QLatin1String(title))
                return index;
        return QModelIndex();
    };
    const char* const kBth = "Base Transport Header";
    REQUIRE(heading(kBth).isValid());
    CHECK(tree.isExpanded(heading(kBth)));  // what matters is open at first
    CHECK(tree.isExpanded(heading("RDMA Extended Transport Header")));
    CHECK_FALSE(tree.isExpanded(heading("Ethernet")));
    tree.setCurrentIndex(heading(kBth));
    QTest::keyClick(&tree, Qt::Key_Left);
    CHECK_FALSE(tree.isExpanded(heading(kBth)));
    QTest::keyClick(&tree, Qt::Key_Right);
    CHECK(tree.isExpanded(heading(kBth)));
    REQUIRE(select(tree, "infiniband.bth.psn"));
    QTest::keyClick(&tree, Qt::Key_Backspace);
    CHECK(tree.currentIndex() == heading(kBth));
    REQUIRE(select(tree, "infiniband.bth.psn"));

    both.show(packetWith(rows, "infiniband.aeth"));
    CHECK(tree.isExpanded(heading(kBth)));
    CHECK_FALSE(tree.isExpanded(tree.fields().index(0, 0)));
    CHECK(tree.fieldName() == QStringLiteral("infiniband.bth.psn"));

    QTest::keyClick(&tree, Qt::Key_Right, Qt::ControlModifier);
    CHECK(tree.isExpanded(tree.fields().index(0, 0)));
    QTest::keyClick(&tree, Qt::Key_Left, Qt::ControlModifier);
    CHECK_FALSE(tree.isExpanded(heading(kBth)));
    tree.setCurrentIndex(heading("Ethernet"));
    QTest::keyClick(&tree, Qt::Key_Right, Qt::ShiftModifier);
    CHECK(tree.isExpanded(heading("Ethernet")));
    CHECK_FALSE(tree.isExpanded(heading(kBth)));
    both.show(nullptr);
    CHECK(tree.fieldName().isEmpty());
}

TEST_CASE("every line of a packet marks its bytes, and every byte finds the line that explains it") {
    Both both;
    SampleRows rows(loadSample("tunnels"));
    for (std::uint64_t i = 1; i <= rows.total(); ++i) {
        const SharedPacket packet = packetOf(rows, i);
        both.show(packet);
        for (std::size_t at = 0; at < packet->lines().size(); ++at) {
            both.tree.setCurrentIndex(both.tree.fields().indexOf(at));
            REQUIRE(both.bytes.highlight() == packet->lines()[at].span);
            if (packet->lines()[at].span.length > 0) {
                REQUIRE(both.bytes.currentByte());
                REQUIRE(packet->lines()[at].span.covers(*both.bytes.currentByte()));
            }
        }
        for (std::size_t byte = 0; byte < packet->bytes().size(); byte += 5) {
            QTest::mousePress(both.bytes.viewport(), Qt::LeftButton, Qt::NoModifier, both.bytes.hexRect(byte).center());
            if (both.bytes.currentByte() != byte) continue;  // out of sight
            const auto line = qps::dissect::line_at(packet->lines(), byte);
            REQUIRE(both.tree.fields().number(both.tree.currentIndex()) == line);
            REQUIRE(both.bytes.highlight().covers(byte));
        }
    }
}

TEST_CASE("keys go through the bytes, and the tree goes along") {
    Both both;
    SampleRows rows(loadSample("write_8k"));
    const SharedPacket packet = packetWith(rows, "infiniband.reth");
    both.bytes.resize(900, 8 * both.bytes.fontMetrics().height());
    both.bytes.show();
    both.show(packet);
    const auto* bth = qps::dissect::find(packet->packet(), qps::dissect::LayerKind::bth);
    REQUIRE(bth != nullptr);
    REQUIRE(select(both.tree, "infiniband.bth.psn"));
    CHECK(both.bytes.currentByte() == bth->offset + 9U);
    CHECK(both.tree.placeText() ==
          QStringLiteral("infiniband.bth.psn: bytes %1 to %2 (3 bytes)").arg(bth->offset + 9).arg(bth->offset + 11));
    QTest::keyClick(&both.bytes, Qt::Key_Right);
    CHECK(both.bytes.currentByte() == bth->offset + 10U);
    CHECK(both.tree.fieldName() == QStringLiteral("infiniband.bth.psn"));
    QTest::keyClick(&both.bytes, Qt::Key_Left);
    QTest::keyClick(&both.bytes, Qt::Key_Left);
    CHECK(both.bytes.currentByte() == bth->offset + 8U);
    CHECK(both.tree.fieldName() != QStringLiteral("infiniband.bth.psn"));
    REQUIRE(select(both.tree, "infiniband.bth.a"));
    CHECK(both.tree.placeText() ==
          QStringLiteral("infiniband.bth.a: byte %1, bit 0 (bit 0 is the MSB)").arg(bth->offset + 8));
    QTest::keyClick(&both.bytes, Qt::Key_End, Qt::ControlModifier);
    CHECK(both.bytes.currentByte() == packet->bytes().size() - 1);
    CHECK(both.bytes.viewport()->rect().contains(both.bytes.hexRect(packet->bytes().size() - 1).center()));
    QTest::keyClick(&both.bytes, Qt::Key_Home, Qt::ControlModifier);
    CHECK(both.bytes.currentByte() == 0U);
    QTest::keyClick(&both.bytes, Qt::Key_Down);
    CHECK(both.bytes.currentByte() == 16U);
    QTest::keyClick(&both.bytes, Qt::Key_Up);
    QTest::keyClick(&both.bytes, Qt::Key_Up);
    CHECK(both.bytes.currentByte() == 0U);
}

TEST_CASE("lines and bytes are copied in the form one asks for") {
    Both both;
    SampleRows rows(loadSample("write_8k"));
    const SharedPacket packet = packetWith(rows, "infiniband.reth");
    both.show(packet);
    REQUIRE(select(both.tree, "infiniband.bth.psn"));
    const std::string psn = std::to_string(packet->packet().psn.value());
    CHECK(both.tree.copied(FieldTree::CopyForm::Value).toStdString() == psn);
    CHECK(both.tree.copied(FieldTree::CopyForm::Filter).toStdString() == "infiniband.bth.psn == " + psn);
    CHECK(both.tree.copied(FieldTree::CopyForm::Bytes) == both.bytes.copied(BytesForm::Hex));
    CHECK(both.tree.copied(FieldTree::CopyForm::Line).contains(QStringLiteral("Packet sequence number")));
    CHECK(both.tree.copied(FieldTree::CopyForm::Everything).count(QLatin1Char('\n')) ==
          static_cast<qsizetype>(packet->lines().size()));
    const auto some = qps::tests::hex("00 41 7f 62");
    CHECK(bytesText(some, BytesForm::Hex) == QStringLiteral("00417f62"));
    CHECK(bytesText(some, BytesForm::Characters) == QStringLiteral(".A.b"));
    CHECK(bytesText(some, BytesForm::CArray) ==
          QStringLiteral("const unsigned char bytes[4] = {\n    0x00, 0x41, 0x7f, 0x62,\n};\n"));
}

TEST_CASE("bytes stand where their geometry says") {
    const std::size_t size = GENERATE(0UL, 1UL, 16UL, 17UL, 65536UL, 1UL << 24);
    const BytesGeometry geometry{size};
    CHECK(geometry.lines() == (size + 15) / 16);
    CHECK(geometry.digits() == (size >= 65536 ? (size > 1000000 ? 7 : 5) : 4));
    for (std::size_t byte = 0; byte < std::min<std::size_t>(size, 40); ++byte) {
        CHECK(geometry.byteAt(byte / 16, geometry.hexColumn(byte)) == byte);
        CHECK(geometry.byteAt(byte / 16, geometry.hexColumn(byte) + 1) == byte);
        CHECK(geometry.byteAt(byte / 16, geometry.textColumn(byte)) == byte);
        CHECK(geometry.textColumn(byte) < geometry.columns());
    }
    CHECK_FALSE(geometry.byteAt(geometry.lines(), geometry.hexColumn(0)));
    CHECK_FALSE(geometry.byteAt(0, 0));
}

TEST_CASE("a frame of 64 KiB is drawn as quickly as a small one") {
    needApplication();
    std::vector<std::byte> bytes(65536, std::byte{0x5a});
    const qps::tests::Decoded decoded(bytes, qps::dissect::LinkType::ethernet);
    BytesView view;
    view.resize(900, 600);
    view.setPacket(std::make_shared<OwnedPacket>(decoded.packet));
    view.show();
    QTest::keyClick(&view, Qt::Key_End, Qt::ControlModifier);
    CHECK(view.currentByte() == 65535U);
    CHECK(view.viewport()->rect().contains(view.textRect(65535)));
    CHECK_FALSE(view.grab().isNull());
}

TEST_CASE("pictures of fields and bytes") {
    Both both;
    SampleRows rows(loadSample("write_8k"));
    both.show(packetWith(rows, "infiniband.reth"));
    both.tree.resize(700, 500);
    both.bytes.resize(700, 300);
    both.tree.openAll();
    REQUIRE(select(both.tree, "infiniband.bth.psn"));
    both.tree.show();
    both.bytes.show();
    inBothLooks(both.tree, "field_tree", [](const QImage& image) { CHECK(image.height() >= 500); });
    inBothLooks(both.bytes, "bytes", [](const QImage& image) { CHECK(image.height() >= 300); });
}
