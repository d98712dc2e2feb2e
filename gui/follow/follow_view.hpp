// FollowView: what the messages of the selected connection carried, in the order in which they ended: as a stream of
// bytes, as text, or decoded where their protocol is known, in the colour of the end that sent it. What it shows is
// what `qpscope follow` prints; a part of the connection at a time: that of the packet that is selected. From a byte it
// goes to the packet that carried it.
#pragma once

#include <gui/base/series_job.hpp>
#include <transport-replay/model/connection.hpp>

#include <QWidget>
#include <memory>

class QComboBox;
class QLabel;
class QLineEdit;
class QToolButton;

namespace qps::gui {

class Selection;
class Session;
class Sheet;
class TextLines;

class FollowView : public QWidget {
    Q_OBJECT

public:
    FollowView(Session& session, Selection& selection, QWidget* parent = nullptr);
    ~FollowView() override;

    // Asks where, and writes the payload of all messages of the connection, or of the end that is chosen, one behind
    // the other.
    void save();
    // What went wrong; nothing: it is being written, and savedTo() comes when it is.
    void saveTo(const QString& path);

Q_SIGNALS:
    void viewRequested(const QString& id);
    void savedTo(const QString& path);

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Made;
    void build();
    void anew();
    void refresh();
    void step(int by);
    void present(std::shared_ptr<const Made> made);
    void followPacket();
    void showPacket();
    void find(bool backwards);
    void goToLine();
    void goTo(std::size_t message);
    void tell(const QString& sentence);

    Session& m_session;
    Selection& m_selection;
    SeriesJob m_job;
    SeriesJob m_saving;
    bool m_stale = true;
    bool m_following = false;            // the packet that is selected is to be shown when the part is there
    bool m_choosing = false;             // it is this view that selects
    std::uint64_t m_first = 1;           // the number of the first message that is shown
    std::vector<std::uint64_t> m_parts;  // where the parts before this one began
    std::shared_ptr<const Made> m_made;
    QComboBox* m_form;
    QComboBox* m_whose;
    QToolButton* m_earlier;
    QToolButton* m_later;
    QLineEdit* m_wanted;
    QToolButton* m_save;
    QLabel* m_state;
    Sheet* m_messages;
    TextLines* m_lines;
};

}  // namespace qps::gui
