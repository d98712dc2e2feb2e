// What the texts of the start page are made of: translated words, numbers as people read them.
#pragma once

#include <gui/base/text.hpp>
#include <transport-replay/report/figures.hpp>

#include <QObject>
#include <QString>
#include <cstdint>

namespace qps::gui {

[[nodiscard]] inline QString tr(const char* text) { return QObject::tr(text); }
[[nodiscard]] inline QString number(std::uint64_t value) { return shown(transport::grouped(value)); }

}  // namespace qps::gui
