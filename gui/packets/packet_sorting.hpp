// PacketSorting: the packets that are shown, sorted by a column of the list. It sorts in a worker, again when the
// filter lets others through, and not before all are read.
#pragma once

#include <gui/base/series_job.hpp>
#include <gui/packets/packet_columns.hpp>
#include <transport-replay/series/packet_order.hpp>

#include <QObject>
#include <QTimer>
#include <atomic>
#include <memory>
#include <optional>

namespace qps::gui {

class Session;
class Selection;

class PacketSorting : public QObject {
    Q_OBJECT

public:
    PacketSorting(Session& session, Selection& selection, QObject* parent = nullptr);

    // From now on; what is shown stays as it is until the packets are sorted.
    void sort(const PacketColumn& column, bool descending);
    // Back to the order of the capture; what is under way is stopped.
    void clear();
    [[nodiscard]] bool running() const { return m_job.running(); }
    // nullptr: the order of the capture.
    [[nodiscard]] std::shared_ptr<const transport::series::PacketOrder> order() const { return m_order; }

Q_SIGNALS:
    void orderChanged();
    void refused(const QString& sentence);  // the packets stay in the order of the capture
    void progressed(double part);           // 0 to 1, while running()
    void finished();

private:
    void shownChanged();
    void start();
    void refuse(transport::series::NoOrder why);
    [[nodiscard]] std::uint64_t memory() const;  // that a sort may take

    struct Wanted {
        PacketColumn column;
        bool descending = false;
    };
    Session& m_session;
    Selection& m_selection;
    std::optional<Wanted> m_wanted;
    std::shared_ptr<const transport::series::PacketOrder> m_order;
    std::shared_ptr<std::atomic<std::uint64_t>> m_done;  // pieces of the sort that is going on
    std::uint64_t m_pieces = 1;
    SeriesJob m_job;
    QTimer m_looking;
};

}  // namespace qps::gui
