#include <gui/base/text.hpp>
#include <gui/fabric/fabric_view.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/core_columns.hpp>
#include <gui/tables/sheet.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/fabric.hpp>
#include <transport-replay/report/figures.hpp>

#include <QLabel>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;

namespace {

constexpr std::uint8_t kForwarding = 2;  // types of nodes from here on: switch, router

constexpr std::array kPortMeanings{
    Meaning{"node GUID", "The identity of the node"},
    Meaning{"node", "Its description, else what is known of it"},
    Meaning{"type", "Channel adapter, switch or router"},
    Meaning{"LID", "The local identifier of the port; of a switch that of its port 0"},
    Meaning{"port", "The number of the port on its node"},
    Meaning{"state", "Logical state of the port (IBA 14.2.5.6)"},
    Meaning{"rate", "Width and speed in use"},
    Meaning{"linked to", "The port at the other end of the cable"},
    Meaning{"errors", "Counters of errors that increased while the capture ran (IBA 16.1.3.5)"},
};

SheetCell cell(std::string_view text) { return {shown(text), {}, {}}; }

// By kind, what was told, and the packet that told it.
SheetRow detail(const QString& kind, std::string_view words, FrameIndex packet, Tone tone = Tone::plain) {
    const auto number = std::to_underlying(packet);
    return {{{kind, {}, {}}, cell(words), number == 0 ? SheetCell{QStringLiteral("-"), -1, {}} : countCell(number)},
            {},
            packet,
            tone};
}

std::vector<SheetRow> detailsOf(const ManagementReport& report) {
    const FabricMap& map = report.fabric;
    const FabricNodes nodes(map);
    std::vector<SheetRow> rows;
    for (const PortCounterHistory& history : report.counters) {
        const std::vector<std::string> moved = moved_texts(history, false);
        if (moved.empty()) continue;
        QStringList all;
        for (const std::string& one : moved) all << shown(one);
        const Tone tone = moved_texts(history, true).empty() ? Tone::plain : Tone::warning;
        rows.push_back(detail(FabricView::tr("counters"),
                              owner_text(nodes, history) + ": " + all.join(QStringLiteral(", ")).toStdString(),
                              history.last, tone));
    }
    for (const ManagementEvent& event : report.events)
        rows.push_back(detail(FabricView::tr("event"),
                              text(event.from) + (event.reported ? " reports " : " sends ") + event_text(event) +
                                  (event.count > 1 ? ", " + counted(event.count, "time") : std::string()),
                              event.first));
    for (const Exchange& exchange : report.exchanges)
        if (exchange.outcome != ExchangeOutcome::answered && exchange.outcome != ExchangeOutcome::open)
            rows.push_back(
                detail(FabricView::tr("failed request"), exchange_text(exchange), exchange.request, Tone::warning));
    for (const SubnetManager& manager : map.managers)
        rows.push_back(detail(FabricView::tr("subnet manager"), manager_text(manager), manager.first));
    for (const Partition& partition : map.partitions)
        rows.push_back(detail(FabricView::tr("partition"), partition_text(nodes, partition), FrameIndex{}));
    const MemberPorts ports(map);
    for (const MulticastGroup& group : map.groups) {
        const bool small =
            std::ranges::any_of(group.members, [&](const auto& member) { return ports.is_too_small(group, member); });
        rows.push_back(detail(FabricView::tr("multicast group"), group_text(group, ports), group.first,
                              small ? Tone::warning : Tone::plain));
    }
    for (const ExchangeSum& sum : report.sums)
        rows.push_back(detail(FabricView::tr("requests"), sum_text(sum), FrameIndex{},
                              sum.unanswered != 0 ? Tone::warning : Tone::plain));
    if (map.left_out != 0)
        rows.push_back(detail(FabricView::tr("left out"),
                              counted(map.left_out, "item") + " beyond the limits of the map", FrameIndex{},
                              Tone::warning));
    return rows;
}

}  // namespace

struct FabricView::Made {
    std::shared_ptr<FabricDrawing> drawing = std::make_shared<FabricDrawing>();
    std::vector<SheetRow> ports;
    std::vector<std::size_t> nodeOfPort;
    std::vector<SheetRow> details;
    QString words;
};

FabricView::FabricView(Session& session, Selection& selection, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_selection(selection),
      m_map(new FabricMapPicture),
      m_words(new QLabel),
      m_made(std::make_shared<Made>()) {
    const CoreColumns<FabricRow> columns(fabric_columns());
    m_ports = new Sheet(tr("Ports of the fabric"), columns.headings(kPortMeanings));
    m_details = new Sheet(tr("What was told of the fabric"), {{tr("Kind"), tr("What it is"), false},
                                                              {tr("What"), tr("What the datagrams said"), false},
                                                              {tr("Packet"), tr("The packet that told it"), true}});
    build();
    for (const Sheet* sheet : {m_ports, m_details})
        connect(sheet, &Sheet::rowActivated, this, [this, sheet] { goTo(*sheet); });
    connect(m_map, &FabricMapPicture::currentChanged, this, &FabricView::showPorts);
    connect(m_map, &FabricMapPicture::activated, m_ports, [this] { m_ports->setFocus(Qt::OtherFocusReason); });
    connect(&m_job, &SeriesJob::failed, m_words, &QLabel::setText);
    for (const auto changed : {&Session::opened, &Session::timelineChanged})
        connect(&session, changed, this, &FabricView::refresh);
    describe();
}

void FabricView::build() {
    setAccessibleName(tr("Fabric"));
    m_map->setAccessibleName(tr("Map of the fabric"));
    m_words->setTextFormat(Qt::PlainText);
    m_words->setWordWrap(true);
    m_words->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_words->setAccessibleName(tr("The selected node"));
    m_ports->setEmptyText(tr("No ports are known."));
    m_details->setEmptyText(tr("Nothing was told."));
    auto* tabs = new QTabWidget;
    tabs->setDocumentMode(true);
    tabs->setAccessibleName(tr("Tables of the fabric"));
    tabs->tabBar()->setAccessibleName(tr("Tables of the fabric"));
    tabs->setTabToolTip(tabs->addTab(m_ports, tr("Ports")),
                        tr("Ports with their links, rates and errors; of the selected node, where one is"));
    tabs->setTabToolTip(tabs->addTab(m_details, tr("Counters, events, requests")),
                        tr("What else management datagrams told"));
    auto* top = new QWidget;
    auto* column = new QVBoxLayout(top);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_words);
    column->addWidget(m_map, 1);
    auto* parts = new QSplitter(Qt::Vertical);
    parts->addWidget(top);
    parts->addWidget(tabs);
    parts->setChildrenCollapsible(false);
    parts->setSizes({1000, 1000});
    (new QVBoxLayout(this))->addWidget(parts);
    setFocusProxy(m_map);
}

void FabricView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale) refresh();
}

void FabricView::refresh() {
    m_stale = true;
    if (!isVisible() || (m_job.running() && m_session.busy())) return;
    m_stale = false;
    m_job.start([this, timeline = m_session.timeline()](const series::Stop& stop) -> SeriesJob::Delivery {
        const ManagementReport& report = timeline->management;
        const FabricMap& map = report.fabric;
        auto made = std::make_shared<Made>();
        made->drawing->layout = series::lay_out(report);
        std::vector<std::size_t> links(map.nodes.size()), troubled(map.nodes.size());
        for (const series::FabricWire& wire : made->drawing->layout.wires)
            for (const std::size_t node : {wire.a, wire.b}) {
                ++links[node];
                troubled[node] += wire.errors || wire.down ? 1 : 0;
            }
        if (series::stopped(stop)) return {};
        for (std::size_t i = 0; i < map.nodes.size(); ++i) {
            const FabricNode& node = map.nodes[i];
            made->drawing->names << shown(node_text(node));
            made->drawing->forwards.push_back(node.type >= kForwarding);
            QString words = tr("%1: %2").arg(shown(node_text(node)), shown(type_text(node)));
            if (node.lid() != dissect::Lid{}) words += tr(", LID %1").arg(std::to_underlying(node.lid()));
            words += tr(", %1").arg(shown(counted(links[i], "link")));
            if (troubled[i] != 0) words += tr(", %1 with errors or down").arg(troubled[i]);
            made->drawing->words << words;
        }
        const CoreColumns<FabricRow> columns(fabric_columns());
        const int count = static_cast<int>(columns.headings({}).size());
        for (const FabricRow& row : fabric_rows(report)) {
            SheetRow port{{}, {}, row.node.first, tone_of(row)};
            for (int column = 0; column < count; ++column) {
                const Cell value = columns.value(row, column);
                const auto* number = std::get_if<std::uint64_t>(&value);
                port.cells.push_back({columns.text(row, column),
                                      number != nullptr ? std::optional(static_cast<double>(*number)) : std::nullopt,
                                      {}});
            }
            made->ports.push_back(std::move(port));
            made->nodeOfPort.push_back(static_cast<std::size_t>(&row.node - map.nodes.data()));
        }
        made->details = detailsOf(report);
        if (report.datagrams != 0)
            made->words = tr("%1, %2, %3.")
                              .arg(shown(counted(map.nodes.size(), "node")), shown(counted(map.links.size(), "link")),
                                   shown(counted(report.datagrams, "datagram")));
        return [this, made, timeline] { present(*made); };
    });
}

void FabricView::present(const Made& made) {
    m_made = std::make_shared<const Made>(made);
    m_map->show(m_made->drawing);
    m_details->setRows(m_made->details);
    showPorts();
}

void FabricView::describe() {
    const auto node = m_map->current();
    if (node) return m_words->setText(m_made->drawing->words[static_cast<qsizetype>(*node)]);
    m_words->setText(m_made->words.isEmpty() ? tr("No management datagrams of the fabric.")
                                             : tr("%1 Select a node for its ports.").arg(m_made->words));
}

void FabricView::showPorts() {
    const auto node = m_map->current();
    std::vector<SheetRow> rows;
    for (std::size_t i = 0; i < m_made->ports.size(); ++i)
        if (!node || m_made->nodeOfPort[i] == *node) rows.push_back(m_made->ports[i]);
    m_ports->setRows(std::move(rows));
    describe();
}

void FabricView::goTo(const Sheet& sheet) {
    const SheetRow* row = sheet.currentRow();
    if (row == nullptr || row->packet == FrameIndex{}) return;
    m_selection.selectPacket(row->packet);
    Q_EMIT viewRequested(QStringLiteral("packets"));
}

}  // namespace qps::gui
