// The cards of the start page as rich text of labels. Links: "frame:3", "filter:TEXT", "connection:2", "view:findings".
//
// What an attacker could feed: names of files, addresses. All that is not ours is escaped.
#pragma once

#include <gui/summary/facts.hpp>

#include <QPalette>
#include <QString>
#include <QStringList>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

class Names;

inline constexpr std::size_t kConnectionsShown = 10;
inline constexpr std::size_t kFindingsShown = 12;  // of groups; the table has all
inline constexpr std::size_t kFramesShown = 8;

[[nodiscard]] QString captureText(const transport::Timeline& timeline, const QStringList& files,
                                  const QStringList& problems, const QPalette& palette);
[[nodiscard]] QString qualityText(const transport::Timeline& timeline, const ReadExtent& extent,
                                  const QPalette& palette);
// `names` may be nullptr.
[[nodiscard]] QString findingsText(const transport::Timeline& timeline, const QPalette& palette,
                                   const Names* names = nullptr);
[[nodiscard]] QString connectionsText(const transport::Timeline& timeline, const QPalette& palette,
                                      const Names* names = nullptr);
[[nodiscard]] QString messagesText(const transport::Timeline& timeline);

}  // namespace qps::gui
