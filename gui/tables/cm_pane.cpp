#include <gui/base/names.hpp>
#include <gui/base/text.hpp>
#include <gui/tables/cm_pane.hpp>
#include <transport-replay/report/cm.hpp>

#include <QLabel>
#include <QVBoxLayout>

namespace qps::gui {

using namespace transport;

namespace {

QString line(const QString& text) { return text.isEmpty() ? QString() : QStringLiteral("<br>") + text.toHtmlEscaped(); }

// What was agreed, as one paragraph.
QString account(const CmAttempt& attempt, const Names* names) {
    const std::string rejection = rejection_text(attempt);
    QString text = QStringLiteral("<b>%1</b>")
                       .arg((rejection.empty() ? shown(name(attempt.outcome)) : shown(rejection)).toHtmlEscaped());
    for (const std::string& more : {setup_text(attempt), remarks_text(attempt)})
        if (!more.empty()) text += QStringLiteral("; ") + shown(more).toHtmlEscaped();
    text += line(inText(names, ip_text(attempt)));
    QStringList agreed;
    for (const std::string& one : agreed_texts(attempt)) agreed.append(shown(one));
    text += line(agreed.join(QStringLiteral(", ")));
    text += line(shown(private_data_text("REQ", attempt.active.private_data)));
    text += line(shown(private_data_text("REP", attempt.passive.private_data)));
    if (attempt.rejection) text += line(shown(private_data_text("REJ", attempt.rejection->private_data)));
    return text;
}

}  // namespace

CmPane::CmPane(QWidget* parent) : QScrollArea(parent) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Selected connection attempt"));
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    m_title = new QLabel;
    m_text = new QLabel;
    QFont large = m_title->font();
    large.setPointSizeF(large.pointSizeF() * 1.2);
    m_title->setFont(large);
    m_title->setTextFormat(Qt::PlainText);
    m_text->setTextFormat(Qt::RichText);
    for (QLabel* label : {m_title, m_text}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        column->addWidget(label);
    }
    m_ladder = new CmLadder;
    column->addWidget(m_ladder, 0, Qt::AlignLeft);
    column->addStretch(1);
    setWidget(page);
    connect(m_ladder, &CmLadder::packetWanted, this, &CmPane::packetWanted);
    show(nullptr, nullptr);
}

void CmPane::show(std::shared_ptr<const Timeline> timeline, const CmAttempt* attempt, const Names* names) {
    m_ladder->show(attempt);
    m_timeline = std::move(timeline);
    m_title->setVisible(attempt != nullptr);
    m_ladder->setVisible(attempt != nullptr);
    if (attempt == nullptr) {
        m_text->setText(tr("Select a connection attempt to see its messages."));
        return;
    }
    m_title->setText(inText(names, title_text(*attempt)));
    m_text->setText(account(*attempt, names));
}

void CmPane::choosePacket(dissect::FrameIndex frame) { m_ladder->choosePacket(frame); }

}  // namespace qps::gui
