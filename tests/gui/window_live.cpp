// A capture while it is going on: what can be done with its packets can be done at once, without choosing one first.
#include <gui/live/choice.hpp>
#include <gui/packets/find_bar.hpp>
#include <tests/gui/window.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QFile>
#include <QPushButton>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

// Somebody who writes a capture into a pipe and goes on holding it.
class Wire {
public:
    Wire() {
        REQUIRE(m_folder.isValid());
        REQUIRE(::mkfifo(path().toLocal8Bit().constData(), 0600) == 0);
        QFile sample(QString::fromStdString(sampleFile("write_8k")));
        REQUIRE(sample.open(QIODevice::ReadOnly));
        m_writer = std::thread([this, bytes = sample.readAll()] {
            m_pipe = ::open(path().toLocal8Bit().constData(), O_WRONLY);
            for (qsizetype at = 0; at < bytes.size();) {
                const auto some = ::write(m_pipe, bytes.constData() + at, static_cast<std::size_t>(bytes.size() - at));
                if (some <= 0) return;
                at += some;
            }
        });
    }
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;
    ~Wire() {
        m_writer.join();
        ::close(m_pipe);
    }
    [[nodiscard]] QString path() const { return m_folder.filePath(QStringLiteral("wire")); }

private:
    QTemporaryDir m_folder;
    std::thread m_writer;
    int m_pipe = -1;
};

}  // namespace

TEST_CASE("window: a live capture stops on the first finding that is bad enough") {
    OpenWindow opened;
    // ssh, from where a capture with losses comes, and then nothing more.
    const QTemporaryDir folder;
    QFile ssh(folder.filePath(QStringLiteral("ssh")));
    REQUIRE(ssh.open(QIODevice::WriteOnly));
    ssh.write("#!/bin/sh\ncat '" + QByteArray::fromStdString(sampleFile("loss_write")) + "'\ncat >/dev/null\n");
    ssh.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    ssh.close();
    const QByteArray before = qgetenv("PATH");
    qputenv("PATH", folder.path().toLocal8Bit() + ":" + before);
    const auto stopOn = GENERATE(StopOn::Warning, StopOn::Error, StopOn::Never);
    CaptureChoice choice;
    choice.interface = QStringLiteral("roce0");
    choice.host = QStringLiteral("roce-1");
    choice.stopOn = stopOn;
    opened.window.capture(choice);
    qputenv("PATH", before);
    REQUIRE(QTest::qWaitFor([&] { return opened.session().packets() == 2228; }, kPatience));
    const auto findings = [&] {
        return opened.session().timeline() != nullptr && !opened.session().timeline()->findings.empty();
    };
    REQUIRE(QTest::qWaitFor(findings, kPatience));
    if (stopOn == StopOn::Warning) {
        REQUIRE(QTest::qWaitFor([&] { return !opened.session().busy(); }, kPatience));
        INFO(opened.said().toStdString());
        QApplication::processEvents();
        CHECK(opened.said().startsWith(QStringLiteral("Capture stopped on 10.77.0.1")));
    } else {  // there is no error
        QTest::qWait(300);
        CHECK(opened.session().state() == Session::State::Capturing);
        opened.window.action(ActionId::StartStop)->trigger();
        REQUIRE(QTest::qWaitFor([&] { return !opened.session().busy(); }, kPatience));
    }
    CHECK(opened.session().packets() == 2228);
    const Answering discarding([](QWidget& dialog) {
        if (auto* box = qobject_cast<QMessageBox*>(&dialog)) box->button(QMessageBox::Discard)->click();
    });
    opened.window.close();
}

TEST_CASE("window: of a live capture everything can be done as soon as there are packets, without choosing one") {
    OpenWindow opened;
    const Wire wire;
    opened.session().capture(wire.path(), QStringLiteral("eth0"));
    REQUIRE(QTest::qWaitFor([&] { return opened.session().packets() != 0; }, kPatience));
    QApplication::processEvents();
    REQUIRE(opened.session().state() == Session::State::Capturing);
    REQUIRE_FALSE(opened.selection().packet());
    for (const ActionId id : {ActionId::SaveCapture, ActionId::ExportPackets, ActionId::ExportAnalysis,
                              ActionId::GoToPacket, ActionId::NextFinding, ActionId::PreviousFinding, ActionId::Find,
                              ActionId::FindNext, ActionId::LastPacket, ActionId::Close}) {
        CAPTURE(static_cast<int>(id));
        CHECK(opened.window.action(id)->isEnabled());
    }
    opened.key(Qt::Key_F, Qt::ControlModifier);
    auto& find = *opened.window.findChild<FindBar*>();
    CHECK(find.isVisible());
    find.setText(QStringLiteral("infiniband"));
    opened.key(Qt::Key_Return);
    CHECK(QTest::qWaitFor([&] { return opened.packet() != 0; }, kPatience));
    opened.session().stop();
    REQUIRE(QTest::qWaitFor([&] { return !opened.session().busy(); }, kPatience));
    const Answering discarding([](QWidget& dialog) {
        if (auto* box = qobject_cast<QMessageBox*>(&dialog)) box->button(QMessageBox::Discard)->click();
    });
    opened.window.close();
}

TEST_CASE("window: a capture does not take the place of a file that is open without a question") {
    OpenWindow opened("write_8k");
    const std::uint64_t packets = opened.session().packets();
    CaptureChoice choice;
    choice.interface = QStringLiteral("no-such-interface");
    {
        const Answering cancelling;
        opened.window.capture(choice);
        CHECK(cancelling.dialogs() == 1);
        CHECK(cancelling.said()[0].contains(QStringLiteral("capture.pcap is open")));
    }
    CHECK(opened.session().packets() == packets);
    CHECK(opened.session().files().size() == 1);
}
