// Files that a capture is written to: what the recorder is told, what is refused before it starts, which files are
// found when it is over, and what the window says then, with a program that stands in for ssh and writes nothing.
#include <gui/live/capture_files.hpp>
#include <tests/gui/window.hpp>

#include <QFile>
#include <QLineEdit>
#include <QSpinBox>

using namespace qps::gui;
using namespace qps::gui::tests;

namespace {

void make(const QString& path) {
    QFile file(path);
    REQUIRE(file.open(QIODevice::WriteOnly));
}

}  // namespace

TEST_CASE("the recorder is told of files, their limits and how many stay") {
    CaptureChoice choice{.interface = QStringLiteral("eth0")};
    const auto words = [&] { return recorderArguments(choice).join(QLatin1Char(' ')); };
    choice.keptFiles = 3;  // without a file it means nothing
    CHECK(words() == QStringLiteral("-i eth0"));
    choice.file = QStringLiteral("/tmp/ring.pcapng");
    choice.fileMegabytes = 100;
    choice.fileSeconds = 60;
    CHECK(words() == QStringLiteral("-i eth0 -w /tmp/ring.pcapng -C 100 -G 60 -W 3"));
    choice.fileMegabytes = choice.fileSeconds = choice.keptFiles = 0;
    CHECK(words() == QStringLiteral("-i eth0 -w /tmp/ring.pcapng"));
}

TEST_CASE(
    "a capture is not written over a file, nor where there is no folder, and its files are found in their order") {
    const QTemporaryDir folder;
    CaptureChoice choice{.interface = QStringLiteral("eth0"), .file = folder.filePath(QStringLiteral("a.b.pcapng"))};
    CHECK(whyNoFiles(choice).isEmpty());
    CHECK(capturedFiles(choice).isEmpty());
    make(choice.file);
    CHECK(whyNoFiles(choice).endsWith(QStringLiteral("a.b.pcapng: exists, and is not written over")));
    CHECK(capturedFiles(choice) == QStringList{choice.file});
    choice.fileMegabytes = 1;  // others
    CHECK(whyNoFiles(choice).isEmpty());
    QStringList files;
    for (const char* name : {"a.b_99999.pcapng", "a.b_100000.pcapng", "a.b_100001.pcapng"}) {
        files << folder.filePath(QLatin1String(name));
        make(files.back());
    }
    for (const char* other :
         {"a.b_1.pcapng", "a.b_00001.pcap", "xa.b_00001.pcapng", "a.b_00001x.pcapng", "a_b_00001.pcapng"})
        make(folder.filePath(QLatin1String(other)));
    CHECK(capturedFiles(choice) == files);
    CHECK(whyNoFiles(choice).contains(QStringLiteral("a.b_99999.pcapng: exists")));
    choice.host = QStringLiteral("roce-1");  // of which nobody knows here
    CHECK(whyNoFiles(choice).isEmpty());
    CHECK(capturedFiles(choice).isEmpty());
    choice.host.clear();
    choice.fileMegabytes = 0;
    choice.keptFiles = 2;
    CHECK(whyNoFiles(choice) == QStringLiteral("To keep the last files, say when a new one begins"));
    choice.keptFiles = 0;
    choice.file = folder.path();
    CHECK(whyNoFiles(choice).endsWith(QStringLiteral(": is a folder")));
    choice.file = folder.filePath(QStringLiteral("no/such.pcapng"));
    CHECK(whyNoFiles(choice).endsWith(QStringLiteral("/no: no such folder")));
}

TEST_CASE("limits of files are there where a file is") {
    needApplication();
    FileChoice part;
    part.restore({.fileMegabytes = 5, .keptFiles = 2});
    CHECK(part.isRight());
    CHECK_FALSE(part.findChild<QSpinBox*>(QStringLiteral("fileMegabytes"))->isEnabled());
    CaptureChoice made;
    part.addTo(made);
    CHECK(made == CaptureChoice{});
    const QTemporaryDir folder;
    part.findChild<QLineEdit*>(QStringLiteral("file"))->setText(folder.filePath(QStringLiteral("x.pcapng")));
    part.addTo(made);
    CHECK(made.fileMegabytes == 5);
    CHECK(made.keptFiles == 2);
    CHECK(part.isRight());
}

TEST_CASE("window: a capture that is written to files is not asked about, and where it is is said") {
    OpenWindow opened;
    const QTemporaryDir folder;
    QFile ssh(folder.filePath(QStringLiteral("ssh")));
    REQUIRE(ssh.open(QIODevice::WriteOnly));
    ssh.write("#!/bin/sh\ncat '" + QByteArray::fromStdString(sampleFile("rc_pingpong")) + "'\n");
    ssh.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    ssh.close();
    const QByteArray before = qgetenv("PATH");
    qputenv("PATH", folder.path().toLocal8Bit() + ":" + before);
    opened.window.capture({.interface = QStringLiteral("roce0"),
                           .host = QStringLiteral("roce-1"),
                           .file = QStringLiteral("/data/ring.pcapng")});
    qputenv("PATH", before);
    REQUIRE(QTest::qWaitFor([&] { return opened.session().packets() != 0 && !opened.session().busy(); }, kPatience));
    CHECK(QTest::qWaitFor([&] { return opened.said() == QStringLiteral("Written to /data/ring.pcapng on roce-1"); },
                          kPatience));
    const Answering asked;
    CHECK(opened.window.close());
    CHECK(asked.dialogs() == 0);
}
