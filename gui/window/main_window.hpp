// MainWindow: the window: a sidebar of views, the filter above them, the status line below. It owns the session and the
// selection; views know only these two. What menus and keys do is in window_actions.cpp.
#pragma once

#include <gui/base/theme.hpp>
#include <gui/live/choice.hpp>
#include <gui/session/actions.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/window/unsaved.hpp>
#include <gui/window/views.hpp>

#include <QHash>
#include <QMainWindow>
#include <QStringList>
#include <vector>

class QMenu;
class QStackedWidget;

namespace qps::gui {

class Exporter;
class FilterBar;
class Recorder;
class SeriesJob;
class Sidebar;
class StatusLine;
struct Options;

class MainWindow : public QMainWindow, private ViewHost {
    Q_OBJECT

public:
    explicit MainWindow(std::size_t jobs = 0, QWidget* parent = nullptr);
    ~MainWindow() override;

    // What the command line asks for.
    void begin(const Options& options);
    void open(const QStringList& files);  // with a folder among them: as a case
    void capture(const CaptureChoice& choice);
    // By its id; an unknown one changes nothing and returns false.
    bool showView(const QString& id);
    [[nodiscard]] QString shownView() const;

    [[nodiscard]] static QString geometryKey();  // of the settings

    [[nodiscard]] Session& session() { return m_session; }
    [[nodiscard]] Selection& selection() { return m_selection; }
    [[nodiscard]] FilterBar& filterBar() { return *m_filterBar; }
    [[nodiscard]] QAction* action(ActionId id) const { return m_actions.value(static_cast<int>(id)); }
    // As they are saved.
    void takePreferences();

Q_SIGNALS:
    // Of a window inside of another one, which has several.
    void tabWanted(const QStringList& files);
    void tabCloseWanted();
    void nextTabWanted(int step);
    void preferencesChanged();  // of other windows, too: they are saved

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void buildLayout();
    void buildMenus();
    void buildToolBar();
    void connectSession();
    void restore();
    void remember();

    void viewRequested(const QString& id) override;
    void notice(const QString& text) override;
    void placeChanged(const QString& text) override;
    void workChanged(const QString& what, double part) override;
    void openRequested() override;
    void captureRequested() override;
    void fileRequested(const QString& file) override;
    void packetRequested(const QString& file, quint64 frame) override;
    void lineRequested(const QString& line) override;
    void commentsChanged(const transport::Comments& all) override;

    [[nodiscard]] const MadeView& made(std::size_t row);  // made when it is first wanted
    [[nodiscard]] View& viewOf(std::string_view id);      // of one that is a View
    [[nodiscard]] View* shown() const;                    // nullptr: it is none
    [[nodiscard]] bool viewsWork() const;
    void showRow(int row);
    void updateSidebar();
    void updateTitle();
    void updateActions();
    void showProblems();
    void showProblems(const QStringList& problems, const QString& more);
    void noteRecent(const QStringList& files);
    void fillRecent();

    void trigger(ActionId id);
    bool triggerFile(ActionId id);
    bool triggerEdit(ActionId id);
    bool triggerGo(ActionId id);
    bool triggerFilter(ActionId id);
    bool triggerView(ActionId id);
    [[nodiscard]] bool mayLose();
    [[nodiscard]] bool mayReplaceByCapture();
    void keepWhatIsOpen(const QStringList& why, bool others);
    void endWhatGoesOn();
    void copy();
    void chooseFiles();
    [[nodiscard]] QStringList askFiles();
    void printView();
    void chooseCapture();
    void stopOnFinding();
    void tellFiles();
    void startOrStop();
    void selectWhenRead(dissect::FrameIndex wanted);
    void goToPacket();
    void editPreferences();
    void apply(const Reading& reading);  // the names as well
    void exportProfile();
    void importProfile();
    void shiftTimes();
    void goToFinding(int step);
    void goToEvent(int step);
    void stepEvents(int step);
    void stopWork();
    void scaleText(double by);
    void setTheme(Theme theme);
    void showKeys();
    void showAbout();

    Session m_session;
    Selection m_selection;
    std::unique_ptr<Recorder> m_recorder;
    CaptureChoice m_capture;      // the one that is going on, or was the last
    QStringList m_saidOfCapture;  // when it ends
    std::unique_ptr<Exporter> m_exporter;
    std::unique_ptr<SeriesJob> m_events;  // looks for those of a finding
    Sidebar* m_sidebar = nullptr;
    QStackedWidget* m_stack = nullptr;
    FilterBar* m_filterBar = nullptr;
    StatusLine* m_status = nullptr;
    QMenu* m_recentMenu = nullptr;
    QStringList m_recent;
    std::vector<MadeView> m_views;  // by row of the table; without a widget: not made yet
    QHash<int, QAction*> m_actions;
    struct Events {
        std::optional<FindingKey> finding;  // nothing: they were not looked for
        std::shared_ptr<const transport::Timeline> timeline;
        std::vector<dissect::FrameIndex> frames;
    };
    Events m_found;  // of the finding that was asked for last, so that the next step is at once
    Unsaved m_unsaved;
    std::size_t m_finding = 0;  // that was gone to last
    double m_textSize = 0;      // of the desktop, in points
};

}  // namespace qps::gui
