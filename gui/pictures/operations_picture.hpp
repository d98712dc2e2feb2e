// OperationsPicture: how long the operations of storage and other upper protocols took, each a point over the time it
// was asked, coloured by what it was and as large as what it moved; below, where the time of those that moved data
// went.
#pragma once

#include <gui/pictures/plot_picture.hpp>
#include <transport-replay/series/operation_times.hpp>

namespace qps::gui {

inline constexpr std::size_t kMostVerbs = 6;  // with a colour of their own, the most frequent; the others share one

[[nodiscard]] PlotData operationsPlot(transport::series::OperationTimes times);

class OperationsPicture : public PlotPicture {
    Q_OBJECT

public:
    OperationsPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

protected:
    [[nodiscard]] Maker maker(QString& notice) override;
};

}  // namespace qps::gui
