// A finding in full: what happened, who can do something about it and what, on which clause it rests, and the packets
// that prove it as links.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <QScrollArea>
#include <QStringList>
#include <memory>

class QLabel;
class QPushButton;

namespace qps::transport {
struct Finding;
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

class Names;

class FindingPane : public QScrollArea {
    Q_OBJECT

public:
    explicit FindingPane(QWidget* parent = nullptr);
    // `finding` is one of the timeline's, or nullptr; `files` are what was read; `names` may be nullptr.
    void show(std::shared_ptr<const transport::Timeline> timeline, const transport::Finding* finding,
              const QStringList& files, std::shared_ptr<const Names> names);
    // As a ticket for somebody else.
    [[nodiscard]] QString markdown() const;

Q_SIGNALS:
    void packetWanted(quint64 frame);
    void filterWanted(const QString& filter);
    void connectionWanted(qps::transport::ConnectionId connection);

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();
    void follow(const QString& target);

    std::shared_ptr<const transport::Timeline> m_timeline;
    const transport::Finding* m_finding = nullptr;  // of the timeline
    QStringList m_files;
    std::shared_ptr<const Names> m_names;
    QLabel* m_title = nullptr;
    QLabel* m_text = nullptr;
    QPushButton* m_copy = nullptr;
};

}  // namespace qps::gui
