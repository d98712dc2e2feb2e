// What a screen reader is told of the packet list: a table of the rows in sight, its cells, and the current row.
#pragma once

namespace qps::gui {

// Makes packet lists known to QAccessible; once is enough, more does no harm.
void installListAccessibility();

}  // namespace qps::gui
