// IndexModel: rows of the index of an open capture as a table. They are shown as they are while the index grows; who
// the ends are and where trouble was comes from the timeline, later.
#pragma once

#include <gui/tables/table_model.hpp>
#include <gui/tables/troubles.hpp>

#include <memory>

namespace qps::transport {
class CaptureIndex;
struct Endpoint;
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

class IndexModel : public TableModel {
    Q_OBJECT

public:
    // Pixels of a view are int: rows of a line of text at twice the usual size end there. The rest is not shown.
    static constexpr Row kMostRows = 40'000'000;

    // Another capture.
    void setIndex(std::shared_ptr<const transport::CaptureIndex> index);
    // Takes in what the index has more.
    void update();
    // A newer one of that capture.
    void setTimeline(std::shared_ptr<const transport::Timeline> timeline);
    // How many the index has, shown or not. 0 without an index.
    [[nodiscard]] std::uint64_t indexed() const { return m_index == nullptr ? 0 : rowsOf(*m_index); }

    [[nodiscard]] Row sources() const final { return m_rows; }
    [[nodiscard]] std::optional<Row> rowOfConnection(transport::ConnectionId) const final { return std::nullopt; }
    [[nodiscard]] QString filter(Row row) const final;

protected:
    IndexModel(std::vector<Heading> headings, QObject* parent);

    [[nodiscard]] virtual std::uint64_t rowsOf(const transport::CaptureIndex& index) const = 0;
    // Rows that were asked for are of another capture now.
    virtual void forget() = 0;

    [[nodiscard]] const std::shared_ptr<const transport::CaptureIndex>& capture() const { return m_index; }
    [[nodiscard]] const transport::Timeline& timeline() const { return *m_timeline; }
    [[nodiscard]] const Troubles& troubles() const { return m_troubles; }
    // Of a connection that the timeline may not have yet: unknown then.
    [[nodiscard]] const transport::Endpoint& endpoint(transport::ConnectionId connection, transport::End end) const;
    [[nodiscard]] QString ofEnd(const transport::Endpoint& end) const;  // what users call it
    // Times are shown since then.
    [[nodiscard]] dissect::Instant start() const;

private:
    [[nodiscard]] Row shownRows() const;

    std::shared_ptr<const transport::CaptureIndex> m_index;
    std::shared_ptr<const transport::Timeline> m_timeline;
    Troubles m_troubles;
    Row m_rows = 0;  // of the index, at the last update
};

}  // namespace qps::gui
