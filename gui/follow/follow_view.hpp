// FollowView: what the messages of the selected connection carried, in the order in which they ended: as a stream of
// bytes, as text, or decoded where their protocol is known. What it shows is what `qpscope follow` prints; a part of
// the connection at a time.
#pragma once

#include <gui/base/series_job.hpp>
#include <transport-replay/model/connection.hpp>

#include <QWidget>
#include <memory>

class QComboBox;
class QLabel;
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

Q_SIGNALS:
    void viewRequested(const QString& id);

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Made;
    void build();
    void anew();
    void refresh();
    void step(int by);
    void present(std::shared_ptr<const Made> made);
    void goTo(std::size_t message);
    void tell(const QString& sentence);

    Session& m_session;
    Selection& m_selection;
    SeriesJob m_job;
    bool m_stale = true;
    std::uint64_t m_first = 1;           // the number of the first message that is shown
    std::vector<std::uint64_t> m_parts;  // where the parts before this one began
    std::shared_ptr<const Made> m_made;
    QComboBox* m_form;
    QComboBox* m_whose;
    QToolButton* m_earlier;
    QToolButton* m_later;
    QLabel* m_state;
    Sheet* m_messages;
    TextLines* m_lines;
};

}  // namespace qps::gui
