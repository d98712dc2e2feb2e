// THE table of views: what can be seen of a capture, in the order of the sidebar. Alt and a digit go to the first ten.
#pragma once

#include <QString>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

class QWidget;

namespace qps::gui {

class Session;
class Selection;

using ViewRequest = std::function<void(const QString& id)>;

struct ViewRow {
    const char* id;     // what other views and --view call it
    const char* title;  // translated when shown
    const char* tip;    // one sentence
    // A view that asks for another one calls `request`.
    QWidget* (*make)(Session& session, Selection& selection, const ViewRequest& request);
    // How many rows it has, for the sidebar; nothing: it does not count.
    std::optional<std::uint64_t> (*count)(const Session& session) = nullptr;
    bool separated = false;  // a line above it
    // Why it shows nothing of a capture that was read, a sentence; nullptr: it shows something, or always does.
    const char* (*lacks)(const Session& session) = nullptr;
};

[[nodiscard]] std::span<const ViewRow> viewRows();

}  // namespace qps::gui
