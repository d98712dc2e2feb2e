#include <gui/base/symbol.hpp>
#include <gui/base/text.hpp>
#include <gui/filter/filter_line.hpp>
#include <gui/pictures/series_list.hpp>
#include <gui/session/selection.hpp>

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QToolButton>
#include <algorithm>
#include <array>

namespace qps::gui {

using transport::series::kMostSeries;
using transport::series::Measure;
using transport::series::measure_rows;

namespace {

constexpr int kFilterColumn = 3;
constexpr int kPartsOfWish = 3;  // before the filter, which may hold anything

bool ofField(Measure measure) { return measure_rows()[static_cast<std::size_t>(measure)].of_field; }

}  // namespace

QString whyNot(const SeriesWish& wish) {
    if (Selection::mistake(wish.filter)) return SeriesList::tr("\"%1\" is no filter").arg(wish.filter);
    if (!ofField(wish.measure)) return {};
    const auto field = dissect::column(wish.field.trimmed().toStdString());
    if (wish.field.trimmed().isEmpty())
        return SeriesList::tr("%1 needs a field")
            .arg(shown(measure_rows()[static_cast<std::size_t>(wish.measure)].name));
    if (!field) return SeriesList::tr("\"%1\" is no field").arg(wish.field);
    if (!transport::series::is_numeric(*field)) return SeriesList::tr("%1 has no numbers").arg(wish.field);
    return {};
}

QString nameOf(const SeriesWish& wish) {
    QString name = shown(measure_rows()[static_cast<std::size_t>(wish.measure)].name);
    if (ofField(wish.measure)) name += QLatin1Char(' ') + wish.field.trimmed();
    if (const QString filter = wish.filter.simplified(); !filter.isEmpty()) name += SeriesList::tr(" of ") + filter;
    return name;
}

SeriesList::SeriesList(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout), m_add(new QToolButton) {
    m_add->setText(tr("Add series"));
    m_add->setToolTip(tr("Add a series to the graph"));
    m_add->setAccessibleName(tr("Add series"));
    m_add->setFocusPolicy(Qt::TabFocus);
    connect(m_add, &QToolButton::clicked, this, [this] {
        add({});
        m_lines.back().filter->setFocus();
        lineChanged();
    });
    m_grid->setColumnStretch(kFilterColumn, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(6, 2, 6, 6);
    column->addLayout(m_grid);
    column->addWidget(m_add, 0, Qt::AlignLeft);
}

void SeriesList::add(const SeriesWish& wish) {
    if (m_lines.size() >= kMostSeries) return;
    const Line line{new QCheckBox, new QComboBox, new QLineEdit, new FilterLine, new QToolButton};
    for (const auto& row : measure_rows()) {
        line.measure->addItem(shown(row.name));
        line.measure->setItemData(line.measure->count() - 1, shown(row.meaning), Qt::ToolTipRole);
    }
    line.drawn->setChecked(wish.drawn);
    line.measure->setCurrentIndex(static_cast<int>(wish.measure));
    line.field->setText(wish.field);
    line.field->setPlaceholderText(tr("field"));
    line.field->setMinimumWidth(fontMetrics().averageCharWidth() * 26);
    line.filter->setText(wish.filter);
    line.filter->setPlaceholderText(tr("all packets, or those of a filter"));
    line.remove->setIcon(symbol(QStringLiteral("edit-clear")));
    line.remove->setFocusPolicy(Qt::TabFocus);
    connect(line.drawn, &QCheckBox::toggled, this, &SeriesList::lineChanged);
    connect(line.measure, &QComboBox::currentIndexChanged, this, &SeriesList::lineChanged);
    connect(line.field, &QLineEdit::editingFinished, this, &SeriesList::lineChanged);
    connect(line.filter, &QLineEdit::editingFinished, this, &SeriesList::lineChanged);
    connect(line.filter, &QLineEdit::returnPressed, this, &SeriesList::lineChanged);
    connect(line.remove, &QToolButton::clicked, this, [this, of = line.drawn] { remove(of); });
    const int row = m_grid->rowCount();
    int at = 0;
    for (QWidget* each :
         std::initializer_list<QWidget*>{line.drawn, line.measure, line.field, line.filter, line.remove})
        m_grid->addWidget(each, row, at++);
    m_lines.push_back(line);
    nameLines();
}

void SeriesList::remove(const QCheckBox* of) {
    const auto found = std::ranges::find(m_lines, of, &Line::drawn);
    if (found == m_lines.end()) return;
    for (QWidget* each :
         std::initializer_list<QWidget*>{found->drawn, found->measure, found->field, found->filter, found->remove}) {
        each->hide();
        each->deleteLater();
    }
    m_lines.erase(found);
    nameLines();
    m_add->setFocus();
    lineChanged();
}

void SeriesList::nameLines() {
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const Line& line = m_lines[i];
        const auto name = [i](QWidget& widget, const QString& text) {
            widget.setAccessibleName(text.arg(i + 1));
            widget.setToolTip(text.arg(i + 1));
        };
        name(*line.drawn, tr("Draw series %1"));
        name(*line.measure, tr("What of series %1"));
        name(*line.field, tr("Field of series %1"));
        name(*line.filter, tr("Filter of series %1"));
        name(*line.remove, tr("Remove series %1"));
        line.field->setEnabled(ofField(static_cast<Measure>(line.measure->currentIndex())));
    }
    m_add->setEnabled(m_lines.size() < kMostSeries);
}

SeriesWish SeriesList::wishOf(const Line& line) const {
    return {line.drawn->isChecked(), static_cast<Measure>(line.measure->currentIndex()), line.field->text(),
            line.filter->text()};
}

std::vector<SeriesWish> SeriesList::wishes() const {
    std::vector<SeriesWish> all;
    for (const Line& line : m_lines) all.push_back(wishOf(line));
    return all;
}

void SeriesList::lineChanged() {
    nameLines();
    for (const Line& line : m_lines)
        if (!Selection::mistake(line.filter->text())) line.filter->setApplied(line.filter->text());
    auto now = wishes();
    if (now == m_told) return;
    m_told = std::move(now);
    Q_EMIT changed();
}

void SeriesList::setWishes(const std::vector<SeriesWish>& wishes) {
    while (!m_lines.empty()) remove(m_lines.back().drawn);
    for (const SeriesWish& wish : wishes) add(wish);
    lineChanged();
}

QStringList SeriesList::saved() const {
    QStringList lines;
    for (const SeriesWish& wish : wishes())
        lines << QStringList{wish.drawn ? QStringLiteral("drawn") : QStringLiteral("not"),
                             shown(measure_rows()[static_cast<std::size_t>(wish.measure)].name),
                             QString(wish.field).remove(QLatin1Char('|')), wish.filter}
                     .join(QLatin1Char('|'));
    return lines;
}

void SeriesList::restore(const QStringList& lines) {
    std::vector<SeriesWish> all;
    for (const QString& line : lines) {
        const QString measure = line.section(QLatin1Char('|'), 1, 1);
        const auto row =
            std::ranges::find_if(measure_rows(), [&](const auto& each) { return shown(each.name) == measure; });
        if (row == measure_rows().end() || line.count(QLatin1Char('|')) < kPartsOfWish || all.size() == kMostSeries)
            continue;
        all.push_back({line.startsWith(QStringLiteral("drawn")), row->measure, line.section(QLatin1Char('|'), 2, 2),
                       line.section(QLatin1Char('|'), kPartsOfWish)});
    }
    setWishes(all);
}

}  // namespace qps::gui
