// FindBar: the bar that Ctrl+F opens. It searches on a thread of its own, so that the window stays alive however long
// it takes; Esc ends the search, then the bar.
#pragma once

#include <gui/packets/packet_search.hpp>

#include <QWidget>
#include <thread>

class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QToolButton;

namespace qps::gui {

class FindBar : public QWidget {
    Q_OBJECT

public:
    explicit FindBar(QWidget* parent = nullptr);
    ~FindBar() override;

    // Where it searches: the rows as they are when a search begins, and the packet that it begins from.
    void setSource(std::function<std::unique_ptr<PacketRows>()> rows,
                   std::function<std::optional<dissect::FrameIndex>()> from);

    // Opens the bar; with its text selected, to be typed over.
    void open();
    void findNext() { find(SearchWay::Forward); }
    void findPrevious() { find(SearchWay::Backward); }
    void cancel();
    [[nodiscard]] bool searching() const { return m_searching; }

    void setKind(SearchKind kind);
    void setText(const QString& text);
    [[nodiscard]] QString message() const;
    // Where the last search ended.
    [[nodiscard]] const SearchResult& result() const { return m_result; }

Q_SIGNALS:
    void found();     // result() has it
    void finished();  // found, not found or cancelled
    void closed();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void find(SearchWay way);
    void search(PacketSearch what, SearchWay way);
    void ended(const SearchResult& result, SearchWay way);
    void say(const QString& text, bool wrong);
    void setSearching(bool on);

    QComboBox* m_kind;
    QLineEdit* m_text;
    QToolButton* m_previous;
    QToolButton* m_next;
    QProgressBar* m_progress;
    QLabel* m_message;
    std::function<std::unique_ptr<PacketRows>()> m_rows;
    std::function<std::optional<dissect::FrameIndex>()> m_from;
    SearchResult m_result;
    bool m_searching = false;
    std::uint64_t m_number = 0;  // of the search: what an earlier one says late is not heard
    std::jthread m_worker;       // the last member: it ends before what it uses
};

}  // namespace qps::gui
