#include <transport-replay/report/ladder_picture.hpp>
#include <transport-replay/report/markup.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

namespace {

constexpr int kWidth = 1040;              // units of the picture
constexpr std::size_t kLongestLine = 84;  // characters of a packet's line

std::string shortened(const std::string& line) {
    return line.size() <= kLongestLine ? line : line.substr(0, kLongestLine) + "...";
}

}  // namespace

std::string ladder_picture(std::string_view left, std::string_view right, std::span<const LadderRow> rows,
                           std::string_view about) {
    if (rows.empty()) return {};
    // A telephone shows times, numbers and arrows without scrolling (some 400 units).
    const bool clocks = std::ranges::any_of(rows, [](const LadderRow& row) { return !row.clock.empty(); });
    constexpr int kClock = 84, kStep = 22, kTop = 34;
    const int number = clocks ? 222 : 120, near = number + 18, far = clocks ? 400 : 380, words = far + 16;
    const int height = kTop + kStep * static_cast<int>(rows.size()) + 4;
    std::string out =
        fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth, height, markup_text(about));
    constexpr int kOverhang = 30;  // of names past their lines, away from each other
    for (const auto& [x, at, anchor, name] :
         {std::tuple{near, near + kOverhang, "end", left}, std::tuple{far, far - kOverhang, "start", right}})
        out +=
            fmt::format("<text x=\"{}\" y=\"16\" text-anchor=\"{}\">{}</text><path class=\"axis\" d=\"M{} 22V{}\"/>\n",
                        at, anchor, markup_text(name), x, height - 6);
    int y = kTop;
    for (const LadderRow& row : rows) {
        out += fmt::format(
            "<text class=\"soft\" x=\"0\" y=\"{0}\">{1}</text><text class=\"soft\" x=\"{3}\" y=\"{0}\" text-anchor=\"end\">{2}</text>\n",
            y + 4, markup_text(row.when), markup_text(row.number), number);
        if (!row.clock.empty())
            out += fmt::format("<text class=\"soft\" x=\"{}\" y=\"{}\">{}</text>\n", kClock, y + 4,
                               markup_text(row.clock));
        const bool forth = row.way == LadderWay::forth;
        const int from = forth ? near : far, to = forth ? far : near, tip = to + (forth ? -7 : 7);
        if (row.way != LadderWay::none)
            out += fmt::format("<path class=\"arrow{}{}\" d=\"M{} {}H{}M{} {}L{} {}L{} {}\"/>\n",
                               row.style.empty() ? "" : " ", row.style, from, y, to, tip, y - 4, to, y, tip, y + 4);
        out += fmt::format("<text class=\"mono\" x=\"{}\" y=\"{}\">{}</text>\n", words, y + 4,
                           markup_text(shortened(row.text)));
        y += kStep;
    }
    return out + "</svg>";
}

}  // namespace qps::transport
