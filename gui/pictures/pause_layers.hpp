// The pauses of a link as layers of a panel with lanes: each sender and priority in a lane of its own.
#pragma once

#include <gui/pictures/plot_data.hpp>
#include <transport-replay/series/pause_rows.hpp>

namespace qps::gui {

inline constexpr std::size_t kMostPauseLanes = 12;  // more senders than anybody tells apart

// The pauses, on them the frames that asked for them and those that ended them.
void addPauses(Panel& panel, const transport::series::PauseRows& pauses);

[[nodiscard]] bool manyInterfaces(const transport::series::PauseRows& pauses);
[[nodiscard]] QString pauseName(const transport::series::PauseRow& row, bool tellInterface);
[[nodiscard]] std::shared_ptr<const Bands> pauseBands(const transport::series::PauseRow& row);

}  // namespace qps::gui
