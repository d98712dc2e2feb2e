// What a user has said of packets in the window, comments and marks: nothing takes it away unasked, and what reads the
// same files again leaves it where it is.
#include <gui/live/choice.hpp>
#include <tests/gui/window.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QFile>
#include <QLineEdit>
#include <QPushButton>

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::FrameIndex;

namespace {

const QString kText = QStringLiteral("the switch was rebooted here");

// Packet 7 is marked, packet 9 has a comment.
struct Annotated : OpenWindow {
    Annotated() : OpenWindow("write_8k") {
        window.showView(QStringLiteral("packets"));
        mark(7);
        comment(9);
    }
    void mark(std::uint64_t frame) {
        selection().selectPacket(FrameIndex{frame});
        key(Qt::Key_M, Qt::ControlModifier);
    }
    void comment(std::uint64_t frame) { REQUIRE(list().setComment(FrameIndex{frame}, kText)); }
    PacketList& list() { return view<PacketsView>().list(); }
    bool annotated() {
        return selection().marks().contains(FrameIndex{7}) && selection().marks().size() == 1 &&
               list().notes().marks.contains(FrameIndex{7}) && list().notes().comments.written(FrameIndex{9}) == kText;
    }
};

void press(QWidget& dialog, QMessageBox::StandardButton button) {
    if (auto* box = qobject_cast<QMessageBox*>(&dialog)) box->button(button)->click();
}

Answering::Answer savingTo(const QString& path) {
    return [path](QWidget& dialog) {
        if (qobject_cast<QMessageBox*>(&dialog) != nullptr) return press(dialog, QMessageBox::Save);
        dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(path);
        qobject_cast<QDialog*>(&dialog)->accept();
    };
}

bool saved(OpenWindow& opened, const QString& name) {
    return QTest::qWaitFor([&] { return opened.said().contains(name); }, kPatience);
}

}  // namespace

TEST_CASE("window: comments and marks are asked about before another capture takes their place") {
    Annotated opened;
    const QString other = QString::fromStdString(sampleFile("rping_v6"));
    {
        const Answering cancelling;
        opened.open({other});
        opened.window.action(ActionId::Close)->trigger();
        opened.window.capture({});
        CHECK_FALSE(opened.window.close());
        CHECK(cancelling.dialogs() == 4);
        CHECK(cancelling.said()[0] ==
              QStringLiteral(
                  "The packet comments and the marks have not been saved. Save the packets with their comments?"));
        CHECK(opened.annotated());
    }
    const Answering discarding([](QWidget& dialog) { press(dialog, QMessageBox::Discard); });
    opened.open({other});
    CHECK(discarding.dialogs() == 1);
    CHECK(opened.session().files() == QStringList{other});
    CHECK(opened.selection().marks().size() == 0);
    CHECK_FALSE(opened.list().notes().comments.written(FrameIndex{9}));
    CHECK(opened.window.close());
    CHECK(discarding.dialogs() == 1);
}

TEST_CASE("window: comments that were saved and marks that were exported are not asked about again") {
    Annotated opened;
    const QTemporaryDir folder;
    {
        const Answering saving(savingTo(folder.filePath(QStringLiteral("all.pcapng"))));
        CHECK_FALSE(opened.window.close());
        REQUIRE(saved(opened, QStringLiteral("all.pcapng")));
        CHECK(saving.dialogs() == 2);  // the question, the name
    }
    {
        const Answering saving(savingTo(folder.filePath(QStringLiteral("marked.pcapng"))));
        CHECK_FALSE(opened.window.close());
        REQUIRE(saved(opened, QStringLiteral("marked.pcapng")));
        CHECK(saving.said()[0] == QStringLiteral("The marks will be lost. Export the marked packets?"));
    }
    const Answering nobody;
    opened.open({folder.filePath(QStringLiteral("all.pcapng"))});
    CHECK(nobody.dialogs() == 0);
    REQUIRE(opened.session().packets() > 9);
    const auto* packet = opened.list().rows()->read(FrameIndex{9});
    REQUIRE(packet != nullptr);
    CHECK(opened.list().notes().comments.of(*packet) == kText);
    CHECK(opened.window.close());
}

TEST_CASE("window: a format that has no comments does not save them") {
    Annotated opened;
    const QTemporaryDir folder;
    {
        const Answering saving(savingTo(folder.filePath(QStringLiteral("all.pcap"))));
        CHECK_FALSE(opened.window.close());
        REQUIRE(saved(opened, QStringLiteral("all.pcap")));
    }
    const Answering cancelling;
    CHECK_FALSE(opened.window.close());
    CHECK(cancelling.dialogs() == 1);
}

TEST_CASE("window: comments and marks stay across reload and decode as") {
    Annotated opened;
    SECTION("reload") { opened.key(Qt::Key_R, Qt::ControlModifier); }
    SECTION("decode as") {
        const auto connection = opened.session().timeline()->connections.front().uid;
        opened.session().decodeAs(connection, qps::transport::UlpProtocol::none);
    }
    opened.settle();
    CHECK(opened.annotated());
    opened.selection().selectPacket(FrameIndex{1});
    opened.key(Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
    CHECK(opened.packet() == 7);
    const Answering cancelling;
    CHECK_FALSE(opened.window.close());  // and they are still in no file
    CHECK(cancelling.dialogs() == 1);
}

TEST_CASE("window: what is open stays where its file is gone, or begins with another packet") {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("ring.pcap"));
    REQUIRE(QFile::copy(QString::fromStdString(sampleFile("write_8k")), path));
    OpenWindow opened;
    opened.open({path});
    const std::uint64_t packets = opened.session().packets();
    const auto index = opened.session().index();
    opened.window.showView(QStringLiteral("packets"));
    opened.selection().selectPacket(FrameIndex{7});
    opened.key(Qt::Key_M, Qt::ControlModifier);
    const auto stays = [&] {
        return opened.session().packets() == packets && opened.session().index() == index &&
               opened.selection().marks().contains(FrameIndex{7}) && opened.session().state() == Session::State::Done;
    };
    REQUIRE(QFile::remove(path));
    {
        const Answering answering;
        opened.key(Qt::Key_R, Qt::ControlModifier);
        opened.settle();
        REQUIRE(QTest::qWaitFor([&] { return answering.dialogs() != 0; }, kPatience));
        CHECK(answering.said()[0].contains(QStringLiteral("ring.pcap")));
        CHECK(stays());
        // Nor by what else reads the files again.
        opened.session().decodeAs(opened.session().timeline()->connections.front().uid,
                                  qps::transport::UlpProtocol::none);
        REQUIRE(QTest::qWaitFor([&] { return answering.dialogs() == 2; }, kPatience));
        CHECK(stays());
    }
    REQUIRE(QFile::copy(QString::fromStdString(sampleFile("loss_write")), path));
    {
        const Answering refusing;
        opened.key(Qt::Key_R, Qt::ControlModifier);
        opened.settle();
        REQUIRE(QTest::qWaitFor([&] { return refusing.dialogs() != 0; }, kPatience));
        CHECK(refusing.said()[0].endsWith(QStringLiteral("no longer begins with the same packet.")));
        CHECK(stays());
    }
    // Who wants the other one opens it, and is asked for the marks.
    const Answering opening([](QWidget& dialog) {
        auto* box = qobject_cast<QMessageBox*>(&dialog);
        if (box == nullptr) return;
        for (const auto wanted : {QMessageBox::Open, QMessageBox::Discard})
            if (auto* button = box->button(wanted)) return button->click();
    });
    opened.key(Qt::Key_R, Qt::ControlModifier);
    REQUIRE(QTest::qWaitFor([&] { return opening.dialogs() == 2; }, kPatience));
    opened.settle();
    CHECK(opened.session().packets() == 2228);
    CHECK(opened.selection().marks().size() == 0);
}
