#include <gui/base/names.hpp>
#include <gui/base/text.hpp>
#include <gui/hosts/heat_map.hpp>
#include <gui/hosts/hosts_view.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/table_tie.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <QComboBox>
#include <QHBoxLayout>
#include <QHash>
#include <QLabel>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <numeric>

namespace qps::gui {

using namespace transport;
using transport::series::HostMatrix;
using transport::series::HostPair;

namespace {

struct MeasureRow {
    const char* name;
    double (*value)(const HostPair& pair);
    std::string (*text)(double value);
};

std::string time_text(double value) { return duration_text(dissect::Duration{static_cast<std::int64_t>(value)}); }

// By HostsView::Measure.
constexpr std::array kMeasures{
    MeasureRow{QT_TRANSLATE_NOOP("HostsView", "Packets lost"),
               [](const HostPair& pair) { return static_cast<double>(pair.lost); },
               [](double value) { return grouped(static_cast<std::uint64_t>(value)); }},
    MeasureRow{QT_TRANSLATE_NOOP("HostsView", "Time stalled"),
               [](const HostPair& pair) { return static_cast<double>(std::to_underlying(pair.stalled)); }, time_text},
    MeasureRow{QT_TRANSLATE_NOOP("HostsView", "Latency, 99th percentile"),
               [](const HostPair& pair) { return static_cast<double>(std::to_underlying(pair.p99)); }, time_text},
    MeasureRow{QT_TRANSLATE_NOOP("HostsView", "Bytes"),
               [](const HostPair& pair) { return static_cast<double>(pair.bytes); },
               [](double value) { return bytes_text(static_cast<std::uint64_t>(value)); }},
};

bool sameHost(const Address& a, const Address& b) {
    return a.bits == b.bits && (a.space == AddressSpace::infiniband_lid) == (b.space == AddressSpace::infiniband_lid);
}

// Of a host alone, if no other has it.
QStringList hostNames(const QStringList& addresses, const Names& names) {
    QHash<QString, int> times;
    for (const QString& address : addresses) ++times[names.host(address)];
    QStringList all;
    for (const QString& address : addresses) {
        const QString name = names.host(address);
        all << (name.isEmpty() || times[name] > 1 ? names.named(address) : name);
    }
    return all;
}

}  // namespace

HostsView::HostsView(Session& session, Selection& selection, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_made(std::make_shared<Made>()),
      m_model(new ConnectionModel),
      m_table(new TableView(m_model, QStringLiteral("hostConnections"))),
      m_map(new HeatMap),
      m_measure(new QComboBox),
      m_pair(new QLabel) {
    for (const MeasureRow& row : kMeasures) m_measure->addItem(tr(row.name));
    m_measure->setCurrentIndex(static_cast<int>(Measure::Bytes));
    m_measure->setAccessibleName(tr("What is measured"));
    m_measure->setToolTip(tr("What the colours of the cells stand for"));
    m_map->setAccessibleName(tr("Pairs of hosts"));
    m_pair->setTextFormat(Qt::PlainText);
    m_pair->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_pair->setWordWrap(true);  // a long sentence shall not make the window wider
    m_table->table().setAccessibleName(tr("Connections of the hosts"));
    m_table->putBarsAt(3);
    auto* top = new QWidget;
    auto* column = new QVBoxLayout(top);
    column->setContentsMargins(0, 0, 0, 0);
    auto* line = new QHBoxLayout;
    line->addWidget(m_measure);
    line->addWidget(m_pair, 1);
    column->addLayout(line);
    column->addWidget(m_map, 1);
    auto* parts = new QSplitter(Qt::Vertical);
    parts->addWidget(top);
    parts->addWidget(m_table);
    parts->setChildrenCollapsible(false);
    parts->setSizes({2000, 1000});
    (new QVBoxLayout(this))->addWidget(parts);
    setFocusProxy(m_map);

    new TableTie(*m_table, session, selection, [this](TableModel::Row row, const ShownPackets& shown) {
        return shown.any(*m_model->place(row).connection);
    });
    connect(m_table, &TableView::viewRequested, this, &HostsView::viewRequested);
    connect(m_measure, &QComboBox::currentIndexChanged, this, &HostsView::draw);
    connect(m_measure, &QComboBox::activated, this, [this] { m_chosen = true; });
    connect(m_map, &HeatMap::currentChanged, this, &HostsView::chooseConnections);
    connect(m_map, &HeatMap::activated, m_table, [this] { m_table->setFocus(Qt::OtherFocusReason); });
    connect(&session, &Session::opened, this, [this] {
        m_job.cancel();
        m_made = std::make_shared<Made>();
        m_selected.reset();
        m_model->setTimeline(m_session.timeline(), true);
        draw();
    });
    connect(&session, &Session::timelineChanged, this, [this] {
        m_model->setTimeline(m_session.timeline());
        measure();
    });
    connect(&session, &Session::namesChanged, this, &HostsView::draw);
    m_model->setTimeline(session.timeline(), true);
    draw();
}

void HostsView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale) measure();
}

// Only for who looks: it takes a pass over the rows of the capture.
void HostsView::measure() {
    m_stale = true;
    if (!isVisible() || (m_job.running() && m_session.busy())) return;
    m_stale = false;
    m_job.start([this, index = m_session.index(), timeline = m_session.timeline(),
                 memory = m_session.memory()](const series::Stop& stop) -> SeriesJob::Delivery {
        auto times = series::connection_times(*index, memory, stop);
        if (!times) return {};
        const series::Range range{timeline->first.value_or(dissect::Instant{}),
                                  timeline->last.value_or(dissect::Instant{}) + dissect::Duration{1}};
        auto lines = series::activity_lines(*index, range, timeline->connections.size(), stop);
        if (!lines) return {};
        auto made = std::make_shared<Made>();
        made->matrix = HostMatrix(*timeline, *times);
        made->figures = std::make_shared<series::ConnectionFigures>(
            series::ConnectionFigures{std::move(*times), std::move(*lines)});
        return [this, made = std::move(made)] {
            m_made = made;
            m_model->setFigures(made->figures);
            if (!m_chosen) showHarm();
            draw();
        };
    });
}

// What went wrong comes first, as long as the user has chosen nothing else.
void HostsView::showHarm() {
    const auto any = [this](Measure measure) {
        return std::ranges::any_of(m_made->matrix.pairs(), [&](const HostPair& pair) {
            return kMeasures[static_cast<std::size_t>(measure)].value(pair) > 0;
        });
    };
    const QSignalBlocker quiet(m_measure);  // it is drawn next
    m_measure->setCurrentIndex(static_cast<int>(any(Measure::Lost)      ? Measure::Lost
                                                : any(Measure::Stalled) ? Measure::Stalled
                                                                        : Measure::Bytes));
}

HostsView::Measure HostsView::chosen() const { return static_cast<Measure>(m_measure->currentIndex()); }

// By what they sent and were sent of what is measured: of latencies the longest, else the sum.
void HostsView::sortHosts() {
    const auto value = kMeasures[static_cast<std::size_t>(chosen())].value;
    std::vector<double> harm(m_made->matrix.hosts().size());
    for (const HostPair& pair : m_made->matrix.pairs())
        for (const std::uint32_t host : {pair.from, pair.to})
            harm[host] = chosen() == Measure::Latency ? std::max(harm[host], value(pair)) : harm[host] + value(pair);
    m_order.resize(harm.size());
    std::iota(m_order.begin(), m_order.end(), 0U);
    std::ranges::stable_sort(m_order, std::greater{}, [&](std::uint32_t host) { return harm[host]; });
}

void HostsView::draw() {
    const auto selected = m_selected;  // what the map forgets where its names change
    sortHosts();
    HeatData heat;
    std::vector<int> places(m_order.size());
    for (std::size_t place = 0; place < m_order.size(); ++place) {
        places[m_order[place]] = static_cast<int>(place);
        heat.names << shown(text(hostAt(static_cast<int>(place))));
    }
    if (const auto names = m_session.names()) heat.names = hostNames(heat.names, *names);
    const MeasureRow& measured = kMeasures[static_cast<std::size_t>(chosen())];
    for (const HostPair& pair : m_made->matrix.pairs())
        heat.cells.push_back({places[pair.to], places[pair.from], measured.value(pair)});
    m_map->show(
        std::move(heat), [this](int column, int row) { return describe(column, row); },
        [&measured](double value) { return shown(measured.text(value)); });
    if (selected) choosePair(*selected);
    chooseConnections();
}

const Address& HostsView::hostAt(int place) const {
    return m_made->matrix.hosts()[m_order[static_cast<std::size_t>(place)]];
}

const HostPair* HostsView::pairAt(int column, int row) const {
    return m_made->matrix.find(m_order[static_cast<std::size_t>(row)], m_order[static_cast<std::size_t>(column)]);
}

void HostsView::choosePair(const Hosts& hosts) {
    const auto place = [this](const Address& host) {
        for (std::size_t at = 0; at < m_order.size(); ++at)
            if (hostAt(static_cast<int>(at)) == host) return static_cast<int>(at);
        return -1;
    };
    const QPoint cell(place(hosts.to), place(hosts.from));
    if (cell.x() >= 0 && cell.y() >= 0) m_map->setCurrent(cell);
}

QString HostsView::describe(int column, int row) const {
    const auto name = [&](int at) {
        const QString address = shown(text(hostAt(at)));
        return m_session.names() == nullptr ? address : m_session.names()->named(address);
    };
    const QString who = tr("%1 to %2").arg(name(row), name(column));
    const HostPair* pair = pairAt(column, row);
    if (pair == nullptr) return tr("%1: no packets").arg(who);
    return tr("%1: %2, %3 on the wire, %4 lost, stalled for %5, latency %6 (p99)")
        .arg(who, shown(counted(pair->connections, "connection")), shown(bytes_text(pair->bytes)),
             shown(counted(pair->lost, "packet")), shown(duration_text(pair->stalled)),
             pair->p99 == dissect::Duration{} ? tr("unknown") : shown(duration_text(pair->p99)));
}

void HostsView::chooseConnections() {
    const auto cell = m_map->current();
    m_selected.reset();
    const std::size_t left = m_made->matrix.left_out();
    if (!cell) {
        m_pair->setText(left == 0 ? tr("Select a cell for the connections of two hosts.")
                                  : tr("%1 with the fewest bytes are left out.").arg(shown(counted(left, "host"))));
        m_table->setEmptyText({});
        return m_model->choose({});
    }
    const Address from = hostAt(cell->y());
    const Address to = hostAt(cell->x());
    m_selected = Hosts{from, to};
    m_pair->setText(describe(cell->x(), cell->y()));
    m_table->setEmptyText(tr("No connection joins these hosts."));
    m_model->choose([from, to](const Connection& connection) {
        const Address& a = connection.ends[0].address;
        const Address& b = connection.ends[1].address;
        return (sameHost(a, from) && sameHost(b, to)) || (sameHost(a, to) && sameHost(b, from));
    });
}

}  // namespace qps::gui
