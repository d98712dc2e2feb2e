// FilterBar: the display filter of the window: the line, what is wrong with it, earlier filters, undo, and whether it
// is being asked. It shows the filter of the selection and changes it; what is only prepared stands in the line until
// it is applied.
#pragma once

#include <QLabel>
#include <QMenu>
#include <QToolButton>
#include <QWidget>

namespace qps::gui {

class FilterLine;
class Selection;

class FilterBar : public QWidget {
    Q_OBJECT

public:
    explicit FilterBar(Selection& selection, QWidget* parent = nullptr);

    // Gives the line the keyboard; a text begins a new filter (typing anywhere does).
    void edit(const QString& text = {});
    void apply();
    void clear();

    // Filters applied before, the newest first: remembered from one session of the user to the next.
    [[nodiscard]] QStringList history() const { return m_history; }
    void setHistory(const QStringList& history);

    // Filters that the user gave a name: "name|filter" each.
    [[nodiscard]] QStringList saved() const { return m_saved; }
    void setSaved(const QStringList& saved);

Q_SIGNALS:
    void historyChanged();
    void savedChanged();
    void left();  // the user wants the keyboard back where it was; what he typed stays

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void placeMistake();
    void showSelection();
    void showMistake();
    void remember(const QString& text);
    void fillMenu();
    void addFilter(QMenu& menu, const QString& title, const QString& filter);
    void saveFilter();
    void removeSaved(const QString& entry);

    Selection& m_selection;
    FilterLine* m_line;
    QLabel* m_mistake;
    QToolButton* m_apply;
    QToolButton* m_clear;
    QToolButton* m_undo;
    QToolButton* m_redo;
    QToolButton* m_earlier;
    QMenu* m_menu;
    QStringList m_history;
    QStringList m_saved;
};

}  // namespace qps::gui
