// PsnPicture: packet sequence numbers over time of one way of a connection, in the manner of tcptrace: requests, the
// staircase of what was acknowledged, NAKs, what was sent again, responses, and the waits before it was sent again;
// below, what it had outstanding, READs by themselves, and the credits that its responder gave.
#pragma once

#include <gui/pictures/plot_picture.hpp>
#include <transport-replay/series/outstanding.hpp>
#include <transport-replay/series/psn_series.hpp>

namespace qps::gui {

// Its panels; origin and whole are left to the caller.
[[nodiscard]] PlotData psnPlot(const transport::series::PsnSeries& series,
                               const transport::series::Outstanding& all = {},
                               const transport::series::Outstanding& reads = {});

class PsnPicture : public PlotPicture {
    Q_OBJECT

public:
    PsnPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

    [[nodiscard]] transport::End requester() const { return m_requester; }
    void turnAround();  // the requests of the other end

protected:
    [[nodiscard]] Maker maker(QString& notice) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void follow();
    void showWay();

    transport::End m_requester{};
    std::optional<transport::ConnectionId> m_followed;
    QAction* m_way;
};

}  // namespace qps::gui
