// A connection attempt in full: what both sides asked for and what came of it, and its messages as arrows between the
// two, which lead to their packets.
#pragma once

#include <QScrollArea>
#include <memory>

class QLabel;

namespace qps::transport {
struct CmAttempt;
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

class CmLadder;
class Names;

class CmPane : public QScrollArea {
    Q_OBJECT

public:
    explicit CmPane(QWidget* parent = nullptr);
    // `attempt` is one of the timeline's, or nullptr; `names`: what hosts are called, nullptr: by their addresses.
    void show(std::shared_ptr<const transport::Timeline> timeline, const transport::CmAttempt* attempt,
              const Names* names = nullptr);
    void choosePacket(dissect::FrameIndex frame);
    [[nodiscard]] CmLadder& ladder() const { return *m_ladder; }

Q_SIGNALS:
    void packetWanted(quint64 frame);

private:
    std::shared_ptr<const transport::Timeline> m_timeline;
    QLabel* m_title = nullptr;
    QLabel* m_text = nullptr;
    CmLadder* m_ladder = nullptr;
};

// The arrows. Keys move among them; Enter and a click want the packet.
class CmLadder : public QWidget {
    Q_OBJECT

public:
    explicit CmLadder(QWidget* parent = nullptr);
    void show(const transport::CmAttempt* attempt);  // it must live until the next call
    void choosePacket(dissect::FrameIndex frame);
    [[nodiscard]] int chosen() const { return m_chosen; }  // -1: none
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

Q_SIGNALS:
    void packetWanted(quint64 frame);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    [[nodiscard]] int rungHeight() const { return fontMetrics().height() * 2; }
    [[nodiscard]] int headHeight() const { return fontMetrics().height() * 2; }
    [[nodiscard]] int timeWidth() const;
    [[nodiscard]] int laneWidth() const { return fontMetrics().averageCharWidth() * 40; }
    [[nodiscard]] int remarkWidth() const;
    void paintHead(QPainter& painter) const;
    void paintRung(QPainter& painter, int at) const;
    void choose(int at, bool announce);

    const transport::CmAttempt* m_attempt = nullptr;
    int m_chosen = -1;
};

}  // namespace qps::gui
