// CaseTimeline: the events of a case over time, a row for each host, a colour for what they are about. Times of one
// kind of clock alone are comparable: which kind is shown can be chosen, and what has another or none is counted.
#pragma once

#include <gui/casework/opened_case.hpp>
#include <gui/pictures/picture.hpp>
#include <gui/pictures/plot.hpp>

class QComboBox;

namespace qps::gui {

// Events whose time is of one kind of clock. Since each host's own start (`boot`) rows do not tell what was earlier on
// which host.
struct CasePlot {
    PlotData data;
    std::vector<std::vector<std::size_t>> events;  // of each layer: by position of its bands, of Case::events
    std::size_t others = 0;                        // events of other clocks, and without a time
};
[[nodiscard]] CasePlot casePlot(const casework::Case& read, casework::ClockKind clock);
// Kinds of clocks that events have, the one with most of them first.
[[nodiscard]] std::vector<casework::ClockKind> clocksOf(const casework::Case& read);

class CaseTimeline : public Picture {
    Q_OBJECT

public:
    explicit CaseTimeline(QWidget* parent = nullptr);
    void setCase(std::shared_ptr<const OpenedCase> opened);  // null: none
    [[nodiscard]] Plot& plot() { return *m_plot; }

Q_SIGNALS:
    void eventChosen(std::size_t event);  // of Case::events

protected:
    [[nodiscard]] QSizeF pictureSize(double) const override { return m_plot->size(); }
    void paintPicture(QPainter& painter, const QSizeF& size, double scale, const QPalette& palette) const override;
    [[nodiscard]] QStringList caption() const override;
    void writeCsv(QIODevice& device) const override;
    [[nodiscard]] QString fileName() const override { return QStringLiteral("case"); }

private:
    void draw();
    void choose(const Hit& hit);

    std::shared_ptr<const OpenedCase> m_opened;
    std::vector<casework::ClockKind> m_clocks;
    CasePlot m_shown;
    QComboBox* m_clock;
    QAction* m_clockTool = nullptr;
    Plot* m_plot;
};

}  // namespace qps::gui
