// What a view is on paper: a graph as it is saved, in light colours; a table or the packets that are displayed as rows.
#pragma once

#include <QString>

class QPrinter;
class QWidget;

namespace qps::gui {

class Session;

inline constexpr int kMostPrintedRows = 2000;  // some forty pages; who needs more exports them

// The view as a document; empty where it is a graph.
[[nodiscard]] QString printedText(const QWidget& view, const Session& session);

void print(const QWidget& view, const Session& session, QPrinter& printer);

}  // namespace qps::gui
