// CongestionPicture: congestion marks, notifications and pauses on one axis of time, above them the throughput of the
// flows that they hit hardest. Who sent pause frames has a row for each priority, with its XOFF and XON frames; beneath
// stands the traffic that these can stop.
#pragma once

#include <gui/pictures/plot_picture.hpp>
#include <transport-replay/series/congestion_series.hpp>
#include <transport-replay/series/pause_rows.hpp>
#include <transport-replay/series/throughput.hpp>

namespace qps::gui {

inline constexpr std::size_t kMostHitFlows = 4;     // that are drawn; more cannot be told apart
inline constexpr std::size_t kMostPausePanels = 3;  // with traffic: of those that paused longest

struct HitFlow {
    QString name;
    transport::series::Throughput throughput;
};

// A row of pauses, and the flows that its frames can stop.
struct PausedFlows {
    std::size_t row = 0;
    std::vector<HitFlow> flows;  // at most kMostHitFlows
    bool sure = false;           // they go to who paused, with that priority
    std::uint64_t more = 0;      // flows that are not drawn
};

// `flows`: at most kMostHitFlows; `all`: of all packets; `paused`: at most kMostPausePanels.
[[nodiscard]] PlotData congestionPlot(const transport::series::CongestionSeries& series,
                                      const transport::series::PauseRows& pauses, std::vector<HitFlow> flows,
                                      transport::series::Throughput all, std::vector<PausedFlows> paused = {});

class CongestionPicture : public PlotPicture {
    Q_OBJECT

public:
    CongestionPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

protected:
    [[nodiscard]] Maker maker(QString& notice) override;
};

}  // namespace qps::gui
