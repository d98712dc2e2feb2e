// EventOverview: the two bands with events around the packet list, one over the time of the capture and one beside the
// list, kept up to date with the capture, the filter, and where the user stands.
#pragma once

#include <gui/base/series_job.hpp>
#include <gui/packets/event_map.hpp>

#include <QObject>
#include <QTimer>

namespace qps::gui {

class PacketList;
class Selection;
class Session;

class EventOverview : public QObject {
    Q_OBJECT

public:
    EventOverview(Session& session, Selection& selection, PacketList& list, QObject* parent);
    // For the layout, which they belong to.
    [[nodiscard]] EventMap* strip() const { return m_strip; }
    [[nodiscard]] EventMap* bar() const { return m_bar; }

private:
    void changed();
    void compute();
    void follow();

    Session& m_session;
    Selection& m_selection;
    PacketList& m_list;
    EventMap* m_strip;
    EventMap* m_bar;
    transport::series::Range m_range;  // of the strip
    SeriesJob m_job;
    QTimer m_due;
    qint64 m_took = 0;  // ms, the last time
};

}  // namespace qps::gui
