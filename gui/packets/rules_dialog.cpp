#include <gui/packets/rules_dialog.hpp>

#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

namespace qps::gui {

namespace {

enum Column { name_column, filter_column, colour_column, column_count };

QIcon swatch(const RowInk& ink, const QPalette& palette) {
    constexpr int kSide = 16;
    QPixmap square(kSide, kSide);
    square.fill(inkOf(ink, palette));
    return square;
}

class RulesDialog : public QDialog {
public:
    RulesDialog(const std::vector<RowRule>& before, QWidget* parent);

    [[nodiscard]] std::vector<RowRule> rules() const;

private:
    void fill(const std::vector<RowRule>& rules);
    void insert(int row, const RowRule& rule);
    [[nodiscard]] RowRule ruleAt(int row) const;
    void move(int by);
    void judge();
    [[nodiscard]] QPushButton* button(const QString& text, const QString& tip, auto&& act);

    QTableWidget* m_table;
    QLabel* m_mistake;
    QDialogButtonBox* m_buttons;
    QPushButton* m_add = nullptr;
    bool m_filling = false;
};

RulesDialog::RulesDialog(const std::vector<RowRule>& before, QWidget* parent)
    : QDialog(parent),
      m_table(new QTableWidget(0, column_count, this)),
      m_mistake(new QLabel(this)),
      m_buttons(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this)) {
    setWindowTitle(tr("Colouring rules"));
    m_table->setHorizontalHeaderLabels({tr("Name"), tr("Filter"), tr("Colour")});
    m_table->setAccessibleName(tr("Colouring rules, the first that matches wins"));
    m_table->horizontalHeader()->setSectionResizeMode(filter_column, QHeaderView::Stretch);
    m_table->verticalHeader()->hide();
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_mistake->setTextFormat(Qt::PlainText);
    m_mistake->setWordWrap(true);
    auto* side = new QVBoxLayout;
    side->addWidget(m_add = button(tr("&Add"), tr("Add a rule above the selected one"), [this] {
                        insert(std::max(m_table->currentRow(), 0), {tr("New rule"), {}, Ink::Other});
                    }));
    side->addWidget(
        button(tr("&Remove"), tr("Remove the selected rule"), [this] { m_table->removeRow(m_table->currentRow()); }));
    side->addWidget(button(tr("Move &up"), tr("Ask the selected rule earlier"), [this] { move(-1); }));
    side->addWidget(button(tr("Move &down"), tr("Ask the selected rule later"), [this] { move(1); }));
    side->addWidget(
        button(tr("De&faults"), tr("Put the rules of qpscope in place of these"), [this] { fill(standardRules()); }));
    side->addStretch();
    auto* upper = new QHBoxLayout;
    upper->addWidget(m_table, 1);
    upper->addLayout(side);
    auto* column = new QVBoxLayout(this);
    column->addWidget(
        new QLabel(tr("The first rule that is on and whose filter matches gives a packet its colour."), this));
    column->addLayout(upper, 1);
    column->addWidget(m_mistake);
    column->addWidget(m_buttons);
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_table, &QTableWidget::itemChanged, this, &RulesDialog::judge);
    fill(before);
    const QFontMetrics metrics = fontMetrics();
    resize(metrics.averageCharWidth() * 120, metrics.height() * 26);
}

QPushButton* RulesDialog::button(const QString& text, const QString& tip, auto&& act) {
    auto* made = new QPushButton(text, this);
    made->setToolTip(tip);
    made->setAutoDefault(false);
    connect(made, &QPushButton::clicked, this, [this, act] {
        act();
        judge();
    });
    return made;
}

void RulesDialog::fill(const std::vector<RowRule>& rules) {
    m_table->setRowCount(0);
    for (const RowRule& rule : rules) insert(m_table->rowCount(), rule);
    m_table->resizeColumnToContents(name_column);
    m_table->resizeColumnToContents(colour_column);
    if (!rules.empty()) m_table->selectRow(0);
    judge();
}

void RulesDialog::insert(int row, const RowRule& rule) {
    m_filling = true;
    m_table->insertRow(row);
    auto* name = new QTableWidgetItem(rule.name);
    name->setFlags(name->flags() | Qt::ItemIsUserCheckable);
    name->setCheckState(rule.on ? Qt::Checked : Qt::Unchecked);
    name->setData(Qt::UserRole, rule.temporary);
    m_table->setItem(row, name_column, name);
    m_table->setItem(row, filter_column, new QTableWidgetItem(rule.filter));
    auto* colours = new QComboBox;
    colours->setAccessibleName(tr("Colour of the rule"));
    for (const InkName& each : inkNames()) colours->addItem(swatch(each.ink, palette()), tr(each.shown));
    for (std::size_t i = 0; i < inkNames().size(); ++i)
        if (inkNames()[i].ink == rule.ink) colours->setCurrentIndex(static_cast<int>(i));
    m_table->setCellWidget(row, colour_column, colours);
    m_filling = false;
    m_table->selectRow(row);
}

RowRule RulesDialog::ruleAt(int row) const {
    const auto* colours = qobject_cast<QComboBox*>(m_table->cellWidget(row, colour_column));
    const auto ink = static_cast<std::size_t>(std::max(colours != nullptr ? colours->currentIndex() : 0, 0));
    const QTableWidgetItem& name = *m_table->item(row, name_column);
    return {name.text(), m_table->item(row, filter_column)->text(), inkNames()[ink].ink,
            name.checkState() == Qt::Checked, name.data(Qt::UserRole).toBool()};
}

void RulesDialog::move(int by) {
    const int row = m_table->currentRow();
    if (row < 0 || row + by < 0 || row + by >= m_table->rowCount()) return;
    const RowRule rule = ruleAt(row);
    m_table->removeRow(row);
    insert(row + by, rule);
}

// The first mistake stands below the table; with one there is no OK.
void RulesDialog::judge() {
    if (m_filling) return;
    QString mistake;
    for (int row = 0; row < m_table->rowCount() && mistake.isEmpty(); ++row) {
        const RowRule rule = ruleAt(row);
        const auto compiled = dissect::Filter::compile(rule.filter.toStdString());
        if (rule.filter.trimmed().isEmpty()) mistake = tr("Rule '%1' has no filter").arg(rule.name);
        else if (!compiled)
            mistake = tr("Rule '%1', column %2: %3")
                          .arg(rule.name)
                          .arg(compiled.error().column)
                          .arg(QString::fromStdString(compiled.error().message));
    }
    m_mistake->setText(mistake);
    QPalette shown = m_mistake->palette();
    shown.setColor(QPalette::WindowText, textColor(transport::Severity::error, palette()));
    m_mistake->setPalette(shown);
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(mistake.isEmpty());
    m_add->setEnabled(static_cast<std::size_t>(m_table->rowCount()) < RowRules::kMost);
}

std::vector<RowRule> RulesDialog::rules() const {
    std::vector<RowRule> rules;
    for (int row = 0; row < m_table->rowCount(); ++row) rules.push_back(ruleAt(row));
    return rules;
}

}  // namespace

std::optional<std::vector<RowRule>> askRules(const std::vector<RowRule>& before, QWidget* parent) {
    RulesDialog dialog(before, parent);
    if (dialog.exec() != QDialog::Accepted) return std::nullopt;
    return dialog.rules();
}

}  // namespace qps::gui
