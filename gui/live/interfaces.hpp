// The interfaces that can be captured from, asked of qpscope-capture, and where that program is.
//
// What an attacker could feed: names and descriptions of interfaces (a device may call itself what it likes), and the
// output of whatever program lies where ours should be. It is bounded in bytes and time, and lines that are none of
// ours are left out.
#pragma once

#include <dissect/base/frame.hpp>

#include <QList>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <optional>

namespace qps::gui {

struct Interface {
    QString name;
    QString description;
    QStringList addresses;
    bool up = false;
    bool loopback = false;
    std::optional<dissect::LinkType> link;  // nothing: only opening it would tell
};

struct InterfaceList {
    bool mayCapture = false;
    QString remedy;  // a command, where it may not
    QList<Interface> interfaces;
};

inline constexpr qsizetype kMostInterfaces = 4096;      // virtual ones of a large host fit
inline constexpr qsizetype kLongestListing = 4L << 20;  // bytes
inline constexpr int kListingPatience = 10'000;         // ms; libpcap asks drivers that may be slow

// From the lines that qpscope-capture --list prints (gui/recorder/interface_list.hpp).
[[nodiscard]] InterfaceList parseInterfaces(const QByteArray& lines);

// qpscope-capture beside this program, or else in libexec; empty where it is in neither.
[[nodiscard]] QString recorderProgram();
// The sentence for a window where it is missing.
[[nodiscard]] QString noRecorder();

// Asks once for every call of find(); a call while it is still asking changes nothing.
class InterfaceFinder : public QObject {
    Q_OBJECT

public:
    explicit InterfaceFinder(QString program, QObject* parent = nullptr);
    ~InterfaceFinder() override;
    void find();
    // Of another machine, from the next find() on (remote.hpp); empty: of this one. What is being asked is given up.
    void setHost(const QString& host);

Q_SIGNALS:
    void found(const qps::gui::InterfaceList& list);
    void failed(const QString& sentence);

private:
    [[nodiscard]] const QString& asked() const;  // whose word it is
    void take();
    void conclude(int code, QProcess::ExitStatus status);

    QString m_program;
    QString m_host;
    QProcess m_process;
    QTimer m_patience;
    QByteArray m_lines;
    QString m_failure;  // why it was ended by us
};

}  // namespace qps::gui
