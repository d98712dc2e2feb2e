#include <gui/packets/packets_view.hpp>
#include <gui/pictures/congestion_picture.hpp>
#include <gui/pictures/ladder_picture.hpp>
#include <gui/pictures/latency_picture.hpp>
#include <gui/pictures/psn_picture.hpp>
#include <gui/pictures/throughput_picture.hpp>
#include <gui/session/session.hpp>
#include <gui/summary/summary_view.hpp>
#include <gui/tables/cm_view.hpp>
#include <gui/tables/connections_view.hpp>
#include <gui/tables/findings_view.hpp>
#include <gui/tables/messages_view.hpp>
#include <gui/tables/operations_view.hpp>
#include <gui/window/views.hpp>

#include <array>

namespace qps::gui {

namespace {

template <class View>
QWidget* make(Session& session, Selection& selection, const ViewRequest& request) {
    auto* view = new View(session, selection);
    if constexpr (requires { &View::viewRequested; }) QObject::connect(view, &View::viewRequested, view, request);
    return view;
}

using Count = std::optional<std::uint64_t>;

constexpr std::array kViewRows{
    ViewRow{"summary", QT_TRANSLATE_NOOP("views", "Summary"), QT_TRANSLATE_NOOP("views", "What happened, at a glance"), make<SummaryView>},
    ViewRow{"packets", QT_TRANSLATE_NOOP("views", "Packets"), QT_TRANSLATE_NOOP("views", "Every packet, its fields and its bytes"),
            make<PacketsView>, [](const Session& session) -> Count { return session.packets(); }},
    ViewRow{"findings", QT_TRANSLATE_NOOP("views", "Findings"),
            QT_TRANSLATE_NOOP("views", "What went wrong, who can mend it, and what proves it"), make<FindingsView>,
            [](const Session& session) -> Count { return session.timeline()->findings.size(); }},
    ViewRow{"connections", QT_TRANSLATE_NOOP("views", "Connections"), QT_TRANSLATE_NOOP("views", "Pairs of queue pairs that talk"),
            make<ConnectionsView>, [](const Session& session) -> Count { return session.timeline()->connections.size(); }},
    ViewRow{"messages", QT_TRANSLATE_NOOP("views", "Messages"), QT_TRANSLATE_NOOP("views", "Work requests, and what became of them"),
            make<MessagesView>, [](const Session& session) -> Count { return session.index()->messages.size(); }},
    ViewRow{"operations", QT_TRANSLATE_NOOP("views", "Operations"),
            QT_TRANSLATE_NOOP("views", "What storage and other protocols on top asked for, and how long it took"), make<OperationsView>,
            [](const Session& session) -> Count { return session.index()->operations.size(); }},
    ViewRow{"cm", QT_TRANSLATE_NOOP("views", "Set-up"), QT_TRANSLATE_NOOP("views", "How connections were set up and taken down"),
            make<CmView>, [](const Session& session) -> Count { return session.timeline()->cm.attempts.size(); }},
    ViewRow{"psn", QT_TRANSLATE_NOOP("views", "PSN over time"),
            QT_TRANSLATE_NOOP("views", "What a connection sent, sent again and acknowledged"), make<PsnPicture>, nullptr, true},
    ViewRow{"ladder", QT_TRANSLATE_NOOP("views", "Ladder"), QT_TRANSLATE_NOOP("views", "The messages of a connection from end to end"),
            make<LadderPicture>},
    ViewRow{"throughput", QT_TRANSLATE_NOOP("views", "Throughput"),
            QT_TRANSLATE_NOOP("views", "Throughput, goodput and what is outstanding over time"), make<ThroughputPicture>},
    ViewRow{"latency", QT_TRANSLATE_NOOP("views", "Latency"), QT_TRANSLATE_NOOP("views", "How long messages took"), make<LatencyPicture>},
    ViewRow{"congestion", QT_TRANSLATE_NOOP("views", "Congestion"),
            QT_TRANSLATE_NOOP("views", "CE marks, CNPs and pauses, and the flows they hit"), make<CongestionPicture>},
};

}  // namespace

std::span<const ViewRow> viewRows() { return kViewRows; }

}  // namespace qps::gui
