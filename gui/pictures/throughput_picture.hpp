// ThroughputPicture: how much went over the wire and how much of it was new payload, what was refused or sent again,
// and how much was outstanding: of the chosen connection, of all packets, or of those that the filter lets through.
#pragma once

#include <gui/pictures/plot_picture.hpp>
#include <transport-replay/series/outstanding.hpp>
#include <transport-replay/series/throughput.hpp>

namespace qps::gui {

// Its panels: rates, counts and what was outstanding. Rates and counts are summed anew for every zoom.
[[nodiscard]] PlotData throughputPlot(transport::series::Throughput throughput,
                                      const transport::series::Outstanding& outstanding);

class ThroughputPicture : public PlotPicture {
    Q_OBJECT

public:
    ThroughputPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

protected:
    [[nodiscard]] Maker maker(QString& notice) override;
};

// A quantity of a Throughput as steps, in bins that fit a view: bits a second, or how many in each bin.
using AmountOf = std::uint64_t (*)(const transport::series::Amount&);
// Says in a panel of such sums how long a bin is at that zoom.
void tellBins(Panel& panel, const transport::series::Throughput& throughput, const Zoom& zoom);
[[nodiscard]] std::shared_ptr<const Points> binned(const transport::series::Throughput& throughput,
                                                   const transport::series::Range& view, std::size_t columns,
                                                   AmountOf amount, bool perSecond);

}  // namespace qps::gui
