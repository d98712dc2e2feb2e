// Views on paper, as PDF: what is on the page is what the view shows.
#include <gui/export/printing.hpp>
#include <tests/gui/window.hpp>

#include <QFile>
#include <QPrinter>
#include <QTextDocument>

using namespace qps::gui;
using namespace qps::gui::tests;

TEST_CASE("window: a table and the packets that are displayed are printed as rows") {
    OpenWindow opened("loss_write");
    opened.window.showView(QStringLiteral("packets"));
    REQUIRE(opened.selection().applyFilter(QStringLiteral("rdma.retransmission")));
    opened.settle();
    const auto printed = [&](const char* view) {
        opened.window.showView(QLatin1String(view));
        QTextDocument document;
        document.setHtml(printedText(*opened.window.findChild<QWidget*>(QLatin1String(view)), opened.session()));
        return document.toPlainText();
    };
    const QString packets = printed("packets");
    CHECK(packets.contains(QStringLiteral("capture.pcap")));
    CHECK(packets.count(QStringLiteral("RC_RDMA_WRITE")) >= static_cast<int>(opened.selection().shown()) / 2);
    CHECK(packets.contains(QStringLiteral("Info")));
    const QString connections = printed("connections");
    CHECK(connections.contains(QStringLiteral("Endpoints")));
    CHECK(connections.contains(QStringLiteral("10.77.0.11")));
}

TEST_CASE("window: a view becomes a PDF, a graph too") {
    OpenWindow opened("write_8k");
    const QTemporaryDir folder;
    for (const char* view : {"psn", "packets", "summary", "ladder"}) {
        CAPTURE(view);
        opened.window.showView(QLatin1String(view));
        QApplication::processEvents();
        QPrinter printer;
        const QString path = folder.filePath(QLatin1String(view) + QStringLiteral(".pdf"));
        printer.setOutputFormat(QPrinter::PdfFormat);
        printer.setOutputFileName(path);
        print(*opened.window.findChild<QWidget*>(QLatin1String(view)), opened.session(), printer);
        QFile file(path);
        REQUIRE(file.open(QIODevice::ReadOnly));
        CHECK(file.readAll().startsWith("%PDF-"));
        CHECK(file.size() > 2000);
    }
}
