// LadderView: the sequence diagram of the connection that is selected. Messages as arrows, opened to their packets on
// request; time runs down, to scale. A click selects the packet; the packet that is selected elsewhere is shown here,
// and the time range that is chosen elsewhere is shaded and brought into sight.
//
// Only a window of the entries (messages, and packets that are of none) is drawn up, and scrolling moves it: a
// connection of millions of messages costs no more than a small one.
#pragma once

#include <gui/base/series_job.hpp>
#include <gui/pictures/ladder_painter.hpp>

#include <QAbstractScrollArea>
#include <memory>
#include <set>

namespace qps::gui {

class Session;
class Selection;

class LadderView : public QAbstractScrollArea {
    Q_OBJECT

public:
    static constexpr std::size_t kMostOpened = 64;  // messages at once: of each some thousand packets may be shown

    LadderView(Session& session, Selection& selection, QWidget* parent = nullptr);
    ~LadderView() override;

    // What is in sight, in any area and with any device.
    void paint(QPainter& painter, const QRectF& area) const;
    // What is saved is not what is in sight but all messages of the time range that is chosen, else of the connection.
    struct Sheet {
        transport::series::Ladder ladder;
        transport::series::LadderLayout layout;
        std::size_t entries = 0;   // that are on it
        std::size_t left_out = 0;  // past what a sheet can hold
        double height = 0;
    };
    [[nodiscard]] Sheet sheet(double width, double tallest) const;
    void paint(QPainter& painter, const Sheet& sheet, const QSizeF& size, const QPalette& palette) const;
    [[nodiscard]] QString ends() const;  // "10.0.0.1 QP 17 to 10.0.0.2 QP 18"
    // Their lines: time, ends, packets, label.
    [[nodiscard]] QString csv() const;

    [[nodiscard]] const transport::series::Ladder& ladder() const { return m_ladder; }
    [[nodiscard]] std::optional<std::size_t> currentLine() const { return m_current; }
    // Where a line's arrow begins and ends on the screen.
    [[nodiscard]] QLineF arrowOf(std::size_t line) const { return geometry().arrow(line); }
    // The sentence that stands here instead of a picture; empty where there is one.
    [[nodiscard]] QString emptyReason() const;

public Q_SLOTS:
    void zoomIn();
    void zoomOut();
    void zoomNaturally();  // so that about half of the lines lie to scale
    void openAll();        // the messages from the top of the screen on, kMostOpened of them
    void closeAll();

Q_SIGNALS:
    void pointedAt(const QString& words);  // what the pointer is on; empty: nothing

protected:
    void showEvent(QShowEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    // Which messages there are, asked of a worker while somebody sees it.
    void read();
    void take(transport::series::LadderEntries entries);
    // The window of entries around one, drawn up; the entry at the top of the screen stays there.
    void drawUp(std::size_t entry);
    void layOut();
    void keepInSight();
    void scrollTo(double offset);
    void showBars();
    void followPacket();
    void followRange();

    [[nodiscard]] LadderGeometry geometry() const { return geometry(QRectF(viewport()->rect())); }
    [[nodiscard]] LadderGeometry geometry(const QRectF& area) const;
    [[nodiscard]] LadderStyle style() const;
    // Entries of the chosen range, as positions from .. to before.
    [[nodiscard]] std::pair<std::size_t, std::size_t> chosenEntries() const;
    [[nodiscard]] dissect::Instant beginOf(std::size_t entry) const;
    [[nodiscard]] transport::series::LadderLayout laidOut(const transport::series::Ladder& ladder) const;
    [[nodiscard]] std::size_t entryAt(double y) const;
    [[nodiscard]] std::optional<std::size_t> lineOf(dissect::FrameIndex packet) const;
    [[nodiscard]] std::optional<std::size_t> markOf(dissect::FrameIndex packet) const;
    [[nodiscard]] double room() const;  // height of the body
    [[nodiscard]] QString tipAt(const QPointF& point) const;

    void setCurrent(std::size_t line);
    void moveCurrent(int by);
    // Opens or closes the message of a line; without a wish: the other way.
    void toggle(std::size_t line, std::optional<bool> open = {});
    void zoom(double factor, double y);

    Session& m_session;
    Selection& m_selection;
    std::shared_ptr<const transport::CaptureIndex> m_index;
    std::shared_ptr<const transport::Timeline> m_timeline;
    std::optional<transport::ConnectionId> m_connection;
    transport::series::LadderEntries m_entries;
    std::set<std::size_t> m_expanded;  // positions of messages among them
    bool m_stale = true;               // what is shown is not what there is

    LadderWindow m_window;
    std::size_t m_centre = 0;  // the entry that it was drawn up around
    transport::series::Ladder m_ladder;
    transport::series::LadderLayout m_layout;
    double m_scale = 0;  // pixels of a nanosecond; 0: what is natural
    double m_offset = 0;
    std::optional<std::size_t> m_current;
    std::optional<std::size_t> m_mark;  // of the packet that is selected, where it has no line of its own
    bool m_settingBar = false;
    SeriesJob m_reader;
};

}  // namespace qps::gui
