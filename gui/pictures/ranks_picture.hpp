// RanksPicture: the ranks of a group that works in steps (NCCL, MPI) over time: when each of them began, how long it
// waited for the last one, and until when the step went on.
#pragma once

#include <gui/pictures/plot_picture.hpp>

class QComboBox;

namespace qps::transport {
struct Collective;
}  // namespace qps::transport

namespace qps::gui {

[[nodiscard]] PlotData ranksPlot(const transport::Collective& collective);

class RanksPicture : public PlotPicture {
    Q_OBJECT

public:
    RanksPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

protected:
    [[nodiscard]] Maker maker(QString& notice) override;

private:
    void listGroups();

    QComboBox* m_group;
};

}  // namespace qps::gui
