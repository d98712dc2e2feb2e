// PacketsView: the packets of a capture: the list, the fields and bytes of the current packet, the find bar. It follows
// session and selection, and says there what the user does.
#pragma once

#include <gui/packets/find_bar.hpp>
#include <gui/packets/packet_list.hpp>
#include <gui/packets/packet_panes.hpp>
#include <gui/packets/packet_sorting.hpp>
#include <gui/packets/session_rows.hpp>
#include <gui/session/view.hpp>
#include <transport-replay/index/extract.hpp>

#include <QWidget>

class QSplitter;

namespace qps::gui {

class EventOverview;

class PacketsView : public QWidget, public View {
    Q_OBJECT

public:
    PacketsView(Session& session, Selection& selection, QWidget* parent = nullptr);
    ~PacketsView() override;

    void carryOut(ActionId id) override;
    [[nodiscard]] bool working() const override { return isSorting(); }
    void stopWork() override { stopSorting(); }
    void loadFrom(const QSettings& settings) override;
    void saveTo(QSettings& settings) const override;
    [[nodiscard]] bool listLook(ListLook& look) const override;
    void takeListLook(const ListLook& look) override;
    [[nodiscard]] std::vector<transport::FrameRange> selectedFrames() const override;

    [[nodiscard]] PacketList& list() const { return *m_list; }
    [[nodiscard]] PacketPanes& panes() const { return *m_panes; }
    [[nodiscard]] FindBar& findBar() const { return *m_find; }

    // The field that is selected in the tree becomes a column; without one the user chooses.
    void fieldAsColumn();
    void followMessage();
    void followConversation();
    void editRules();
    void openPacket();  // the current one, in a window of its own
    // Of the pane that has the focus.
    void copy();
    // Whether packets are being sorted; ending that leaves them in the order of the capture.
    [[nodiscard]] bool isSorting() const { return m_sorting.running(); }
    void stopSorting();

    // Proportions, columns and times, for settings.
    [[nodiscard]] QByteArray saveState() const;
    bool restoreState(const QByteArray& state);

Q_SIGNALS:
    void viewRequested(const QString& id);
    void notice(const QString& text);                    // something to tell the user, once
    void placeChanged(const QString& text);              // of the selected field, for the status bar
    void workChanged(const QString& what, double part);  // 0 to 1; an empty text: it has ended
    void commentsChanged(const qps::transport::Comments& all);

private:
    [[nodiscard]] bool actOnList(ActionId id);
    void followSession();
    void followSelection();
    void connectList();
    void connectTree();
    void connectSorting();
    void rowsChanged();
    [[nodiscard]] SharedPacket withMessage(const dissect::Packet& packet) const;
    void showCurrent();
    void applyFilter(const QString& text);
    void tellMarks();
    void chooseColumn();
    void addColumn(const QString& field);

    Session& m_session;
    Selection& m_selection;
    SessionRows m_rows;
    PacketSorting m_sorting;
    PacketList* m_list;
    PacketPanes* m_panes;
    FindBar* m_find;
    EventOverview* m_overview;
    QSplitter* m_splitter;
    std::optional<dissect::FrameIndex> m_shown;  // in the panes
};

}  // namespace qps::gui
