// THE table of views: what can be seen of a capture, in the order of the sidebar. Alt and a digit go to the first ten.
#pragma once

#include <transport-replay/index/extract.hpp>

#include <QString>
#include <cstdint>
#include <optional>
#include <span>

class QWidget;

namespace qps::gui {

class Session;
class Selection;
class View;

// What a view can ask of the window that shows it: a signal of that name and these arguments is all it needs.
class ViewHost {
public:
    virtual ~ViewHost() = default;
    virtual void viewRequested(const QString& id) = 0;
    virtual void notice(const QString& text) = 0;                    // something to tell the user, once
    virtual void placeChanged(const QString& text) = 0;              // of the selected field, for the status bar
    virtual void workChanged(const QString& what, double part) = 0;  // 0 to 1; an empty text: it has ended
    virtual void openRequested() = 0;                                // files are to be chosen
    virtual void captureRequested() = 0;                             // an interface is to be chosen
    virtual void fileRequested(const QString& file) = 0;
    virtual void packetRequested(const QString& file, quint64 frame) = 0;  // of that file, from 1
    virtual void lineRequested(const QString& line) = 0;                   // the connection that a log line is about
    virtual void commentsChanged(const transport::Comments& all) = 0;      // of packets
};
struct MadeView {
    QWidget* widget = nullptr;
    View* view = nullptr;  // the same; nullptr: the window need not know more of it
};

struct ViewRow {
    const char* id;     // what other views and --view call it
    const char* title;  // translated when shown
    const char* tip;    // one sentence
    MadeView (*make)(Session& session, Selection& selection, ViewHost& host);
    // How many rows it has, for the sidebar; nothing: it does not count.
    std::optional<std::uint64_t> (*count)(const Session& session) = nullptr;
    bool separated = false;  // a line above it
    // Why it shows nothing of a capture that was read, a sentence; nullptr: it shows something, or always does.
    const char* (*lacks)(const Session& session) = nullptr;
};

[[nodiscard]] std::span<const ViewRow> viewRows();

}  // namespace qps::gui
