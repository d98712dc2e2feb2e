#include <gui/base/look.hpp>
#include <gui/base/names.hpp>
#include <gui/base/text.hpp>
#include <gui/tables/finding_model.hpp>
#include <gui/tables/finding_pane.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/ticket.hpp>

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace qps::gui {

using namespace transport;

namespace {

QString escaped(std::string_view text) { return shown(text).toHtmlEscaped(); }

QString paragraph(const QString& heading, const QString& text) {
    return text.isEmpty() ? QString() : QStringLiteral("<p><b>%1</b><br>%2</p>").arg(heading, text);
}

QString link(const QString& target, const QString& text) {
    return QStringLiteral("<a href=\"%1\">%2</a>").arg(target, text);
}

QString evidence(const Finding& finding) {
    QStringList links;
    for (const dissect::FrameIndex frame : finding.packets) {
        const QString number = QString::number(std::to_underlying(frame));
        links.append(link(QStringLiteral("frame:") + number, number));
    }
    QString text = links.join(QStringLiteral(", "));
    if (!evidenceFilter(finding).isEmpty())
        text += (text.isEmpty() ? QString() : QStringLiteral(" &nbsp; ")) +
                link(QStringLiteral("filter:"), QObject::tr("apply as filter"));
    if (finding.count > 1)
        text += QStringLiteral(" &nbsp; ") + link(QStringLiteral("events:"), QObject::tr("all events as filter")) +
                QObject::tr(" (Ctrl+Alt+. goes to the next)");
    return text;
}

QString where(const Finding& finding, const Timeline& timeline, const Names* names) {
    if (!finding.connection) return {};
    const auto uid = std::to_underlying(*finding.connection);
    const Connection* connection = timeline.find(*finding.connection);
    const QString ends =
        connection == nullptr ? QString() : QStringLiteral(" ") + endsText(names, *connection).toHtmlEscaped();
    return link(QStringLiteral("connection:%1").arg(uid), QStringLiteral("#%1%2").arg(uid).arg(ends));
}

}  // namespace

FindingPane::FindingPane(QWidget* parent) : QScrollArea(parent) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Selected finding"));
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    m_title = new QLabel;
    m_title->setWordWrap(true);
    QFont large = m_title->font();
    large.setPointSizeF(large.pointSizeF() * 1.2);
    m_title->setFont(large);
    m_text = new QLabel;
    m_text->setWordWrap(true);
    m_text->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    for (QLabel* label : {m_title, m_text}) {
        label->setTextFormat(Qt::RichText);
        label->setTextInteractionFlags(Qt::TextBrowserInteraction | Qt::TextSelectableByKeyboard);
        column->addWidget(label);
    }
    m_copy = new QPushButton(tr("Copy as &Markdown"));
    m_copy->setToolTip(tr("Copy the finding as a Markdown ticket: figures, evidence as filters, capture quality"));
    column->addWidget(m_copy, 0, Qt::AlignLeft);
    column->addStretch(1);
    setWidget(page);
    connect(m_text, &QLabel::linkActivated, this, &FindingPane::follow);
    connect(m_copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(markdown()); });
    fill();
}

void FindingPane::show(std::shared_ptr<const Timeline> timeline, const Finding* finding, const QStringList& files,
                       std::shared_ptr<const Names> names) {
    m_timeline = std::move(timeline);
    m_finding = finding;
    m_files = files;
    m_names = std::move(names);
    fill();
}

QString FindingPane::markdown() const {
    if (m_finding == nullptr) return {};
    std::vector<std::string> inputs;
    for (const QString& file : m_files) inputs.push_back(file.toStdString());
    std::string out;
    append_ticket(out, *m_timeline, *m_finding, inputs);
    return shown(out);
}

void FindingPane::fill() {
    m_copy->setVisible(m_finding != nullptr);
    if (m_finding == nullptr) {
        m_title->clear();
        m_text->setText(tr("Select a finding to see its summary, advice and evidence."));
        return;
    }
    const Finding& finding = *m_finding;
    const QString times = finding.count > 1 ? tr(", %1 times").arg(shown(grouped(finding.count))) : QString();
    m_title->setText(QStringLiteral("<span style=\"color:%1\">%2</span> &nbsp;%3%4")
                         .arg(textColor(finding.severity, palette()).name(), escaped(severity_name(finding)),
                              escaped(finding.id), times));
    QString text = paragraph(tr("Summary"), sentence(inText(m_names.get(), finding.summary)));
    text +=
        paragraph(tr("Advice (%1)").arg(escaped(party_name(finding))), sentence(inText(m_names.get(), finding.advice)));
    text += paragraph(tr("Connection"), where(finding, *m_timeline, m_names.get()));
    text += paragraph(tr("Evidence"), evidence(finding));
    text += paragraph(tr("Reference"), escaped(clause_text(finding)));
    m_text->setText(text);
}

void FindingPane::follow(const QString& target) {
    if (m_finding == nullptr) return;
    const QString value = target.section(QLatin1Char(':'), 1);
    if (target.startsWith(QLatin1String("frame:"))) Q_EMIT packetWanted(value.toULongLong());
    else if (target.startsWith(QLatin1String("connection:"))) Q_EMIT connectionWanted(ConnectionId{value.toUInt()});
    else if (target.startsWith(QLatin1String("events:"))) Q_EMIT filterWanted(eventsFilter(*m_finding));
    else Q_EMIT filterWanted(evidenceFilter(*m_finding));
}

void FindingPane::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && m_text != nullptr) fill();
    QScrollArea::changeEvent(event);
}

}  // namespace qps::gui
