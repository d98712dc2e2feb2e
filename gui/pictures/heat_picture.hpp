// HeatPicture: connections as rows over time, each piece of time the darker the more of one thing it had: packets sent
// again, NAKs, congestion, latency, bytes. Whether one connection of thousands suffers, or all at the same moment, is
// seen at once.
#pragma once

#include <gui/pictures/plot_picture.hpp>
#include <transport-replay/series/connection_heat.hpp>

class QComboBox;

namespace qps::gui {

inline constexpr std::size_t kHeatShades = 5;

// The least values of the shades, from light to dark: steps of one where these suffice, else of one factor from the
// least value to the most. Less than kHeatShades where there are less values.
[[nodiscard]] std::vector<std::uint64_t> heatShades(std::uint64_t least, std::uint64_t most);

// `names`: of the rows of `heat`, in their order.
// What of a capture is worth a look first: what went wrong, else latency, else bytes.
[[nodiscard]] transport::series::HeatOf firstHeat(const transport::Timeline& timeline);

[[nodiscard]] PlotData heatPlot(transport::series::ConnectionHeat heat, transport::series::HeatOf of,
                                std::vector<QString> names);

class HeatPicture : public PlotPicture {
    Q_OBJECT

public:
    HeatPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

    [[nodiscard]] transport::series::HeatOf shownMeasure() const;
    void setMeasure(transport::series::HeatOf of);  // the user's choice stays with later captures

protected:
    [[nodiscard]] Maker maker(QString& notice) override;

private:
    QComboBox* m_measure;
    bool m_chosen = false;  // the user chose what is measured
};

}  // namespace qps::gui
