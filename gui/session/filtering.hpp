// Filtering: a filter asked of all packets of a capture by worker threads, its hits handed to the window as they are
// found.
#pragma once

#include <transport-replay/index/row_filter.hpp>

#include <QObject>
#include <QTimer>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace qps::gui {

class Filtering : public QObject {
    Q_OBJECT

public:
    explicit Filtering(QObject* parent = nullptr);
    ~Filtering() override;

    // The filter, made by a worker: what it names may take a pass over all rows. Nothing: there is none.
    using Make = std::function<std::optional<transport::RowFilter>(const std::function<bool()>& stop)>;
    // Begins anew: hits() is empty. Asks the first `packets` of the index, and those that are there later by grown().
    void start(std::shared_ptr<const transport::CaptureIndex> index, Make make, std::uint64_t packets);
    // More packets have come.
    void grown(std::uint64_t packets);
    // What was not asked yet stays away.
    void stop();
    // No filter any more.
    void clear();

    [[nodiscard]] bool running() const { return m_job != nullptr; }
    [[nodiscard]] double progress() const;  // 0 to 1
    [[nodiscard]] const transport::RowSet& hits() const { return m_hits; }

Q_SIGNALS:
    void hitsChanged();  // or running(); at most 20 times a second

private:
    struct Job;
    struct Source;
    void ask(std::uint64_t fromPiece);
    void look();

    std::shared_ptr<const transport::CaptureIndex> m_index;
    std::shared_ptr<Source> m_filter;
    std::uint64_t m_asked = 0;   // packets that the last job was for
    std::uint64_t m_wanted = 0;  // packets there are
    bool m_stopped = false;
    transport::RowSet m_hits;
    std::unique_ptr<Job> m_job;
    QTimer m_looking;
};

}  // namespace qps::gui
