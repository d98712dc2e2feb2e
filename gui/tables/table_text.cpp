#include <gui/tables/table_text.hpp>

#include <QStringList>

namespace qps::gui {

namespace {

QString quoted(QString cell) {
    const bool needs =
        cell.contains(QLatin1Char(',')) || cell.contains(QLatin1Char('"')) || cell.contains(QLatin1Char('\n'));
    if (!needs) return cell;
    return QLatin1Char('"') + cell.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

// One line, whatever the text has.
QString unbroken(QString cell, QChar separator) {
    return cell.replace(QLatin1Char('\n'), QLatin1Char(' '))
        .replace(QLatin1Char('\r'), QLatin1Char(' '))
        .replace(separator, QLatin1Char(' '));
}

QString written(const QString& cell, TextFormat format) {
    switch (format) {
        case TextFormat::Csv: return quoted(cell);
        case TextFormat::Tsv: return unbroken(cell, QLatin1Char('\t'));
        case TextFormat::Markdown: break;
    }
    return unbroken(cell, QLatin1Char('\t')).replace(QLatin1Char('|'), QStringLiteral("\\|"));
}

QString line(const QStringList& cells, TextFormat format) {
    switch (format) {
        case TextFormat::Csv: return cells.join(QLatin1Char(',')) + QLatin1Char('\n');
        case TextFormat::Tsv: return cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
        case TextFormat::Markdown: break;
    }
    return QStringLiteral("| ") + cells.join(QStringLiteral(" | ")) + QStringLiteral(" |\n");
}

QString rule(const QAbstractItemModel& model, const std::vector<int>& columns) {
    QStringList cells;
    for (const int column : columns) {
        const auto side = model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).value<Qt::Alignment>();
        cells.append(side.testFlag(Qt::AlignRight) ? QStringLiteral("---:") : QStringLiteral("---"));
    }
    return line(cells, TextFormat::Markdown);
}

QString cellText(const QModelIndex& index) {
    const QVariant shown = index.data();
    return (shown.isValid() ? shown : index.data(Qt::AccessibleTextRole)).toString();
}

}  // namespace

QString tableText(const QAbstractItemModel& model, const std::vector<int>& rows, const std::vector<int>& columns,
                  TextFormat format) {
    QStringList cells;
    for (const int column : columns) cells.append(written(model.headerData(column, Qt::Horizontal).toString(), format));
    QString text = line(cells, format);
    if (format == TextFormat::Markdown) text += rule(model, columns);
    for (const int row : rows) {
        cells.clear();
        for (const int column : columns) cells.append(written(cellText(model.index(row, column)), format));
        text += line(cells, format);
    }
    return text;
}

}  // namespace qps::gui
