// WaterfallPicture: messages as rows over time, each in its parts: the request on the wire, waits before it was sent
// again, what was sent again, the responder, the response. As they began, or the slowest of what is in view.
#pragma once

#include <gui/pictures/plot_picture.hpp>
#include <transport-replay/series/waterfall.hpp>

class QComboBox;

namespace qps::gui {

inline constexpr std::size_t kMostWaterfallRows = 64;  // a screen; their names need some 13 pixels each

[[nodiscard]] PlotData waterfallPlot(std::shared_ptr<const transport::CaptureIndex> index,
                                     transport::series::Waterfall waterfall, transport::series::WaterfallOrder order);
// What is seen at first: the message that took longest, with those that began soon after it; nothing of none.
[[nodiscard]] std::optional<transport::series::Range> slowestPart(const transport::series::Waterfall& waterfall,
                                                                  const transport::series::Range& whole);

class WaterfallPicture : public PlotPicture {
    Q_OBJECT

public:
    WaterfallPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

protected:
    [[nodiscard]] Maker maker(QString& notice) override;

private:
    QComboBox* m_order;
};

}  // namespace qps::gui
