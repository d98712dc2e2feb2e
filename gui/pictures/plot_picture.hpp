// PlotPicture: a picture that is a plot of the open capture. It computes in a worker when the capture, or what it
// follows of the selection, changes, as long as it can be seen; it shows the shared range and packet, and tells the
// selection what was chosen in it.
#pragma once

#include <gui/base/series_job.hpp>
#include <gui/pictures/kept_points.hpp>
#include <gui/pictures/picture.hpp>
#include <gui/pictures/plot.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>

#include <QTimer>
#include <array>

class QComboBox;

namespace qps::gui {

class PlotPicture : public Picture {
    Q_OBJECT

public:
    PlotPicture(const QString& title, const QString& fileName, Session& session, Selection& selection, QWidget* parent);

    enum class Of { Connection, All, Displayed };  // what a picture with a box for it shows

    [[nodiscard]] Plot& plot() { return *m_plot; }
    [[nodiscard]] Of of() const;  // All where it has no box
    void setOf(Of of);
    // Whether what is shown is what there is: nothing is being computed, nor due.
    [[nodiscard]] bool settled() const { return !m_job.running() && !m_due.isActive() && !m_stale; }

protected:
    // What a worker may read. `hits`: a copy; null: all packets.
    struct Inputs {
        std::shared_ptr<const transport::CaptureIndex> index;
        std::shared_ptr<const transport::Timeline> timeline;
        std::shared_ptr<const transport::RowSet> hits;
        transport::series::Range whole;  // times of all packets
    };
    struct Made {
        PlotData data;
        QString notice;       // shown where the data is empty: what is missing and what to do
        bool narrow = false;  // at first the time of its data is seen, not that of the whole capture
        std::optional<transport::series::Range> entry{};  // or this, as PlotData has it
    };
    // Runs in the worker; nothing: it was stopped.
    using Maker = std::function<std::optional<Made>(const Inputs&, const transport::series::Stop&)>;
    // Reads the state of the widget. An empty one: there is nothing to compute; `notice` says why.
    [[nodiscard]] virtual Maker maker(QString& notice) = 0;
    [[nodiscard]] virtual bool filtered() const { return of() == Of::Displayed; }  // whether it wants hits

    // What is shown is out of date; `anew`: of something else, so that the zoom is void.
    void refresh(bool anew);
    // Whether a worker is at it, and that it is no longer wanted: what is shown stays.
    [[nodiscard]] bool computing() const { return m_job.running(); }
    void stopComputing() { m_job.cancel(); }
    // Buttons and keys for the next connection and the one before.
    void addConnectionTools();
    // Likewise, and before them a box that says of what it is: `names` by Of, `tip` with a full sentence.
    void addScopeTools(const std::array<QString, 3>& names, const QString& tip);
    // A button that keeps the points which are shown behind those of the next connection, choice or capture.
    void addCompareTool();
    // What the box chose; nothing, and why in `notice`, where that is a connection and none is selected.
    [[nodiscard]] std::optional<transport::series::Scope> scope(QString& notice) const;
    void stepConnection(int by);
    [[nodiscard]] const transport::Connection* connection() const;
    // ": 10.0.0.1:17 <-> 10.0.0.2:18" of the chosen one, for a title; empty where it is not wanted.
    [[nodiscard]] QString connectionText(bool wanted) const;
    void addPlotTools();
    [[nodiscard]] Session& session() const { return m_session; }
    [[nodiscard]] Selection& selection() const { return m_selection; }

    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    [[nodiscard]] QSizeF pictureSize(double) const override { return m_plot->size(); }
    void paintPicture(QPainter& painter, const QSizeF& size, double scale, const QPalette& palette) const override;
    [[nodiscard]] QStringList caption() const override;
    void writeCsv(QIODevice& device) const override;
    [[nodiscard]] QString fileName() const override { return m_fileName; }

private:
    void compute();
    void present(Made made);
    void followRange();
    void followPacket();
    void choose(const Hit& hit, bool go);
    void listLayers();
    [[nodiscard]] std::shared_ptr<const transport::RowSet> copyOfHits() const;

    QString m_fileName;
    Session& m_session;
    Selection& m_selection;
    Plot* m_plot;
    QComboBox* m_of = nullptr;
    QMenu* m_layers = nullptr;
    std::optional<KeptPoints> m_kept;  // behind what is shown
    SeriesJob m_job;
    QTimer m_due;
    bool m_stale = true;
    bool m_anew = true;
    bool m_connectionTools = false;
};

// The first packet at or after an instant; the last one where there is none. Exact where times never run backwards.
[[nodiscard]] std::optional<dissect::FrameIndex> frameAt(const transport::CaptureIndex& index, dissect::Instant time);

// Points of a picture from what a series has: anything with a time, a y and a frame.
template <class P> [[nodiscard]] std::shared_ptr<const Points> pointsOf(const std::vector<P>& from) {
    std::vector<transport::series::Point> points;
    points.reserve(from.size());
    for (const P& point : from) points.push_back({point.time, point.y, point.frame});
    return std::make_shared<const Points>(std::move(points));
}

}  // namespace qps::gui
