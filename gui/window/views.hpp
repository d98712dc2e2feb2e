// THE table of views: what can be seen of a capture, in the order of the sidebar. Alt and a digit go to the first nine.
#pragma once

#include <QString>
#include <span>

class QWidget;

namespace qps::gui {

class Session;
class Selection;

struct ViewRow {
    const char* id;     // what other views and --view call it
    const char* title;  // translated when shown
    const char* icon;   // in the resources
    const char* tip;    // one sentence
    QWidget* (*make)(Session& session, Selection& selection, QWidget* parent);
};

[[nodiscard]] std::span<const ViewRow> viewRows();

}  // namespace qps::gui
