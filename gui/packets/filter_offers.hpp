// What a menu offers to do with a filter: apply or prepare it, alone, denied, or joined to the one that holds.
#pragma once

#include <QString>
#include <functional>

class QMenu;

namespace qps::gui {

enum class Joining { Only, Not, And, Or, AndNot, OrNot };

// `present` may be empty: then what is joined to it stands alone.
[[nodiscard]] QString joinedFilter(const QString& present, const QString& offered, Joining joining);

struct FilterTakers {
    std::function<void(const QString&)> apply;
    std::function<void(const QString&)> prepare;
};
// Adds "Apply as Filter" and "Prepare as Filter"; disabled where `offered` is empty.
void addFilterOffers(QMenu& menu, const QString& present, const QString& offered, const FilterTakers& use);

}  // namespace qps::gui
