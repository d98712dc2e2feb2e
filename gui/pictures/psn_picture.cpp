#include <gui/pictures/psn_picture.hpp>

#include <QCoreApplication>
#include <QKeyEvent>
#include <array>

namespace qps::gui {

namespace {

using transport::RecoveryKind;
using transport::series::PsnMark;

struct MarkLook {
    Ink ink;
    Shape shape;
    MarkShape mark;
    const char* tip;
};

// By PsnMark.
constexpr std::array kMarks{
    MarkLook{Ink::Request, Shape::Marks, MarkShape::Stroke,
             QT_TRANSLATE_NOOP("PsnPicture", "A request packet as it came first; of TCP a segment")},
    MarkLook{
        Ink::Retransmission, Shape::Marks, MarkShape::Diamond,
        QT_TRANSLATE_NOOP("PsnPicture", "A request packet that was on the wire before (IBA 9.7.5.1.2, 9.7.6.1.3)")},
    MarkLook{Ink::Acknowledgment, Shape::Steps, MarkShape::Dot,
             QT_TRANSLATE_NOOP("PsnPicture", "The greatest PSN that the responder has acknowledged (IBA 9.7.2)")},
    MarkLook{Ink::Response, Shape::Marks, MarkShape::Dot,
             QT_TRANSLATE_NOOP("PsnPicture", "READ and ATOMIC responses (IBA 9.7.3)")},
    MarkLook{Ink::NegativeAcknowledgment, Shape::Marks, MarkShape::Cross,
             QT_TRANSLATE_NOOP("PsnPicture", "The responder missed a packet and asks for it again (IBA 9.7.5.1.2)")},
    MarkLook{Ink::Wait, Shape::Marks, MarkShape::Triangle,
             QT_TRANSLATE_NOOP("PsnPicture",
                               "The responder had no receive posted and says how long to wait (IBA 9.7.5.2.8)")},
    MarkLook{
        Ink::NegativeAcknowledgment, Shape::Marks, MarkShape::Diamond,
        QT_TRANSLATE_NOOP("PsnPicture", "The responder refused the request; the connection fails (IBA 9.7.5.2.1)")},
    MarkLook{Ink::Other, Shape::Marks, MarkShape::Ring,
             QT_TRANSLATE_NOOP("PsnPicture", "Packets before this one are missing in the capture")},
};
static_assert(kMarks.size() == transport::series::kPsnMarkNames.size());

struct WaitLook {
    Ink ink;
    Qt::BrushStyle pattern;
};

// By RecoveryKind: what the wait was for, in the colour of what it led to.
constexpr std::array kWaits{WaitLook{Ink::NegativeAcknowledgment, Qt::BDiagPattern},
                            WaitLook{Ink::Wait, Qt::FDiagPattern}, WaitLook{Ink::Retransmission, Qt::DiagCrossPattern},
                            WaitLook{Ink::Response, Qt::VerPattern}, WaitLook{Ink::Other, Qt::Dense6Pattern}};
static_assert(kWaits.size() == transport::kRecoveryKindNames.size());

// "sequence_nak" as people write it: sequence NAK.
QString spoken(std::string_view name) {
    QString text =
        QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())).replace(QLatin1Char('_'), QLatin1Char(' '));
    for (const char* word : {"nak", "rnr", "read"})
        text.replace(QLatin1String(word), QString::fromLatin1(word).toUpper());
    return text;
}

QString endText(const transport::Connection& connection, transport::End end) {
    return QString::fromStdString(transport::text(connection.end(end)));
}

Layer steps(const QString& name, const char* tip, Ink ink, Qt::PenStyle line,
            const std::vector<transport::series::Point>& points) {
    return {.name = name,
            .tip = QCoreApplication::translate("PsnPicture", tip),
            .ink = ink,
            .shape = Shape::Steps,
            .points = pointsOf(points),
            .line = line};
}

// How much was on its way, in bytes, and in messages beside what limits them.
void addDepth(PlotData& data, const transport::series::PsnSeries& series, const transport::series::Outstanding& all,
              const transport::series::Outstanding& reads) {
    if (all.empty()) return;
    Panel bytes{.title = QObject::tr("Outstanding bytes"), .quantity = Quantity::Bytes, .fromZero = true};
    bytes.layers.push_back(steps(QObject::tr("outstanding"),
                                 QT_TRANSLATE_NOOP("PsnPicture", "Payload of messages that were not answered yet"),
                                 Ink::Request, Qt::SolidLine, all.bytes));
    Panel depth{.title = QObject::tr("Outstanding messages"), .fromZero = true};
    depth.layers.push_back(steps(QObject::tr("messages"),
                                 QT_TRANSLATE_NOOP("PsnPicture", "Messages that were not answered yet"), Ink::Request,
                                 Qt::SolidLine, all.messages));
    if (!reads.empty())
        depth.layers.push_back(
            steps(QObject::tr("READs"),
                  QT_TRANSLATE_NOOP("PsnPicture",
                                    "Of them READs, of which a responder takes only so many at once (IBA 9.4.4)"),
                  Ink::Response, Qt::DashLine, reads.messages));
    if (!series.credits.empty())
        depth.layers.push_back(
            steps(QObject::tr("credits"),
                  QT_TRANSLATE_NOOP("PsnPicture", "Receives that the responder had, as its ACKs say (IBA 9.7.7.2)"),
                  Ink::Acknowledgment, Qt::DotLine, series.credits));
    data.panels.push_back(std::move(bytes));
    data.panels.push_back(std::move(depth));
}

}  // namespace

PlotData psnPlot(const transport::series::PsnSeries& series, const transport::series::Outstanding& all,
                 const transport::series::Outstanding& reads) {
    PlotData data;
    Panel panel{.title = series.stream ? QObject::tr("TCP sequence number") : QObject::tr("PSN"),
                .quantity = series.stream ? Quantity::TcpSequence : Quantity::Psn};
    for (std::size_t i = 0; i < kMarks.size(); ++i) {
        if (series.marks[i].empty()) continue;
        const bool segment = series.stream && static_cast<PsnMark>(i) == PsnMark::request;
        panel.layers.push_back({.name = segment ? QObject::tr("segment") : spoken(transport::series::kPsnMarkNames[i]),
                                .tip = QCoreApplication::translate("PsnPicture", kMarks[i].tip),
                                .ink = kMarks[i].ink,
                                .shape = kMarks[i].shape,
                                .mark = kMarks[i].mark,
                                .points = pointsOf(series.marks[i])});
    }
    for (std::size_t i = 0; i < kWaits.size(); ++i) {
        std::vector<Band> bands;
        for (const auto& wait : series.waits)
            if (static_cast<std::size_t>(wait.kind) == i)
                bands.push_back(
                    {wait.from, wait.to, wait.trigger, exactTimeText(std::to_underlying(wait.to - wait.from))});
        if (bands.empty()) continue;
        panel.layers.push_back(
            {.name = QObject::tr("stall: %1").arg(spoken(transport::kRecoveryKindNames[i])),
             .tip = QObject::tr("The requester made no progress until it sent again (IBA 9.7.6.1.3)"),
             .ink = kWaits[i].ink,
             .shape = Shape::Bands,
             .pattern = kWaits[i].pattern,
             .bands = std::make_shared<const Bands>(std::move(bands))});
    }
    if (!series.of(PsnMark::request).empty()) panel.weight = 4;
    data.panels.push_back(std::move(panel));
    addDepth(data, series, all, reads);
    return data;
}

PsnPicture::PsnPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(tr("PSN over time"), QStringLiteral("psn"), session, selection, parent) {
    addConnectionTools();
    m_way = addTool(QString(), QStringLiteral("object-flip-horizontal"),
                    tr("Direction of the requests shown; switch to the other end (D)"));
    connect(m_way, &QAction::triggered, this, &PsnPicture::turnAround);
    addPlotTools();
    connect(&selection, &Selection::connectionChanged, this, [this] { refresh(true); });
    showWay();
}

void PsnPicture::turnAround() {
    m_requester = transport::other(m_requester);
    showWay();
    refresh(true);
}

void PsnPicture::showWay() {
    const transport::Connection* chosen = connection();
    m_way->setEnabled(chosen != nullptr);
    const QString text =
        chosen == nullptr
            ? tr("No connection")
            : tr("%1 to %2").arg(endText(*chosen, m_requester), endText(*chosen, transport::other(m_requester)));
    m_way->setText(text);
    if (QWidget* button = tools().widgetForAction(m_way))
        button->setAccessibleName(tr("Switch direction: %1").arg(text));
}

// Another connection is shown from the end that asks more.
void PsnPicture::follow() {
    const transport::Connection* chosen = connection();
    if (chosen != nullptr && m_followed != chosen->uid) {
        m_followed = chosen->uid;
        m_requester = chosen->way(transport::End::b).requests > chosen->way(transport::End::a).requests
                          ? transport::End::b
                          : transport::End::a;
    }
    showWay();
}

PlotPicture::Maker PsnPicture::maker(QString& notice) {
    follow();
    const auto chosen = selection().connection();
    if (!chosen) {
        notice = tr("No connection selected. Select one in Connections, or press Page Down for the first.");
        return {};
    }
    return [connection = *chosen, requester = m_requester, way = QStringLiteral(": ") + m_way->text()](
               const Inputs& inputs, const transport::series::Stop& stop) -> std::optional<Made> {
        const auto series = transport::series::psn_series(*inputs.index, *inputs.timeline, connection, requester, stop);
        if (!series) return std::nullopt;
        transport::series::Scope own;
        own.add(connection, requester);
        const auto outstanding = [&](transport::series::MessageKinds kinds) {
            return transport::series::outstanding(*inputs.index, *inputs.timeline, own, kinds, stop);
        };
        const auto all = outstanding(transport::series::kAllMessageKinds);
        const auto reads = outstanding(transport::series::only(transport::MessageKind::read));
        if (!all || !reads) return std::nullopt;
        Made made{psnPlot(*series, *all, *reads), tr("This end sent no requests. Press D for the other end."), true};
        made.data.panels.front().subject = way;
        return made;
    };
}

void PsnPicture::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_D && event->modifiers() == Qt::NoModifier) turnAround();
    else PlotPicture::keyPressEvent(event);
}

}  // namespace qps::gui
