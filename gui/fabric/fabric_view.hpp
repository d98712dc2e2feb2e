// FabricView: the fabric as management datagrams show it: its map drawn, its ports, and what else was told: counters
// that moved, events, managers, partitions, groups, requests that failed. The figures are those of `qpscope fabric`.
#pragma once

#include <gui/base/series_job.hpp>
#include <gui/fabric/fabric_map_picture.hpp>

#include <QWidget>

class QLabel;

namespace qps::gui {

class Selection;
class Session;
class Sheet;
struct SheetRow;

class FabricView : public QWidget {
    Q_OBJECT

public:
    FabricView(Session& session, Selection& selection, QWidget* parent = nullptr);

Q_SIGNALS:
    void viewRequested(const QString& id);

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Made;
    void build();
    void refresh();
    void present(const Made& made);
    void describe();
    void showPorts();
    void goTo(const Sheet& sheet);

    Session& m_session;
    Selection& m_selection;
    SeriesJob m_job;
    bool m_stale = true;
    FabricMapPicture* m_map;
    QLabel* m_words;
    Sheet* m_ports;
    Sheet* m_details;
    std::shared_ptr<const Made> m_made;
};

}  // namespace qps::gui
