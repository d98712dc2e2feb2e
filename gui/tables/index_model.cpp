#include <gui/base/names.hpp>
#include <gui/base/text.hpp>
#include <gui/tables/index_model.hpp>
#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>

namespace qps::gui {

using namespace transport;

IndexModel::IndexModel(std::vector<Heading> headings, QObject* parent)
    : TableModel(std::move(headings), parent), m_timeline(std::make_shared<Timeline>()) {}

IndexModel::Row IndexModel::shownRows() const {
    return static_cast<Row>(std::min<std::uint64_t>(indexed(), kMostRows));
}

void IndexModel::setIndex(std::shared_ptr<const CaptureIndex> index) {
    beginReplace();
    m_index = std::move(index);
    m_timeline = std::make_shared<Timeline>();
    m_troubles = {};
    forget();
    m_rows = shownRows();
    endReplace();
}

void IndexModel::update() {
    const Row rows = shownRows();
    if (rows == m_rows) return;
    m_rows = rows;
    rowsAdded();
}

void IndexModel::setTimeline(std::shared_ptr<const Timeline> timeline) {
    m_timeline = std::move(timeline);
    m_troubles = Troubles(*m_timeline);
    setAxis({m_timeline->first.value_or(dissect::Instant{}), m_timeline->last.value_or(dissect::Instant{})});
    update();
    rowsChanged();
}

const Endpoint& IndexModel::endpoint(ConnectionId connection, End end) const {
    static const Endpoint kUnknown;
    const Connection* known = m_timeline->find(connection);
    return known == nullptr ? kUnknown : known->end(end);
}

QString IndexModel::ofEnd(const Endpoint& end) const {
    return names() == nullptr ? shown(transport::text(end)) : names()->end(end);
}

dissect::Instant IndexModel::start() const {
    return m_timeline->first.value_or(m_index->start().value_or(dissect::Instant{}));
}

QString IndexModel::filter(Row row) const {
    const RowPlace where = place(row);
    return QStringLiteral("rdma.connection == %1 and frame.number in {%2..%3}")
        .arg(std::to_underlying(*where.connection))
        .arg(std::to_underlying(where.first))
        .arg(std::to_underlying(where.last));
}

}  // namespace qps::gui
