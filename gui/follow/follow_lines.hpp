// FollowLines: what a part of a followed connection looks like: lines of its payload, each with the byte that it begins
// with, and a row for each message. Made by a worker; values only.
#pragma once

#include <gui/follow/text_lines.hpp>
#include <gui/tables/sheet.hpp>
#include <transport-replay/index/followed_messages.hpp>

#include <QString>
#include <array>

namespace qps::gui {

inline constexpr std::size_t kMostOfOne = std::size_t{64} << 10;  // bytes of a message that are shown

enum class PayloadForm { Decoded, Hex, PlainText };
// Of whom: by who sent it, which of a READ is the end that was asked.
enum class PayloadOf { BothEnds, EndA, EndB };

struct FollowLines {
    std::vector<TextLine> lines;
    std::vector<SheetRow> rows;
    std::vector<transport::FollowedMessage> followed;  // that are shown, of each at most kMostOfOne bytes
};

// `ends`: what the ends are called; `start`: times count from here.
[[nodiscard]] FollowLines followLines(std::vector<transport::FollowedMessage> followed, PayloadForm form, PayloadOf of,
                                      const std::array<std::string, 2>& ends, dissect::Instant start);

// Where a text is in the payload behind a line, or before it: as bytes in any message ("0x" and digits: these bytes),
// else in the lines, whatever their case. The line that shows its beginning; nothing where it is nowhere.
[[nodiscard]] std::optional<std::size_t> findLine(const FollowLines& shown, const QString& text,
                                                  std::optional<std::size_t> from, bool backwards);

}  // namespace qps::gui
