// Exporting: what leaves the window, as files, as text and to Wireshark; without dialogs, so that paths come from the
// caller. One at a time. Nothing is written over a file of the capture, and what fails leaves what was there.
#pragma once

#include <gui/export/packet_export.hpp>
#include <gui/export/task.hpp>

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <optional>

namespace qps::gui {

class Session;

class Exporting : public QObject {
    Q_OBJECT

public:
    Exporting(Session& session, Selection& selection, QObject* parent = nullptr);

    // Comments that the user has written, for all packets exported from now on; void when another capture is opened.
    void setComments(transport::Comments comments) { m_comments = std::move(comments); }
    [[nodiscard]] const transport::Comments& comments() const { return m_comments; }

    // Each ends in statusChanged() or failed(), the first three at once or later.
    void writePackets(const QString& path, Packets packets, const Ranges& selected = {});
    void writeAnalysis(const QString& path);
    // Hands those packets to Wireshark, with the filter in force where it understands that.
    void openInWireshark(Packets packets, const Ranges& selected = {});

    [[nodiscard]] std::uint64_t count(Packets packets, const Ranges& selected = {}) const;

    [[nodiscard]] bool running() const { return m_task.running(); }
    void stop() { m_task.stop(); }

Q_SIGNALS:
    void started();
    void progressed(double part);                 // 0 to 1
    void statusChanged(const QString& sentence);  // it is done, or cancelled
    void failed(const QString& sentence);         // it is not
    // All packets, or the marked ones, as many as there are, lie in a file; `comments`: what was written of them as
    // well.
    void saved(qps::gui::Packets packets, bool comments);

private:
    [[nodiscard]] bool mayStart(Packets packets);
    [[nodiscard]] std::vector<std::string> inputs() const;
    void begin(std::function<TaskOutcome(const TaskWatch&)> work);
    void end(const TaskOutcome& outcome);

    Session& m_session;
    Selection& m_selection;
    transport::Comments m_comments;
    Task m_task;
    QTemporaryDir m_folder;  // of what Wireshark reads; it goes with us
    struct Saving {
        Packets packets;
        std::uint64_t count;
        bool comments;
    };
    std::optional<Saving> m_saving;  // what will be in a file as soon as the task has ended
    int m_handed = 0;                // files in it
    QStringList m_wireshark;         // how it is started once the task has ended; empty: it is not
};

}  // namespace qps::gui
