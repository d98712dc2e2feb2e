// ListLook: how the packet list shows packets: what profiles and preferences keep of it.
#pragma once

#include <gui/packets/row_texts.hpp>

#include <QStringList>

namespace qps::gui {

struct ListLook {
    TimeFormat time = TimeFormat::SinceFirst;
    QStringList columns{};  // as savedColumns()
    QStringList rules{};    // as savedRules()
};

}  // namespace qps::gui
