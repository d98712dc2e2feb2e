#include <gui/casework/case_view.hpp>
#include <gui/checks/checks_view.hpp>
#include <gui/compare/compare_view.hpp>
#include <gui/fabric/fabric_view.hpp>
#include <gui/follow/follow_view.hpp>
#include <gui/hosts/hosts_view.hpp>
#include <gui/logs/log_view.hpp>
#include <gui/packets/packets_view.hpp>
#include <gui/pictures/congestion_picture.hpp>
#include <gui/pictures/heat_picture.hpp>
#include <gui/pictures/incast_picture.hpp>
#include <gui/pictures/io_picture.hpp>
#include <gui/pictures/ladder_picture.hpp>
#include <gui/pictures/latency_picture.hpp>
#include <gui/pictures/losses_picture.hpp>
#include <gui/pictures/operations_picture.hpp>
#include <gui/pictures/psn_picture.hpp>
#include <gui/pictures/ranks_picture.hpp>
#include <gui/pictures/throughput_picture.hpp>
#include <gui/pictures/waterfall_picture.hpp>
#include <gui/session/session.hpp>
#include <gui/statistics/statistics_view.hpp>
#include <gui/summary/summary_view.hpp>
#include <gui/tables/cm_view.hpp>
#include <gui/tables/connections_view.hpp>
#include <gui/tables/findings_view.hpp>
#include <gui/tables/index_views.hpp>
#include <gui/window/views.hpp>
#include <transport-replay/model/timeline.hpp>

#include <array>
#include <concepts>

namespace qps::gui {

namespace {

template <class Made> MadeView make(Session& session, Selection& selection, ViewHost& host) {
    auto* made = new Made(session, selection);
    // By a pointer to the signal, if the view has one of that name.
    const auto wire = [&](auto signal, auto asked) {
        QObject::connect(made, signal, made, [&host, asked](auto&&... arguments) { (host.*asked)(arguments...); });
    };
    if constexpr (requires { &Made::viewRequested; }) wire(&Made::viewRequested, &ViewHost::viewRequested);
    if constexpr (requires { &Made::notice; }) wire(&Made::notice, &ViewHost::notice);
    if constexpr (requires { &Made::placeChanged; }) wire(&Made::placeChanged, &ViewHost::placeChanged);
    if constexpr (requires { &Made::workChanged; }) wire(&Made::workChanged, &ViewHost::workChanged);
    if constexpr (requires { &Made::openRequested; }) wire(&Made::openRequested, &ViewHost::openRequested);
    if constexpr (requires { &Made::captureRequested; }) wire(&Made::captureRequested, &ViewHost::captureRequested);
    if constexpr (requires { &Made::fileRequested; }) wire(&Made::fileRequested, &ViewHost::fileRequested);
    if constexpr (requires { &Made::packetRequested; }) wire(&Made::packetRequested, &ViewHost::packetRequested);
    if constexpr (requires { &Made::lineRequested; }) wire(&Made::lineRequested, &ViewHost::lineRequested);
    if constexpr (requires { &Made::commentsChanged; }) wire(&Made::commentsChanged, &ViewHost::commentsChanged);
    if constexpr (std::derived_from<Made, View>) return {made, made};
    else return {made, nullptr};
}

using Count = std::optional<std::uint64_t>;

// Why a view has nothing to show of what was read.

const char* noFindings(const Session& session) {
    return session.timeline()->findings.empty() ? QT_TRANSLATE_NOOP("views", "Nothing was found") : nullptr;
}
const char* noConnections(const Session& session) {
    return session.timeline()->connections.empty()
               ? QT_TRANSLATE_NOOP("views", "The capture has no traffic of queue pairs")
               : nullptr;
}
const char* noLosses(const Session& session) {
    return transport::series::loss_places(*session.timeline()).rows.empty()
               ? QT_TRANSLATE_NOOP("views", "Nothing shows a packet that was lost, marked, late or corrupt")
               : nullptr;
}
const char* noMessages(const Session& session) {
    return session.index()->messages.size() == 0
               ? QT_TRANSLATE_NOOP("views", "The capture has no message of a connection")
               : nullptr;
}
const char* noOperations(const Session& session) {
    return session.index()->operations.size() == 0
               ? QT_TRANSLATE_NOOP("views", "No connection carries an upper protocol whose operations are known")
               : nullptr;
}
const char* noSetup(const Session& session) {
    return session.timeline()->cm.attempts.empty()
               ? QT_TRANSLATE_NOOP("views", "The capture has no message of the connection manager")
               : nullptr;
}
const char* noCongestion(const Session& session) {
    const transport::CongestionReport& report = session.timeline()->congestion;
    return report.marked == 0 && report.cnps == 0 && report.pauses.empty()
               ? QT_TRANSLATE_NOOP("views", "The capture has no CE marks, CNPs or pause frames")
               : nullptr;
}
const char* noIncast(const Session& session) {
    return transport::series::incast_receivers(*session.timeline()).empty()
               ? QT_TRANSLATE_NOOP("views", "No host is sent data by two others")
               : nullptr;
}
const char* noRanks(const Session& session) {
    return session.timeline()->collectives.collectives.empty()
               ? QT_TRANSLATE_NOOP("views", "No group of hosts works in steps, as NCCL and MPI do")
               : nullptr;
}
const char* noFabric(const Session& session) {
    return session.timeline()->management.datagrams == 0
               ? QT_TRANSLATE_NOOP("views",
                                   "The capture has no management datagrams but those of the connection manager")
               : nullptr;
}

constexpr std::array kViewRows{
    ViewRow{"summary", QT_TRANSLATE_NOOP("views", "Summary"), QT_TRANSLATE_NOOP("views", "Overview of the capture"),
            make<SummaryView>},
    ViewRow{"packets", QT_TRANSLATE_NOOP("views", "Packets"),
            QT_TRANSLATE_NOOP("views", "All packets, with fields and bytes"), make<PacketsView>,
            [](const Session& session) -> Count { return session.packets(); }},
    ViewRow{"findings", QT_TRANSLATE_NOOP("views", "Findings"),
            QT_TRANSLATE_NOOP("views", "Problems, with evidence and advice"), make<FindingsView>,
            [](const Session& session) -> Count { return session.timeline()->findings.size(); }, false, noFindings},
    ViewRow{"connections", QT_TRANSLATE_NOOP("views", "Connections"),
            QT_TRANSLATE_NOOP("views", "Connections between queue pairs"), make<ConnectionsView>,
            [](const Session& session) -> Count { return session.timeline()->connections.size(); }, false,
            noConnections},
    ViewRow{"messages", QT_TRANSLATE_NOOP("views", "Messages"),
            QT_TRANSLATE_NOOP("views", "Work requests and their outcome"), make<MessagesView>,
            [](const Session& session) -> Count { return session.index()->messages.size(); }, false, noMessages},
    ViewRow{"operations", QT_TRANSLATE_NOOP("views", "Operations"),
            QT_TRANSLATE_NOOP("views", "Operations of storage and other upper-layer protocols, and their latency"),
            make<OperationsView>, [](const Session& session) -> Count { return session.index()->operations.size(); },
            false, noOperations},
    ViewRow{"cm", QT_TRANSLATE_NOOP("views", "Connection setup"),
            QT_TRANSLATE_NOOP("views", "CM exchanges: setup and teardown of connections"), make<CmView>,
            [](const Session& session) -> Count { return session.timeline()->cm.attempts.size(); }, false, noSetup},
    ViewRow{"psn", QT_TRANSLATE_NOOP("views", "PSN over time"),
            QT_TRANSLATE_NOOP("views", "PSNs sent, retransmitted and acknowledged by a connection"), make<PsnPicture>,
            nullptr, true, noConnections},
    ViewRow{"ladder", QT_TRANSLATE_NOOP("views", "Ladder"),
            QT_TRANSLATE_NOOP("views", "Messages of a connection as a ladder diagram"), make<LadderPicture>, nullptr,
            false, noConnections},
    ViewRow{"waterfall", QT_TRANSLATE_NOOP("views", "Waterfall"),
            QT_TRANSLATE_NOOP("views", "Where the time of each message went: request, waits, responder, response"),
            make<WaterfallPicture>, nullptr, false, noMessages},
    ViewRow{"losses", QT_TRANSLATE_NOOP("views", "Losses"),
            QT_TRANSLATE_NOOP("views", "On which stretch of the way packets were lost, marked, late or corrupt"),
            make<LossesPicture>, nullptr, false, noLosses},
    ViewRow{"follow", QT_TRANSLATE_NOOP("views", "Payload"),
            QT_TRANSLATE_NOOP("views", "What the messages of a connection carried: decoded, as bytes or as text"),
            make<FollowView>, nullptr, false, noMessages},
    ViewRow{"throughput", QT_TRANSLATE_NOOP("views", "Throughput"),
            QT_TRANSLATE_NOOP("views", "Throughput, goodput and outstanding bytes over time"), make<ThroughputPicture>},
    ViewRow{"latency", QT_TRANSLATE_NOOP("views", "Latency"), QT_TRANSLATE_NOOP("views", "Message latency over time"),
            make<LatencyPicture>, nullptr, false, noMessages},
    ViewRow{"operation-latency", QT_TRANSLATE_NOOP("views", "Operation latency"),
            QT_TRANSLATE_NOOP("views", "Latency of storage and other operations over time, and where it went"),
            make<OperationsPicture>, nullptr, false, noOperations},
    ViewRow{"congestion", QT_TRANSLATE_NOOP("views", "Congestion"),
            QT_TRANSLATE_NOOP("views", "CE marks, CNPs and pauses, and the flows they affect"), make<CongestionPicture>,
            nullptr, false, noCongestion},
    ViewRow{"incast", QT_TRANSLATE_NOOP("views", "Incast"),
            QT_TRANSLATE_NOOP("views", "What several hosts send to one, each upon the other, and what came of it"),
            make<IncastPicture>, nullptr, false, noIncast},
    ViewRow{"ranks", QT_TRANSLATE_NOOP("views", "Ranks"),
            QT_TRANSLATE_NOOP("views", "Steps of NCCL and MPI by rank: who waited for whom"), make<RanksPicture>,
            nullptr, false, noRanks},
    ViewRow{"io", QT_TRANSLATE_NOOP("views", "I/O graph"),
            QT_TRANSLATE_NOOP("views",
                              "Series of your own over time: packets of a filter, or sums and percentiles of a field"),
            make<IoPicture>},
    ViewRow{"hosts", QT_TRANSLATE_NOOP("views", "Hosts"),
            QT_TRANSLATE_NOOP("views", "Pairs of hosts by loss, stalls, latency and bytes"), make<HostsView>, nullptr,
            true, noConnections},
    ViewRow{"heat-map", QT_TRANSLATE_NOOP("views", "Heat map"),
            QT_TRANSLATE_NOOP("views", "Connections over time: which had retransmissions, NAKs, latency, and when"),
            make<HeatPicture>, nullptr, false, noConnections},
    ViewRow{"fabric", QT_TRANSLATE_NOOP("views", "Fabric"),
            QT_TRANSLATE_NOOP("views", "Nodes, ports and links as management datagrams show them"), make<FabricView>,
            nullptr, false, noFabric},
    ViewRow{
        "checks", QT_TRANSLATE_NOOP("views", "Checks"),
        QT_TRANSLATE_NOOP(
            "views", "Rules of the protocol that the capture decides, with verdicts and the packets that prove them"),
        make<ChecksView>},
    ViewRow{"statistics", QT_TRANSLATE_NOOP("views", "Statistics"),
            QT_TRANSLATE_NOOP("views",
                              "Protocols, opcodes, lengths, traffic classes, source ports; properties of the capture"),
            make<StatisticsView>},
    ViewRow{"compare", QT_TRANSLATE_NOOP("views", "Before and after"),
            QT_TRANSLATE_NOOP("views", "The capture beside one of an earlier run: what changed"), make<CompareView>},
    ViewRow{
        "logs", QT_TRANSLATE_NOOP("views", "Logs"),
        QT_TRANSLATE_NOOP("views", "From a line of a log to the connection it is about; logs in time with the packets"),
        make<LogView>},
    ViewRow{"case", QT_TRANSLATE_NOOP("views", "Case"),
            QT_TRANSLATE_NOOP("views", "A folder of logs, counters, settings and dumps: verdict, evidence, timeline"),
            make<CaseView>},
};

}  // namespace

std::span<const ViewRow> viewRows() { return kViewRows; }

}  // namespace qps::gui
