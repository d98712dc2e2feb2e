// Connections of a timeline as a table.
#pragma once

#include <gui/tables/core_columns.hpp>
#include <gui/tables/troubles.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/series/connection_figures.hpp>

#include <functional>
#include <memory>
#include <set>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

class ConnectionModel : public TableModel {
    Q_OBJECT

public:
    explicit ConnectionModel(QObject* parent = nullptr);
    // A newer one of the same capture keeps what is selected; `other_capture`: everything begins anew.
    void setTimeline(std::shared_ptr<const transport::Timeline> timeline, bool other_capture = false);
    // Of that timeline, or one before it of the same capture.
    void setFigures(std::shared_ptr<const transport::series::ConnectionFigures> figures);
    // What ends are called; nullptr: by their addresses.
    // Only those for which it is true; nothing: all.
    using Choice = std::function<bool(const transport::Connection& connection)>;
    void choose(Choice choice);

    [[nodiscard]] Row sources() const override;
    [[nodiscard]] RowPlace place(Row row) const override;
    [[nodiscard]] std::optional<Row> rowOfPacket(dissect::FrameIndex frame) const override;
    [[nodiscard]] std::optional<Row> rowOfConnection(transport::ConnectionId connection) const override;
    [[nodiscard]] QString identity(Row row) const override;
    [[nodiscard]] QString filter(Row row) const override;

protected:
    [[nodiscard]] QString text(Row row, int column) const override;
    [[nodiscard]] transport::Cell value(Row row, int column) const override;
    [[nodiscard]] transport::Tone tone(Row row) const override;
    [[nodiscard]] std::optional<TimeRange> life(Row row) const override;
    [[nodiscard]] std::vector<Moment> moments(Row row) const override;
    [[nodiscard]] std::vector<std::uint8_t> heights(Row row) const override;

private:
    ConnectionModel(CoreColumns<transport::ConnectionRow> columns, QObject* parent);
    [[nodiscard]] transport::ConnectionRow at(Row row) const;
    [[nodiscard]] const transport::Connection& connection(Row row) const;
    [[nodiscard]] std::vector<std::uint32_t> chosen(const transport::Timeline& timeline) const;

    CoreColumns<transport::ConnectionRow> m_columns;
    std::shared_ptr<const transport::Timeline> m_timeline;
    std::set<transport::ConnectionId> m_given_up;
    Troubles m_troubles;
    std::shared_ptr<const transport::series::ConnectionFigures> m_figures;
    Choice m_choice;
    std::vector<std::uint32_t> m_rows;  // places of the timeline that are chosen
};

}  // namespace qps::gui
