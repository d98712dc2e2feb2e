// TableTie: ties a table to what the user looks at, both ways: rows follow the packet or connection that was chosen
// elsewhere, and what the user wants of a row becomes a selection or a filter.
#pragma once

#include <gui/tables/shown_packets.hpp>
#include <gui/tables/table_view.hpp>

#include <QObject>
#include <QTimer>
#include <functional>
#include <memory>

namespace qps::gui {

class Session;
class Selection;

class TableTie : public QObject {
    Q_OBJECT

public:
    // Whether a row has packets that are shown.
    using HasShown = std::function<bool(TableModel::Row row, const ShownPackets& shown)>;

    // All of them live as long as `view`, or longer.
    TableTie(TableView& view, Session& session, Selection& selection, HasShown has_shown);

    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void followPacket();
    void followConnection();
    void limit();
    void useFilter(const QString& filter, FilterUse use, bool apply);

    TableView& m_view;
    Session& m_session;
    Selection& m_selection;
    HasShown m_has_shown;
    QTimer m_limiting;      // until the limit is drawn again
    bool m_is_late = true;  // something changed while the view was hidden, or before there was one
};

// Of a filter that is there and another one.
[[nodiscard]] QString combined(const QString& present, const QString& filter, FilterUse use);

}  // namespace qps::gui
