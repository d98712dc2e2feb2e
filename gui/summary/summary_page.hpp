// The summary of a capture as cards: what it is, how good it is, what went wrong, who talked and what was said. Plain
// values in, links out; it knows no session.
#pragma once

#include <gui/summary/sparkline.hpp>
#include <transport-replay/model/connection.hpp>

#include <QScrollArea>
#include <QStringList>
#include <memory>
#include <optional>

class QGridLayout;
class QLabel;

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

class Names;

struct SummaryInput {
    std::shared_ptr<const transport::Timeline> timeline;
    QString title;         // what users see of the capture
    QStringList files;     // more than one: they are listed
    QStringList problems;  // of reading
    bool reading = false;  // figures are of what was read so far
    std::optional<double> progress;
    bool damaged = false;                  // not all of the input could be read
    bool cancelled = false;                // the user ended the reading
    std::shared_ptr<const Names> names{};  // nullptr: addresses and numbers
};

class SummaryPage : public QScrollArea {
    Q_OBJECT

public:
    explicit SummaryPage(QWidget* parent = nullptr);
    void show(const SummaryInput& input);
    void showThroughput(Sparkline::Bars bars) { m_throughput->show(std::move(bars)); }

Q_SIGNALS:
    void packetWanted(quint64 frame);
    void filterWanted(const QString& filter);
    void connectionWanted(qps::transport::ConnectionId connection);
    void viewRequested(const QString& id);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QLabel* addCard(const QString& title, QWidget* below = nullptr);
    void arrange();
    void fill();
    void fillProgress();
    void follow(const QString& link);

    SummaryInput m_input;
    QGridLayout* m_grid = nullptr;
    std::vector<QWidget*> m_cards;  // in the order of reading
    bool m_is_narrow = false;       // all cards below each other
    QLabel* m_title = nullptr;
    QLabel* m_progress = nullptr;
    QLabel* m_capture = nullptr;
    QLabel* m_quality = nullptr;
    QLabel* m_findings = nullptr;
    QLabel* m_connections = nullptr;
    QLabel* m_messages = nullptr;
    Sparkline* m_throughput = nullptr;
};

}  // namespace qps::gui
