// What stands there when no capture is open: how to open one, those opened last, and how to record one.
#pragma once

#include <QStringList>
#include <QWidget>

class QLabel;
class QListWidget;
class QPushButton;

namespace qps::gui {

class EmptyPage : public QWidget {
    Q_OBJECT

public:
    explicit EmptyPage(QWidget* parent = nullptr);
    // The last one first.
    void setRecentFiles(const QStringList& files);
    [[nodiscard]] QListWidget& recentFiles() const { return *m_recent; }

Q_SIGNALS:
    void openRequested();
    void captureRequested();
    void fileRequested(const QString& file);

private:
    QPushButton* m_open = nullptr;
    QLabel* m_heading = nullptr;
    QListWidget* m_recent = nullptr;
};

}  // namespace qps::gui
