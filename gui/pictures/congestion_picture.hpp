// CongestionPicture: congestion marks, notifications and pauses on one axis of time, above them the throughput of the
// flows that they hit hardest.
#pragma once

#include <gui/pictures/plot_picture.hpp>
#include <transport-replay/series/congestion_series.hpp>
#include <transport-replay/series/throughput.hpp>

namespace qps::gui {

inline constexpr std::size_t kMostHitFlows = 4;  // that are drawn; more cannot be told apart
inline constexpr std::size_t kMostPauseLanes = 12;

struct HitFlow {
    QString name;
    transport::series::Throughput throughput;
};

// `flows`: at most kMostHitFlows; `all`: of all packets.
[[nodiscard]] PlotData congestionPlot(const transport::series::CongestionSeries& series,
                                      const std::vector<transport::PausePeriod>& pauses, std::vector<HitFlow> flows,
                                      transport::series::Throughput all);

class CongestionPicture : public PlotPicture {
    Q_OBJECT

public:
    CongestionPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

protected:
    [[nodiscard]] Maker maker(QString& notice) override;
};

}  // namespace qps::gui
