// Files that a capture is written to while it goes on: chosen in the dialog, written by qpscope-capture
// (gui/recorder/ring.hpp), found again when it is over.
#pragma once

#include <gui/live/choice.hpp>

#include <QStringList>
#include <QWidget>

class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace qps::gui {

// Those that are there, in the order in which they were written. Of a capture on another machine nobody knows.
[[nodiscard]] QStringList capturedFiles(const CaptureChoice& choice);
// Why the capture cannot be written so: a sentence; empty where it can.
[[nodiscard]] QString whyNoFiles(const CaptureChoice& choice);

class FileChoice : public QWidget {
    Q_OBJECT

public:
    explicit FileChoice(QWidget* parent = nullptr);
    void restore(const CaptureChoice& choice);
    // Adds what is chosen here.
    void addTo(CaptureChoice& choice) const;
    // Where that is: what is wrong is said here. Files of another machine are that machine's.
    void setHost(const QString& host);
    [[nodiscard]] bool isRight() const;

Q_SIGNALS:
    void changed();

protected:
    void changeEvent(QEvent* event) override;

private:
    void choose();
    void judge();

    QLineEdit* m_file;
    QPushButton* m_choose;
    QSpinBox* m_megabytes;
    QSpinBox* m_seconds;
    QSpinBox* m_kept;
    QLabel* m_said;
    QString m_host;
};

}  // namespace qps::gui
