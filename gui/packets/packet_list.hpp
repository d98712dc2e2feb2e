// PacketList: the list of packets. It draws the rows in sight and holds none of the others, so that it is as quick with
// a hundred million packets as with ten.
//
// It knows neither session nor selection: packets come from a PacketRows, what the user does goes out by signals. What
// it keeps itself are the columns, the notes and which rows are selected. `current` is a packet of the capture; a
// filter may hide it.
#pragma once

#include <gui/packets/frame_ranges.hpp>
#include <gui/packets/row_texts.hpp>
#include <gui/packets/scroll_geometry.hpp>

#include <QAbstractScrollArea>

class QHeaderView;
class QMenu;
class QStandardItemModel;

namespace qps::gui {

class PacketList : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit PacketList(QWidget* parent = nullptr);
    ~PacketList() override;

    // `rows` must outlive the list or its next call; nullptr: an empty list. The selection begins anew, and of another
    // capture the notes.
    enum class Notes { Anew, Kept };
    void setRows(PacketRows* rows, Notes notes = Notes::Anew);
    [[nodiscard]] PacketRows* rows() const { return m_rows; }
    // More rows, or others: a filter came, or finds more. The packet that was current or uppermost stays where it was
    // on the screen.
    void rowsChanged();
    // While more are coming: whether the list goes along, if it shows the last ones.
    void setAutoScroll(bool on) { m_autoScroll = on; }
    [[nodiscard]] bool autoScroll() const { return m_autoScroll; }

    // Columns, colours, times.
    [[nodiscard]] const std::vector<PacketColumn>& columns() const { return m_texts.columns(); }
    void setColumns(std::vector<PacketColumn> columns);
    bool addFieldColumn(const QString& name);  // false where no field has that name
    void fitColumn(int column);                // to the rows in sight, never to all
    void fitColumns();
    [[nodiscard]] QStringList saveColumns() const;
    void restoreColumns(const QStringList& lines);
    // The column that the rows are sorted by, as the heading shows it; nothing: the order of the capture. Who has the
    // rows sorts them.
    struct Sorted {
        PacketColumn column;
        bool descending = false;
    };
    void setSorted(std::optional<Sorted> sorted);
    [[nodiscard]] const std::optional<Sorted>& sorted() const { return m_sorted; }
    [[nodiscard]] const RowRules& rules() const { return m_texts.rules(); }
    void setRules(RowRules rules);
    [[nodiscard]] TimeFormat timeFormat() const { return m_texts.timeFormat(); }
    void setTimeFormat(TimeFormat format);
    void setNames(std::shared_ptr<const Names> names);

    // Where the user stands. Going somewhere brings it into sight; false where there is nothing to go to.
    [[nodiscard]] std::optional<dissect::FrameIndex> current() const { return m_current; }
    bool goTo(dissect::FrameIndex frame);
    bool firstPacket();
    bool lastPacket();
    bool nextPacket();
    bool previousPacket();
    bool nextInConversation();
    bool previousInConversation();
    // From a request to what answers it, from an answer to the request.
    bool goToCorresponding();
    bool nextMark();
    bool previousMark();
    bool nextTimeReference();
    bool previousTimeReference();

    // Notes; of the current packet, or of all that are selected.
    [[nodiscard]] const PacketNotes& notes() const { return m_notes; }
    void setMarks(const transport::RowSet& marks);
    void toggleMark();
    void markAllShown();
    void toggleIgnore();
    void ignoreAllShown();
    void unignoreAll();
    void toggleTimeReference();
    void editComment();
    bool setComment(dissect::FrameIndex frame, const QString& text);

    // The packets that are selected: those of the ranges that are shown.
    [[nodiscard]] const std::vector<FrameRange>& selectedFrames() const { return m_selected.ranges(); }
    void selectAll();
    // As they stand in the columns, tabs between them, or as CSV with a heading; at most kMostCopied.
    static constexpr std::uint64_t kMostCopied = 20'000;
    enum class CopyForm { Text, Csv };
    // The cells of a row that is shown, in the order of the columns, without those that are hidden.
    [[nodiscard]] QStringList shownCells(std::uint64_t position);
    [[nodiscard]] QString copied(CopyForm form);
    void copy(CopyForm form);

    // Filters that the current packet suggests; empty where it does not.
    [[nodiscard]] QString conversationFilter() const;
    [[nodiscard]] QString messageFilter() const;

    // The menu of the current packet; `column`: logical, of which filters are made.
    void fillRowMenu(QMenu& menu, int column);
    // The packets of the current one's connection get a colour of their own, each connection another.
    void colourConversation();
    // The filter that holds, which menus offer to join others to.
    void setPresentFilter(const QString& text) { m_presentFilter = text; }

    // What is where; also for screen readers.
    [[nodiscard]] const ScrollGeometry& geometryOfRows() const { return m_scroll; }
    [[nodiscard]] std::uint64_t topRow() const { return m_top; }
    [[nodiscard]] int rowHeight() const;
    [[nodiscard]] QRect rowRect(std::uint64_t position) const;               // in the viewport; empty out of sight
    [[nodiscard]] QRect cellRect(std::uint64_t position, int column) const;  // logical column
    [[nodiscard]] std::optional<std::uint64_t> rowAt(int y) const;           // of the viewport
    [[nodiscard]] const RowText& textAt(std::uint64_t position) { return m_texts.at(position); }
    [[nodiscard]] QString spoken(std::uint64_t position);  // "No. 7, Time 0.1, ..."
    [[nodiscard]] QHeaderView* header() const { return m_header; }
    void scrollTo(std::uint64_t top);

Q_SIGNALS:
    void currentChanged();
    void packetOpened();  // the current one: double click, or Enter
    void marksChanged();  // by the user; notes().marks has them
    void commentsChanged();
    void filterWanted(const QString& text);    // apply it
    void filterPrepared(const QString& text);  // put it into the bar
    void fieldColumnWanted();                  // the user wants to choose one
    void columnsChanged();
    void sortWanted(const std::optional<qps::gui::PacketList::Sorted>& sorted);  // the user clicked a heading
    void notice(const QString& text);                                            // for the status bar
    void viewRequested(const QString& id);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    // How a new current packet changes what is selected.
    enum class Select { Only, Extend, Toggle };
    void setCurrent(dissect::FrameIndex frame, Select select);
    void extendTo(dissect::FrameIndex frame);
    void moveTo(std::uint64_t position, Select select);
    bool goToOf(const std::optional<dissect::FrameIndex>& frame, const QString& otherwise);
    bool searchConversation(int direction);
    [[nodiscard]] std::optional<std::uint64_t> currentPosition() const;  // nothing where it is not shown
    template <class Each> void forEachSelected(std::uint64_t most, Each&& each);
    void afterNotes();

    void makeHeader();
    void fillHeader();
    void takeWidths();
    void headClicked(int column);
    void showSorted();
    void updateScroll();
    void keepAnchor();
    void barAction(int action);

    void paintRow(QPainter& painter, std::uint64_t position, const QRect& row);
    void paintSigns(QPainter& painter, dissect::FrameIndex frame, const RowText& text, const QRect& row,
                    const QColor& ink);
    [[nodiscard]] int gutter() const;  // left of the columns' text: signs of marks and comments
    [[nodiscard]] int margin() const;

    void headerMenu(const QPoint& at);
    void renameColumn(int column);  // logical
    void fillFilterMenu(QMenu& menu, int column);
    void fillTimeMenu(QMenu& menu);
    [[nodiscard]] QString toolTipAt(const QPoint& at);
    void announce();

    PacketRows* m_rows = nullptr;
    PacketNotes m_notes;
    RowTexts m_texts{m_notes};
    QHeaderView* m_header = nullptr;
    QStandardItemModel* m_titles = nullptr;

    ScrollGeometry m_scroll;
    std::uint64_t m_top = 0;
    // What stays where it is when rows come and go: this packet, so many rows below the top.
    std::optional<dissect::FrameIndex> m_anchor;
    std::uint64_t m_anchorRow = 0;
    // Where the list was scrolled to for a packet: it keeps its place when the list gets its size, unless somebody
    // scrolled since.
    struct Jump {
        dissect::FrameIndex frame{};
        std::uint64_t top = 0;
    };
    std::optional<Jump> m_jump;
    bool m_atEnd = true;
    bool m_autoScroll = false;
    bool m_settingBars = false;
    double m_wheelRest = 0;  // rows that the wheel has turned, but not whole ones

    std::optional<Sorted> m_sorted;
    QString m_presentFilter;
    std::optional<dissect::FrameIndex> m_current;
    dissect::FrameIndex m_selectionStart{};
    FrameRanges m_selected;
};

}  // namespace qps::gui
