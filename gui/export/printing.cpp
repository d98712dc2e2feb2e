#include <gui/export/printing.hpp>
#include <gui/packets/packets_view.hpp>
#include <gui/pictures/picture.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/sheet.hpp>
#include <gui/tables/table_view.hpp>

#include <QLabel>
#include <QPainter>
#include <QPrinter>
#include <QTableView>
#include <QTextDocument>

namespace qps::gui {

namespace {

QString rowOf(const QStringList& cells, const char* tag) {
    QString row;
    for (const QString& cell : cells)
        row += QStringLiteral("<%1>%2</%1>").arg(QLatin1String(tag), cell.toHtmlEscaped());
    return QStringLiteral("<tr>%1</tr>").arg(row);
}

QString tableOf(const QString& rows, int printed, std::uint64_t all) {
    QString text = QStringLiteral("<table cellspacing=0 cellpadding=2 width=100%>%1</table>").arg(rows);
    if (static_cast<std::uint64_t>(printed) < all)
        text += QObject::tr("<p>The first %L1 of %L2 rows.</p>").arg(printed).arg(all);
    return text;
}

QString tableOf(const TableView& view) {
    const QAbstractItemModel& model = view.model();
    QStringList heads;
    std::vector<int> columns;
    for (int column = 0; column < view.model().whenColumn(); ++column)
        if (!view.table().isColumnHidden(column)) {
            columns.push_back(column);
            heads << model.headerData(column, Qt::Horizontal).toString();
        }
    QString rows = rowOf(heads, "th");
    const int printed = std::min(model.rowCount(), kMostPrintedRows);
    for (int row = 0; row < printed; ++row) {
        QStringList cells;
        for (const int column : columns) cells << model.index(row, column).data().toString();
        rows += rowOf(cells, "td");
    }
    return tableOf(rows, printed, static_cast<std::uint64_t>(model.rowCount()));
}

QString sheetsOf(const QWidget& view) {
    QString text;
    for (const Sheet* sheet : view.findChildren<Sheet*>()) {
        if (!sheet->isVisibleTo(&view)) continue;
        const QAbstractItemModel& model = *sheet->model();
        QStringList heads;
        for (int column = 0; column < model.columnCount(); ++column)
            heads << model.headerData(column, Qt::Horizontal).toString();
        QString rows = rowOf(heads, "th");
        const int printed = std::min(model.rowCount(), kMostPrintedRows);
        for (int row = 0; row < printed; ++row) {
            QStringList cells;
            for (int column = 0; column < model.columnCount(); ++column)
                cells << model.index(row, column).data().toString();
            rows += rowOf(cells, "td");
        }
        text += QStringLiteral("<h4>%1</h4>").arg(sheet->accessibleName().toHtmlEscaped()) +
                tableOf(rows, printed, static_cast<std::uint64_t>(model.rowCount()));
    }
    return text;
}

QString listOf(PacketList& list) {
    QStringList heads;
    QString rows;
    const std::uint64_t all = list.geometryOfRows().rows;
    const int printed = static_cast<int>(std::min<std::uint64_t>(all, kMostPrintedRows));
    for (const PacketColumn& column : list.columns())
        if (!column.hidden) heads << column.title;
    rows = rowOf(heads, "th");
    for (int at = 0; at < printed; ++at) rows += rowOf(list.shownCells(static_cast<std::uint64_t>(at)), "td");
    return tableOf(rows, printed, all);
}

QString labelsOf(const QWidget& view) {
    QString text;
    for (const QLabel* label : view.findChildren<QLabel*>())
        if (label->isVisibleTo(&view) && !label->text().isEmpty())
            text += QStringLiteral("<p>%1</p>")
                        .arg(Qt::mightBeRichText(label->text()) ? label->text() : label->text().toHtmlEscaped());
    return text;
}

}  // namespace

QString printedText(const QWidget& view, const Session& session) {
    if (qobject_cast<const Picture*>(&view) != nullptr) return {};
    const QString title =
        QStringLiteral("<h3>%1: %2</h3>").arg(session.title().toHtmlEscaped(), view.accessibleName().toHtmlEscaped());
    if (const auto* packets = qobject_cast<const PacketsView*>(&view)) return title + listOf(packets->list());
    const auto* table = view.findChild<TableView*>();
    return title + (table != nullptr ? tableOf(*table) : QString()) + sheetsOf(view) + labelsOf(view);
}

void print(const QWidget& view, const Session& session, QPrinter& printer) {
    if (const auto* picture = qobject_cast<const Picture*>(&view)) {
        QPainter painter(&printer);
        const QRectF page = printer.pageRect(QPrinter::DevicePixel);
        picture->paintOnPage(painter, page.size());
        return;
    }
    QTextDocument document;
    QFont font;
    font.setPointSizeF(7);
    document.setDefaultFont(font);
    document.setHtml(printedText(view, session));
    document.print(&printer);
}

}  // namespace qps::gui
