#include <gui/pictures/waterfall_picture.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/verbs.hpp>

#include <QComboBox>
#include <algorithm>
#include <array>

namespace qps::gui {

using transport::series::MessagePart;
using transport::series::PartSpan;
using transport::series::Range;
using transport::series::Waterfall;
using transport::series::WaterfallOrder;
using transport::series::WaterfallRow;

namespace {

struct PartLook {
    const char* name;
    Ink ink;
    Qt::BrushStyle pattern;
    const char* tip;
};

// By MessagePart.
constexpr std::array kPartLooks{
    PartLook{QT_TRANSLATE_NOOP("QObject", "request"), Ink::Request, Qt::SolidPattern,
             QT_TRANSLATE_NOOP("QObject", "Its request packets as they came first")},
    PartLook{QT_TRANSLATE_NOOP("QObject", "wait"), Ink::Wait, Qt::BDiagPattern,
             QT_TRANSLATE_NOOP("QObject", "From its last packet until its requester sent again")},
    PartLook{QT_TRANSLATE_NOOP("QObject", "retransmission"), Ink::Retransmission, Qt::SolidPattern,
             QT_TRANSLATE_NOOP("QObject", "Request packets that had been on the wire before")},
    PartLook{QT_TRANSLATE_NOOP("QObject", "responder"), Ink::Acknowledgment, Qt::Dense5Pattern,
             QT_TRANSLATE_NOOP("QObject", "From its last request packet to the first that answered it")},
    PartLook{QT_TRANSLATE_NOOP("QObject", "response"), Ink::Response, Qt::SolidPattern,
             QT_TRANSLATE_NOOP("QObject", "Responses of a READ or an ATOMIC, from the first to the last")},
};
static_assert(kPartLooks.size() == transport::series::kMessagePartNames.size());

QString lengthText(const Range& time) { return exactTimeText(std::to_underlying(time.to - time.from)); }

QString messageTitle(const transport::MessageRow& message, const WaterfallRow& row) {
    QString text = QString::fromUtf8(transport::kMessageKindTitles[static_cast<std::size_t>(message.kind())]);
    text += QLatin1Char(' ') + QString::fromStdString(transport::bytes_text(message.bytes()));
    switch (message.outcome()) {
        case transport::Outcome::completed: return text + QStringLiteral(", ") + lengthText(row.time);
        case transport::Outcome::sent: return text + QObject::tr(", not answered by its kind");
        case transport::Outcome::failed: return text + QObject::tr(", NAK");
        default: return text + QObject::tr(", no answer");
    }
}

// The rows of a choice, as spans of one layer for each part.
void showRows(Panel& panel, const transport::CaptureIndex& index, const Waterfall& waterfall,
              const Waterfall::Chosen& chosen) {
    std::array<std::vector<Band>, kPartLooks.size()> spans;
    panel.rows.clear();
    for (const Waterfall::Extent& extent : chosen.extents) {
        const WaterfallRow row = waterfall.row(index, extent);
        const QString title = messageTitle(index.messages[extent.message], row);
        const auto place = static_cast<std::uint32_t>(panel.rows.size());
        panel.rows.push_back(title);
        for (const PartSpan& part : row.parts)
            spans[static_cast<std::size_t>(part.part)].push_back(
                {part.from, part.to, part.frame, lengthText({part.from, part.to}) + QObject::tr(", of %1").arg(title),
                 place});
    }
    for (std::size_t i = 0; i < spans.size(); ++i)
        panel.layers[i].bands = std::make_shared<const Bands>(std::move(spans[i]));
}

QString choiceNote(const Waterfall::Chosen& chosen, WaterfallOrder order) {
    if (chosen.all <= chosen.extents.size()) return QObject::tr(": all in view");
    return (order == WaterfallOrder::latency ? QObject::tr(": the slowest %L1 of %L2 in view")
                                             : QObject::tr(": the first %L1 of %L2 in view; zoom in for others"))
        .arg(chosen.extents.size())
        .arg(chosen.all);
}

}  // namespace

std::optional<Range> slowestPart(const Waterfall& waterfall, const Range& whole) {
    const auto slowest = waterfall.choose(whole, WaterfallOrder::latency, 1).extents;
    if (slowest.empty()) return std::nullopt;
    const Waterfall::Extent& one = slowest.front();
    const dissect::Duration room{std::to_underlying(one.to - one.from) / 20 + 1};
    return Range{one.from - room, one.to + room};
}

PlotData waterfallPlot(std::shared_ptr<const transport::CaptureIndex> index, Waterfall waterfall,
                       WaterfallOrder order) {
    PlotData data;
    if (waterfall.empty()) return data;
    Panel panel{.title = QObject::tr("Messages")};
    panel.rows.emplace_back();  // until somebody looks
    for (const PartLook& look : kPartLooks)
        panel.layers.push_back({.name = QObject::tr(look.name),
                                .tip = QObject::tr(look.tip),
                                .ink = look.ink,
                                .shape = Shape::Spans,
                                .pattern = look.pattern});
    data.panels.push_back(std::move(panel));
    data.refine = [index, order, shared = std::make_shared<const Waterfall>(std::move(waterfall))](PlotData& plot,
                                                                                                   const Zoom& zoom) {
        const auto chosen = shared->choose(zoom.view, order, kMostWaterfallRows);
        showRows(plot.panels.front(), *index, *shared, chosen);
        plot.panels.front().note = choiceNote(chosen, order);
    };
    return data;
}

WaterfallPicture::WaterfallPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(tr("Waterfall"), QStringLiteral("waterfall"), session, selection, parent),
      m_order(new QComboBox(this)) {
    addScopeTools({tr("Selected connection"), tr("All messages"), tr("Displayed messages")}, tr("Messages shown"));
    m_order->addItems({tr("In order of time"), tr("Slowest first")});
    m_order->setAccessibleName(tr("Order of the messages"));
    m_order->setToolTip(tr("Order of the messages"));
    tools().addWidget(m_order);
    connect(m_order, &QComboBox::currentIndexChanged, this, [this] { refresh(false); });
    addPlotTools();
}

PlotPicture::Maker WaterfallPicture::maker(QString& notice) {
    const auto chosen = scope(notice);
    if (!chosen) return {};
    return [scope = *chosen, whose = connectionText(of() == Of::Connection),
            order = m_order->currentIndex() == 0 ? WaterfallOrder::time : WaterfallOrder::latency](
               const Inputs& inputs, const transport::series::Stop& stop) mutable -> std::optional<Made> {
        scope.only(inputs.hits.get());
        auto waterfall = transport::series::waterfall(*inputs.index, scope, stop);
        if (!waterfall) return std::nullopt;
        const auto entry = slowestPart(*waterfall, inputs.whole);
        Made made{waterfallPlot(inputs.index, std::move(*waterfall), order),
                  tr("No message with a time in this choice.")};
        if (!made.data.panels.empty()) made.data.panels.front().subject = whose;
        made.entry = entry;
        return made;
    };
}

}  // namespace qps::gui
