#include <dissect/base/parse_value.hpp>
#include <gui/base/look.hpp>
#include <gui/window/clocks_dialog.hpp>

#include <QCheckBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <array>

namespace qps::gui {

namespace {

enum Column { file_column, offset_column, column_count };

class ClocksDialog : public QDialog {
public:
    ClocksDialog(const QStringList& files, const Clocks& before, QWidget* parent);
    [[nodiscard]] Clocks clocks() const;

private:
    void judge();

    QTableWidget* m_table;
    QCheckBox* m_byTime;
    QLabel* m_mistake;
    QDialogButtonBox* m_buttons;
};

ClocksDialog::ClocksDialog(const QStringList& files, const Clocks& before, QWidget* parent)
    : QDialog(parent),
      m_table(new QTableWidget(static_cast<int>(files.size()), column_count, this)),
      m_byTime(new QCheckBox(tr("&Merge the files by time"), this)),
      m_mistake(new QLabel(this)),
      m_buttons(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this)) {
    setWindowTitle(tr("Time shift"));
    m_table->setAccessibleName(tr("Offsets of the files"));
    m_table->setHorizontalHeaderLabels({tr("File"), tr("Add to its times")});
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setSectionResizeMode(file_column, QHeaderView::Stretch);
    for (int row = 0; row < m_table->rowCount(); ++row) {
        auto* name = new QTableWidgetItem(QFileInfo(files[row]).fileName());
        name->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
        name->setToolTip(files[row].toHtmlEscaped());
        m_table->setItem(row, file_column, name);
        const auto at = static_cast<std::size_t>(row);
        m_table->setItem(
            row, offset_column,
            new QTableWidgetItem(offsetText(at < before.offsets.size() ? before.offsets[at] : dissect::Duration{})));
    }
    m_byTime->setChecked(before.byTime);
    m_byTime->setEnabled(files.size() > 1);
    m_byTime->setToolTip(tr(
        "Packets of all files in the order of their times; else those of files that overlap in time, and the other files one after the other"));
    m_mistake->setTextFormat(Qt::PlainText);
    m_mistake->setWordWrap(true);
    auto* column = new QVBoxLayout(this);
    column->addWidget(new QLabel(
        tr("An offset such as -1.5ms, +20us or 3600s. The files are read again with it; they stay as they are."),
        this));
    column->addWidget(m_table, 1);
    column->addWidget(m_byTime);
    column->addWidget(m_mistake);
    column->addWidget(m_buttons);
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_table, &QTableWidget::itemChanged, this, &ClocksDialog::judge);
    const QFontMetrics metrics = fontMetrics();
    m_table->setColumnWidth(offset_column, metrics.averageCharWidth() * 24);
    resize(metrics.averageCharWidth() * 84, metrics.height() * 18);
    m_table->setCurrentCell(0, offset_column);
    judge();
}

void ClocksDialog::judge() {
    QString mistake;
    for (int row = 0; row < m_table->rowCount() && mistake.isEmpty(); ++row)
        if (const QString typed = m_table->item(row, offset_column)->text(); !readOffset(typed))
            mistake = tr("Invalid offset '%1': expected a time with ns, us, ms or s, such as -1.5ms").arg(typed);
    m_mistake->setText(mistake);
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, textColor(transport::Severity::error, palette()));
    m_mistake->setPalette(colours);
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(mistake.isEmpty());
}

Clocks ClocksDialog::clocks() const {
    Clocks clocks{.byTime = m_byTime->isChecked()};
    for (int row = 0; row < m_table->rowCount(); ++row)
        clocks.offsets.push_back(readOffset(m_table->item(row, offset_column)->text()).value_or(dissect::Duration{}));
    return clocks;
}

}  // namespace

std::optional<dissect::Duration> readOffset(const QString& text) {
    QString typed = text.simplified().remove(QLatin1Char(' '));
    const bool back = typed.startsWith(QLatin1Char('-'));
    if (back || typed.startsWith(QLatin1Char('+'))) typed.remove(0, 1);
    if (typed.isEmpty()) return std::nullopt;
    auto time = dissect::parse_duration(typed.toStdString());
    if (!time && typed.back().isDigit()) time = dissect::parse_duration((typed + QLatin1Char('s')).toStdString());
    if (!time) return std::nullopt;
    return back ? dissect::Duration{-std::to_underlying(*time)} : *time;
}

QString offsetText(dissect::Duration offset) {
    constexpr std::array kUnits{std::pair{1'000'000'000, "s"}, std::pair{1'000'000, "ms"}, std::pair{1'000, "us"},
                                std::pair{1, "ns"}};
    const std::int64_t time = std::to_underlying(offset);
    if (time == 0) return QStringLiteral("0 s");
    for (const auto& [unit, name] : kUnits)
        if (time % unit == 0)
            return QStringLiteral("%1%2 %3")
                .arg(time > 0 ? QStringLiteral("+") : QString())
                .arg(time / unit)
                .arg(QLatin1String(name));
    return {};
}

std::optional<Clocks> askClocks(const QStringList& files, const Clocks& before, QWidget* parent) {
    ClocksDialog dialog(files, before, parent);
    if (dialog.exec() != QDialog::Accepted) return std::nullopt;
    return dialog.clocks();
}

}  // namespace qps::gui
