// HostsView: which pairs of hosts lose, stall, wait or carry most, as a heat map; below, the connections of the pair
// that is chosen. Hosts stand in the order of what is measured, those with most of it first.
#pragma once

#include <gui/base/series_job.hpp>
#include <gui/tables/connection_model.hpp>
#include <transport-replay/series/host_matrix.hpp>

#include <QWidget>
#include <memory>

class QComboBox;
class QLabel;

namespace qps::gui {

class HeatMap;
class Session;
class Selection;
class TableView;

class HostsView : public QWidget {
    Q_OBJECT

public:
    HostsView(Session& session, Selection& selection, QWidget* parent = nullptr);

    enum class Measure { Lost, Stalled, Latency, Bytes };

Q_SIGNALS:
    void viewRequested(const QString& id);

protected:
    void showEvent(QShowEvent* event) override;

private:
    // What a worker made of a timeline.
    struct Made {
        transport::series::HostMatrix matrix;
        std::shared_ptr<const transport::series::ConnectionFigures> figures;
    };
    void measure();
    void showHarm();
    void draw();
    void chooseConnections();
    [[nodiscard]] Measure chosen() const;
    [[nodiscard]] QString describe(int column, int row) const;
    [[nodiscard]] const transport::Address& hostAt(int place) const;
    [[nodiscard]] const transport::series::HostPair* pairAt(int column, int row) const;
    void sortHosts();
    struct Hosts {
        transport::Address from, to;
    };
    void choosePair(const Hosts& hosts);

    Session& m_session;
    std::shared_ptr<const Made> m_made;
    std::vector<std::uint32_t> m_order;  // hosts of the matrix, by their place in the map
    std::optional<Hosts> m_selected;     // of the cell
    ConnectionModel* m_model;            // of the table
    TableView* m_table;
    HeatMap* m_map;
    QComboBox* m_measure;
    QLabel* m_pair;
    SeriesJob m_job;
    bool m_stale = true;
    bool m_chosen = false;  // the user chose what is measured
};

}  // namespace qps::gui
