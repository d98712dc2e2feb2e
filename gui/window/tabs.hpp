// Tabs: captures beside each other in one window: each tab has a window of its own inside, with its session, its filter
// and its views. One tab alone shows no bar.
#pragma once

#include <gui/session/session.hpp>

#include <QSize>
#include <QStringList>
#include <QWidget>

class QStackedWidget;
class QTabBar;

namespace qps::gui {

class MainWindow;
struct Options;

// The size of the first window on a screen of which so much is free, device independent: 1180 x 760 or four fifths of
// the screen, what is more, but never more than fits with its frame.
[[nodiscard]] QSize firstWindowSize(const QSize& available);

class Tabs : public QWidget {
    Q_OBJECT

public:
    // What the first tab may take is the whole budget; the others have an eighth of it each, so that all together have
    // twice as much at most.
    static constexpr int kMost = 8;

    explicit Tabs(std::size_t jobs = 0, const transport::MemoryBudget& memory = transport::MemoryBudget::of_machine(),
                  QWidget* parent = nullptr);
    ~Tabs() override;

    // What the command line asks for, in the first tab; or each file in a tab of its own.
    void begin(const Options& options);
    // In a new tab, or, if the one that is shown is empty, there. Where there are kMost it says so.
    void open(const QStringList& files);
    [[nodiscard]] int count() const;
    [[nodiscard]] MainWindow& current() const;
    [[nodiscard]] QTabBar& bar() const { return *m_bar; }

protected:
    void closeEvent(QCloseEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;

private:
    MainWindow& add();
    void showTab(int tab);
    void step(int by);
    bool closeTab(int tab);  // false: the user keeps it
    void describe();
    void tellFull(const QStringList& files);
    [[nodiscard]] MainWindow& at(int tab) const;

    std::size_t m_jobs;
    transport::MemoryBudget m_memory;
    QTabBar* m_bar;
    QStackedWidget* m_pages;
};

}  // namespace qps::gui
