#include <transport-replay/report/ladder_picture.hpp>
#include <transport-replay/report/markup.hpp>

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

std::string ladder_picture(std::string_view left, std::string_view right, std::span<const LadderRow> rows, std::string_view about) {
    if (rows.empty()) return {};
    constexpr int kLeft = 190, kRight = 420, kStep = 22, kTop = 34, kText = 440;
    const int height = kTop + kStep * static_cast<int>(rows.size()) + 4;
    std::string out =
        fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth, height, markup_text(about));
    for (const auto& [x, name] : {std::pair{kLeft, left}, std::pair{kRight, right}})
        out += fmt::format("<text x=\"{0}\" y=\"16\" text-anchor=\"middle\">{2}</text><path class=\"axis\" d=\"M{0} 22V{1}\"/>\n", x, height - 6, markup_text(name));
    int y = kTop;
    for (const LadderRow& row : rows) {
        out += fmt::format("<text class=\"soft\" x=\"0\" y=\"{0}\">{1}</text><text class=\"soft\" x=\"150\" y=\"{0}\" text-anchor=\"end\">{2}</text>\n", y + 4,
                           markup_text(row.when), markup_text(row.number));
        const bool forth = row.way == LadderWay::forth;
        const int from = forth ? kLeft : kRight, to = forth ? kRight : kLeft, tip = to + (forth ? -7 : 7);
        if (row.way != LadderWay::none)
            out += fmt::format("<path class=\"arrow{}{}\" d=\"M{} {}H{}M{} {}L{} {}L{} {}\"/>\n", row.style.empty() ? "" : " ", row.style, from, y, to,
                               tip, y - 4, to, y, tip, y + 4);
        out += fmt::format("<text class=\"mono\" x=\"{}\" y=\"{}\">{}</text>\n", kText, y + 4, markup_text(shortened(row.text)));
        y += kStep;
    }
    return out + "</svg>";
}

}  // namespace qps::transport
