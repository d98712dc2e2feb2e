// IncastPicture: what several hosts send to one, each upon the other over time; below, what came of it: marks,
// notifications, packets sent again, NAKs, and the pauses that held it up.
#pragma once

#include <gui/pictures/plot_picture.hpp>
#include <transport-replay/series/incast.hpp>
#include <transport-replay/series/pause_rows.hpp>

class QComboBox;

namespace qps::gui {

[[nodiscard]] PlotData incastPlot(transport::series::Incast incast, const transport::series::PauseRows& pauses);

class IncastPicture : public PlotPicture {
    Q_OBJECT

public:
    IncastPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

protected:
    [[nodiscard]] Maker maker(QString& notice) override;

private:
    void listReceivers();

    QComboBox* m_receiver;
    std::vector<transport::series::IncastReceiver> m_receivers;  // as the box has them
};

}  // namespace qps::gui
