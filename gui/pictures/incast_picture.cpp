#include <gui/pictures/incast_picture.hpp>
#include <gui/pictures/pause_layers.hpp>
#include <gui/pictures/throughput_picture.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>
#include <array>

namespace qps::gui {

using transport::series::Incast;
using transport::series::IncastReceiver;
using transport::series::PauseRows;
using transport::series::Point;
using transport::series::Throughput;

namespace {

// Of senders, the largest first; what the others send together comes last.
constexpr std::array kSenderInks{Ink::Request,    Ink::Response,     Ink::Acknowledgment, Ink::Retransmission,
                                 Ink::Congestion, Ink::Notification, Ink::Other};
static_assert(kSenderInks.size() == transport::series::kMostIncastSenders + 1);

struct EventLook {
    const char* name;
    const char* tip;
    Ink ink;
    std::vector<Point> Incast::* points;
};
constexpr std::array kEvents{
    EventLook{QT_TRANSLATE_NOOP("QObject", "CE marks"),
              QT_TRANSLATE_NOOP("QObject", "Packets to the receiver that a switch marked (IBA A17.9.3)"),
              Ink::Congestion, &Incast::marks},
    EventLook{QT_TRANSLATE_NOOP("QObject", "CNPs"),
              QT_TRANSLATE_NOOP("QObject", "Notifications that slow its senders down (IBA A17.9.3)"), Ink::Notification,
              &Incast::notifications},
    EventLook{QT_TRANSLATE_NOOP("QObject", "retransmissions"),
              QT_TRANSLATE_NOOP("QObject", "Packets to the receiver that had been on the wire before"),
              Ink::Retransmission, &Incast::retransmissions},
    EventLook{QT_TRANSLATE_NOOP("QObject", "NAKs"),
              QT_TRANSLATE_NOOP("QObject", "Sequence errors that the receiver reports (IBA 9.7.5.1.2)"),
              Ink::NegativeAcknowledgment, &Incast::naks},
    EventLook{QT_TRANSLATE_NOOP("QObject", "RNR NAKs"),
              QT_TRANSLATE_NOOP("QObject", "The receiver had no receive posted (IBA 9.7.5.2.8)"), Ink::Wait,
              &Incast::rnr_naks},
};

std::uint64_t wireBytes(const transport::series::Amount& amount) { return amount.bytes; }

// Each upon those that are larger: the sum of all is drawn first.
Panel ratesOf(const Incast& incast) {
    Panel panel{.title = QObject::tr("Throughput by sender, each upon the other"),
                .quantity = Quantity::BitRate,
                .fromZero = true,
                .weight = 3};
    if (incast.others != 0)
        panel.layers.push_back({.name = QString::fromStdString(transport::counted(incast.others, "other sender")),
                                .ink = kSenderInks.back(),
                                .shape = Shape::Area,
                                .stacked = true});
    for (std::size_t i = incast.senders.size(); i-- > 0;)
        panel.layers.push_back({.name = QString::fromStdString(transport::text(incast.senders[i].address)),
                                .ink = kSenderInks[i],
                                .shape = Shape::Area,
                                .stacked = true});
    return panel;
}

}  // namespace

PlotData incastPlot(Incast incast, const PauseRows& pauses) {
    PlotData data;
    if (incast.senders.empty()) return data;
    Panel events{.title = QObject::tr("What came of it"), .lanes = true, .weight = 2};
    for (const EventLook& look : kEvents)
        if (!(incast.*look.points).empty())
            events.layers.push_back({.name = QObject::tr(look.name),
                                     .tip = QObject::tr(look.tip),
                                     .ink = look.ink,
                                     .mark = MarkShape::Stroke,
                                     .points = pointsOf(incast.*look.points)});
    addPauses(events, pauses);
    data.panels.push_back(ratesOf(incast));
    if (!events.layers.empty()) data.panels.push_back(std::move(events));

    std::vector<Throughput> sums;  // the largest first
    for (auto& sender : incast.senders) sums.push_back(std::move(sender.throughput));
    if (incast.others != 0) sums.push_back(std::move(incast.rest));
    data.refine = [shared = std::make_shared<const std::vector<Throughput>>(std::move(sums))](PlotData& plot,
                                                                                              const Zoom& zoom) {
        std::vector<Point> below;
        Panel& panel = plot.panels.front();
        for (std::size_t i = 0; i < shared->size(); ++i) {
            std::vector<Point> own = binned((*shared)[i], zoom.view, zoom.columns, wireBytes, true)->points();
            for (std::size_t at = 0; at < std::min(own.size(), below.size()); ++at)
                own[at].y = dissect::saturating::add(own[at].y, below[at].y);
            below = own;
            panel.layers[shared->size() - 1 - i].points = std::make_shared<const Points>(std::move(own));
        }
        tellBins(panel, shared->front(), zoom);
    };
    return data;
}

IncastPicture::IncastPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(QObject::tr("Incast"), QStringLiteral("incast"), session, selection, parent),
      m_receiver(new QComboBox(this)) {
    m_receiver->setAccessibleName(tr("Receiver"));
    m_receiver->setToolTip(tr("Host that several others send to"));
    m_receiver->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    tools().addWidget(m_receiver);
    connect(m_receiver, &QComboBox::currentIndexChanged, this, [this] { refresh(false); });
    addPlotTools();
}

// The one that is shown stays while it is there.
void IncastPicture::listReceivers() {
    const auto chosen = static_cast<std::size_t>(std::max(0, m_receiver->currentIndex()));
    const auto before = chosen < m_receivers.size() ? std::optional(m_receivers[chosen].address) : std::nullopt;
    m_receivers = transport::series::incast_receivers(*session().timeline());
    const QSignalBlocker quiet(m_receiver);
    m_receiver->clear();
    for (std::size_t i = 0; i < m_receivers.size(); ++i) {
        const IncastReceiver& one = m_receivers[i];
        m_receiver->addItem(
            tr("%1 from %L2 senders").arg(QString::fromStdString(transport::text(one.address))).arg(one.senders));
        if (one.address == before) m_receiver->setCurrentIndex(static_cast<int>(i));
    }
}

PlotPicture::Maker IncastPicture::maker(QString& notice) {
    listReceivers();
    if (m_receivers.empty()) {
        notice = tr("No host here is sent data by two others.");
        return {};
    }
    const auto receiver = m_receivers[static_cast<std::size_t>(std::max(0, m_receiver->currentIndex()))].address;
    return [receiver](const Inputs& inputs, const transport::series::Stop& stop) -> std::optional<Made> {
        auto incast = transport::series::incast(*inputs.index, *inputs.timeline, receiver, inputs.whole, stop);
        if (!incast) return std::nullopt;
        auto pauses = transport::series::pause_rows(*inputs.index, *inputs.timeline, stop);
        if (!pauses) return std::nullopt;
        // Those that hold up what goes to it.
        std::erase_if(pauses->rows, [&](const transport::series::PauseRow& row) {
            return std::ranges::none_of(row.ways, [&](const transport::series::PausedWay& way) {
                const transport::Connection* of = inputs.timeline->find(way.connection);
                return of != nullptr && of->end(transport::other(way.from)).address == receiver;
            });
        });
        Made made{incastPlot(std::move(*incast), *pauses), tr("Nothing was captured of it.")};
        if (!made.data.panels.empty())
            made.data.panels.front().subject = tr(", to %1").arg(QString::fromStdString(transport::text(receiver)));
        return made;
    };
}

}  // namespace qps::gui
