// FilterLine: the line in which a filter is typed. Its ground says whether it is one, the wrong part is underlined, and
// a list offers what may come next.
#pragma once

#include <dissect/filter/filter_error.hpp>

#include <QLineEdit>
#include <QStandardItemModel>
#include <QTreeView>
#include <optional>

namespace qps::gui {

class FilterLine : public QLineEdit {
    Q_OBJECT

public:
    enum class State { Empty, Valid, Invalid, Applied };

    explicit FilterLine(QWidget* parent = nullptr);
    ~FilterLine() override;

    [[nodiscard]] State state() const { return m_state; }
    [[nodiscard]] const std::optional<dissect::FilterError>& mistake() const { return m_mistake; }
    // The filter that is in force: the line says whether it shows that one.
    void setApplied(const QString& text);

    // Offers what may come at the cursor; nothing is shown where there is nothing to offer.
    void offer();
    [[nodiscard]] bool offering() const { return m_list->isVisible(); }

Q_SIGNALS:
    void filterDropped(const QString& filter);  // a field was dragged here
    void judged();                              // state() or mistake() may have changed
    void abandoned();                           // Esc without a list of offers
    void focusChanged();

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void judge();
    void paintState();
    void underline();
    void take(const QModelIndex& offered);
    [[nodiscard]] bool choose(QKeyEvent* event);

    State m_state = State::Empty;
    std::optional<dissect::FilterError> m_mistake;
    QString m_applied;
    bool m_judging = false;
    QTreeView* m_list;
    QStandardItemModel m_offers;
    int m_from = 0;  // the part of the text that an offer replaces
    int m_length = 0;
};

}  // namespace qps::gui
