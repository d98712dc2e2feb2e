// CaptureDialog: which interface to capture from, what of it, and when to end. What is chosen is remembered for the
// next time.
//
// It can be accepted only when there is something to start: an interface, a filter that libpcap understands, and the
// right to capture; where that is missing the dialog says what gives it.
#pragma once

#include <gui/live/bpf_check.hpp>
#include <gui/live/choice.hpp>
#include <gui/live/interfaces.hpp>
#include <gui/live/traffic.hpp>

#include <QDialog>
#include <QElapsedTimer>
#include <QHash>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QTreeWidget;
class QTreeWidgetItem;

namespace qps::gui {

class FileChoice;

class CaptureDialog : public QDialog {
    Q_OBJECT

public:
    // `program` is qpscope-capture.
    explicit CaptureDialog(const QString& program = recorderProgram(), QWidget* parent = nullptr);

    ~CaptureDialog() override;

    [[nodiscard]] CaptureChoice choice() const;
    // Whether it can be accepted.
    [[nodiscard]] bool ready() const;
    void accept() override;

protected:
    void changeEvent(QEvent* event) override;

private:
    void build();
    [[nodiscard]] QWidget* buildHost();
    [[nodiscard]] QWidget* buildMessage();
    [[nodiscard]] QWidget* buildFilter();
    [[nodiscard]] QWidget* buildLimits();
    void restore(const CaptureChoice& choice);
    void refresh();
    void takeHost();
    void showList(const InterfaceList& list);
    void showFailure(const QString& sentence);
    void showMessage(const QString& text, const QString& command = {});
    void showVerdict();
    void showTraffic();
    void askFilter();
    void updateStart();
    [[nodiscard]] QTreeWidgetItem* current() const;

    InterfaceFinder m_finder;
    BpfCheck m_check;
    QTimer m_traffic;
    QElapsedTimer m_sinceTraffic;
    QHash<QString, TrafficHistory> m_histories;  // of the interfaces that are listed
    QString m_wanted;                            // the interface to be current once it is listed
    bool m_mayCapture = false;

    QTreeWidget* m_interfaces = nullptr;
    QWidget* m_message = nullptr;
    QLabel* m_messageText = nullptr;
    QWidget* m_remedy = nullptr;
    QLineEdit* m_command = nullptr;
    QComboBox* m_filter = nullptr;
    QLabel* m_verdict = nullptr;
    QLineEdit* m_host = nullptr;
    QString m_listed;  // the host whose interfaces are asked for or shown
    QComboBox* m_stopOn = nullptr;
    FileChoice* m_files = nullptr;
    QSpinBox* m_packets = nullptr;
    QSpinBox* m_seconds = nullptr;
    QSpinBox* m_snapLength = nullptr;
    QPushButton* m_start = nullptr;
    QPushButton* m_refresh = nullptr;
};

}  // namespace qps::gui
