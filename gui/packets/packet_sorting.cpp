#include <gui/base/names.hpp>
#include <gui/packets/packet_sorting.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <transport-replay/series/io_graph.hpp>

#include <algorithm>
#include <utility>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;
using series::NoOrder;
using series::OrderBy;
using series::PacketOrder;

namespace {

constexpr int kLookEvery = 100;  // ms
constexpr std::uint64_t kSign = std::uint64_t{1} << 63U;

using Index = std::shared_ptr<const CaptureIndex>;

// Numbers as they are ordered; 0 for none.
std::uint64_t keyOf(const dissect::Packet& packet, const dissect::Column& field) {
    std::optional<std::uint64_t> key;
    dissect::for_each_value(packet, field,
                            [&](const dissect::Layer&, const dissect::Field& of, const dissect::Value& value) {
                                if (key) return;
                                const bool has_sign = dissect::value_type(of.format) == dissect::ValueType::fixed_point;
                                key = std::max<std::uint64_t>(
                                    1, has_sign ? value.number ^ kSign : std::min(value.number, UINT64_MAX - 1) + 1);
                            });
    return key.value_or(0);
}

std::function<std::uint64_t(FrameIndex)> numbersOf(const PacketColumn& column, const Index& index) {
    if (column.kind == ColumnKind::Time)
        return [index](FrameIndex frame) {
            const PacketRow& row = index->row(frame);
            return row.has(Mark::timeless) ? 0 : static_cast<std::uint64_t>(std::to_underlying(row.time())) ^ kSign;
        };
    if (column.kind == ColumnKind::Length)
        return [index](FrameIndex frame) { return std::uint64_t{index->row(frame).wire_length()}; };
    if (column.kind == ColumnKind::Number) return [](FrameIndex frame) { return std::to_underlying(frame); };
    if (column.field->name == "rdma.connection")
        return [index](FrameIndex frame) {
            const auto connection = index->row(frame).connection();
            return std::uint64_t{connection ? std::to_underlying(*connection) : 0};
        };
    return [field = *column.field, reader = std::make_shared<PacketReader>(index)](FrameIndex frame) {
        const dissect::Packet* packet = reader->read(frame);
        return packet != nullptr ? keyOf(*packet, field) : 0;
    };
}

bool isNumber(const PacketColumn& column) {
    switch (column.kind) {
        case ColumnKind::Number:
        case ColumnKind::Time:
        case ColumnKind::Length: return true;
        case ColumnKind::Field: return series::is_numeric(*column.field);
        default: return false;
    }
}

OrderBy orderBy(const PacketColumn& column, const Index& index, bool descending,
                const std::shared_ptr<const Names>& names) {
    OrderBy by{.descending = descending};
    if (isNumber(column)) by.number = [column, index] { return numbersOf(column, index); };
    else
        by.text = [column, index, names] {
            return
                [column, names, reader = std::make_shared<PacketReader>(index)](FrameIndex frame, std::string& text) {
                    const dissect::Packet* packet = reader->read(frame);
                    text = packet != nullptr ? cellText(column, *packet, names.get()).toStdString() : std::string();
                };
        };
    return by;
}

}  // namespace

PacketSorting::PacketSorting(Session& session, Selection& selection, QObject* parent)
    : QObject(parent), m_session(session), m_selection(selection) {
    m_looking.setInterval(kLookEvery);
    connect(&m_looking, &QTimer::timeout, this, [this] {
        if (m_done != nullptr) Q_EMIT progressed(static_cast<double>(m_done->load()) / static_cast<double>(m_pieces));
    });
    connect(&m_job, &SeriesJob::finished, this, [this] {
        m_looking.stop();
        Q_EMIT finished();
    });
    connect(&m_job, &SeriesJob::failed, this, [this] {
        m_wanted.reset();
        Q_EMIT refused(tr("Not sorted: out of memory"));
    });
    for (const auto changed : {&Session::opened, &Session::rowsAdded, &Session::stateChanged, &Session::namesChanged})
        connect(&session, changed, this, &PacketSorting::shownChanged);
    for (const auto changed : {&Selection::filterChanged, &Selection::hitsChanged, &Selection::rangeChanged})
        connect(&selection, changed, this, &PacketSorting::shownChanged);
}

void PacketSorting::sort(const PacketColumn& column, bool descending) {
    m_wanted = Wanted{column, descending};
    start();
}

void PacketSorting::clear() {
    m_wanted.reset();
    m_job.cancel();
    if (std::exchange(m_order, nullptr) != nullptr) Q_EMIT orderChanged();
}

// Others are shown now: the order that there was is not theirs.
void PacketSorting::shownChanged() {
    if (!m_wanted) return;
    m_job.cancel();
    if (std::exchange(m_order, nullptr) != nullptr) Q_EMIT orderChanged();
    start();
}

void PacketSorting::start() {
    if (m_session.busy() || m_selection.filtering()) return;  // shownChanged() when it has ended
    const Index index = m_session.index();
    std::shared_ptr<const RowSet> shown;
    if (m_selection.hits() != nullptr) shown = std::make_shared<RowSet>(*m_selection.hits());
    m_done = std::make_shared<std::atomic<std::uint64_t>>(0);
    m_pieces = std::max<std::uint64_t>(
        1, isNumber(m_wanted->column) ? pieces_of(m_selection.shown()) : series::steps_of_sort(m_selection.shown()));
    m_looking.start();
    m_job.start([this, shown, done = m_done, packets = m_session.packets(), memory = memory(),
                 by = orderBy(m_wanted->column, index, m_wanted->descending, m_session.names())](
                    const series::Stop& stop) -> SeriesJob::Delivery {
        auto order = series::order_packets(packets, shown.get(), by, {.stopped = stop, .done = done.get()}, memory);
        if (!order && order.error() == NoOrder::stopped) return {};
        if (!order) return [this, why = order.error()] { refuse(why); };
        return [this, made = std::make_shared<const PacketOrder>(std::move(*order))] {
            m_order = made;
            Q_EMIT orderChanged();
        };
    });
}

std::uint64_t PacketSorting::memory() const {
    return std::max(series::kUsualSortMemory, m_session.memory().bytes() / 8);
}

void PacketSorting::refuse(NoOrder why) {
    const bool number = isNumber(m_wanted->column);
    const QString title = m_wanted->column.title;
    m_wanted.reset();
    const auto most = static_cast<qulonglong>(number ? series::most_sorted_by_number(memory())
                                                     : series::most_sorted_by_text(memory()));
    Q_EMIT refused(
        why == NoOrder::too_many_packets
            ? tr("Not sorted by %1: more than %L2 packets are displayed; narrow the display filter, or give more --memory")
                  .arg(title)
                  .arg(most)
            : tr("Not sorted by %1: too many different texts; narrow the display filter, or give more --memory")
                  .arg(title));
}

}  // namespace qps::gui
