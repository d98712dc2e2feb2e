// What a case comes to, as rich text: the verdict, what shows it, what follows, what stays open, what to do next, what
// was read. Each place of evidence is a link.
#pragma once

#include <gui/casework/opened_case.hpp>

#include <QPalette>
#include <QString>

class QUrl;

namespace qps::gui {

// Every text of the case is escaped.
[[nodiscard]] QString caseText(const OpenedCase& opened, const QPalette& palette);
// Of a link of that text; nothing where it is none of a place in the case.
[[nodiscard]] std::optional<casework::Place> placeOf(const QUrl& link, const OpenedCase& opened);

}  // namespace qps::gui
