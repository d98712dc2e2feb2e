// IoPicture: an I/O graph: several series over time, each of the packets of a filter, each what the user wants of them.
// Series of one quantity share a panel.
#pragma once

#include <gui/pictures/plot_picture.hpp>
#include <gui/pictures/series_list.hpp>
#include <transport-replay/series/io_graph.hpp>

#include <QComboBox>
#include <QTimer>
#include <atomic>
#include <memory>

namespace qps::gui {

// How values are drawn: on a logarithmic axis, where what is not above 0 has no place; each as the average of so many
// bins up to its own.
struct GraphLook {
    bool logarithmic = false;
    std::size_t average = 1;
};
[[nodiscard]] PlotData ioPlot(const transport::series::IoGraph& graph, const std::vector<SeriesWish>& wishes,
                              const GraphLook& look = {});

class IoPicture : public PlotPicture {
    Q_OBJECT

public:
    IoPicture(Session& session, Selection& selection, QWidget* parent = nullptr);
    [[nodiscard]] SeriesList& seriesList() { return *m_series; }

protected:
    [[nodiscard]] Maker maker(QString& notice) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void remember() const;
    void look();
    void stop();

    QComboBox* m_width;
    QComboBox* m_average;
    QAction* m_logarithmic;
    SeriesList* m_series;
    QAction* m_stop;
    QTimer m_looking;  // at the progress
    std::shared_ptr<std::atomic<std::uint64_t>> m_done;
    std::uint64_t m_pieces = 0;
};

}  // namespace qps::gui
