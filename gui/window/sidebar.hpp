// Sidebar: the views of the window by name, each with how much there is to see in it.
#pragma once

#include <QListWidget>
#include <cstdint>
#include <optional>

namespace qps::gui {

class Sidebar : public QListWidget {
    Q_OBJECT

public:
    explicit Sidebar(QWidget* parent = nullptr);

    // A line above it separates it from those before.
    void add(const QString& id, const QString& title, const QString& tip, bool separated);
    void setCount(int row, std::optional<std::uint64_t> count);
    // Grey, and the tip says why; empty: it has something to show. It can be chosen all the same.
    void setLack(int row, const QString& why);
    [[nodiscard]] QString id(int row) const;
    // -1 where there is none of that name.
    [[nodiscard]] int rowOf(const QString& id) const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void changeEvent(QEvent* event) override;

private:
    static void describe(QListWidgetItem& entry);
};

}  // namespace qps::gui
