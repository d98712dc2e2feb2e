// Selection: what the user looks at, shared by all views: the packet, the connection, the time range, the filter and
// its hits, the marks. It is changed by functions of this class alone; every view follows the signals. It has the one
// undo of filters.
#pragma once

#include <dissect/filter/filter.hpp>
#include <gui/session/filtering.hpp>
#include <transport-replay/index/row_filter.hpp>
#include <transport-replay/index/row_set.hpp>
#include <transport-replay/model/finding.hpp>

#include <QObject>
#include <QString>
#include <optional>
#include <vector>

namespace qps::gui {

class Session;

using transport::TimeRange;

// A finding, whatever its place in a timeline is.
struct FindingKey {
    std::string_view id;
    transport::Party party{};
    std::optional<transport::ConnectionId> connection;
    [[nodiscard]] bool operator==(const FindingKey&) const = default;
};
[[nodiscard]] inline FindingKey keyOf(const transport::Finding& finding) {
    return {finding.id, finding.party, finding.connection};
}

class Selection : public QObject {
    Q_OBJECT

public:
    explicit Selection(Session& session, QObject* parent = nullptr);
    ~Selection() override;

    // The packet in question; nothing where none is. The packet list follows, other views show where it is.
    [[nodiscard]] std::optional<dissect::FrameIndex> packet() const;
    void selectPacket(dissect::FrameIndex frame);
    // Packets selected before, as a browser has pages.
    void back();
    void forward();

    // The connection whose pictures are shown. Selecting a packet of a connection selects that connection too.
    [[nodiscard]] std::optional<transport::ConnectionId> connection() const;
    void selectConnection(transport::ConnectionId connection);
    // The next of the capture, or with -1 the one before; from none to the first, or the last.
    void stepConnection(int by);

    // The finding that is looked at.
    [[nodiscard]] std::optional<FindingKey> finding() const { return m_finding; }
    void selectFinding(const FindingKey& finding);

    // What all views are narrowed to; nothing: the whole capture.
    [[nodiscard]] std::optional<TimeRange> range() const;
    void setRange(std::optional<TimeRange> range);

    // The display filter that is applied. apply() of a text that is no filter changes nothing and returns false.
    [[nodiscard]] QString filter() const;
    bool applyFilter(const QString& text);
    // Why a text is no filter; nothing where it is one.
    [[nodiscard]] static std::optional<dissect::FilterError> mistake(const QString& text);
    [[nodiscard]] bool canUndoFilter() const;
    [[nodiscard]] bool canRedoFilter() const;
    void undoFilter();
    void redoFilter();
    // Puts a text into the filter bar without applying it.
    void prepareFilter(const QString& text);

    // The packets that filter and range let through, as far as they were asked; nullptr: all of them.
    [[nodiscard]] const transport::RowSet* hits() const;
    // Whether the filter is still being asked, and what part of the capture it has seen, 0 to 1.
    [[nodiscard]] bool filtering() const;
    [[nodiscard]] double filterProgress() const;
    void stopFiltering();
    // How many packets are shown, and which stands where among them. Positions count from 0.
    [[nodiscard]] std::uint64_t shown() const;
    [[nodiscard]] dissect::FrameIndex frameAt(std::uint64_t position) const;
    // Where that packet stands, or the next one that is shown would.
    [[nodiscard]] std::uint64_t positionOf(dissect::FrameIndex frame) const;
    [[nodiscard]] bool isShown(dissect::FrameIndex frame) const;

    [[nodiscard]] const transport::RowSet& marks() const;
    void setMarked(dissect::FrameIndex frame, bool marked);
    void clearMarks();

Q_SIGNALS:
    void packetChanged();
    void connectionChanged();
    void findingChanged();
    void rangeChanged();
    void filterChanged();  // text or range: hits begin anew
    void hitsChanged();    // more of them; at most 20 times a second
    void filterPrepared(const QString& text);
    void marksChanged();

private:
    void opened();
    void refilter();
    void place(dissect::FrameIndex frame);
    void takeFinalNumbers();
    void takeOnlyConnection();

    Session& m_session;
    std::optional<dissect::FrameIndex> m_packet;
    std::vector<dissect::FrameIndex> m_visited;  // packets, the oldest first
    std::size_t m_visit = 0;                     // which of them is selected
    std::optional<transport::ConnectionId> m_connection;
    std::optional<FindingKey> m_finding;
    std::optional<TimeRange> m_range;
    std::vector<QString> m_filters;  // that were applied, the oldest first; the first is none
    std::size_t m_applied = 0;       // which of them is in force
    transport::RowSet m_marks;
    Filtering m_filtering;
};

}  // namespace qps::gui
