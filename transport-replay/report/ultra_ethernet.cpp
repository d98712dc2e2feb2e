#include <dissect/ultra_ethernet/names.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/ultra_ethernet.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport {

namespace {

std::string uet_codes_text(const std::vector<UetCode>& codes, std::span<const dissect::ValueName> names) {
    std::string text;
    for (const UetCode& code : codes) {
        const std::string_view name = dissect::name_in(names, code.code);
        text += fmt::format("{}{} ", text.empty() ? "" : ", ", grouped(code.count));
        text += name.empty() ? fmt::format("{:#04x}", code.code) : std::string(name);
    }
    return text;
}

}  // namespace

bool has_ultra_ethernet(const UetReport& report) {
    return !report.conversations.empty() || report.datagrams + report.secured + report.unread + report.left_out != 0;
}

std::string_view delivery_text(const UetWay& way) {
    if (way.ordered) return way.unordered ? "RUD, ROD" : "ROD";
    return way.unordered ? "RUD" : "";
}

std::string nacks_text(const UetWay& way) { return uet_codes_text(way.nacks, dissect::kUetNackCodes); }
std::string refusals_text(const UetWay& way) { return uet_codes_text(way.refusals, dissect::kSesReturnCodes); }

std::string paths_text(const UetWay& way) {
    if (way.paths.empty()) return {};
    std::string text = counted(way.paths.size(), "path");
    const auto resent_share = [](const UetPath& path) {
        return path.packets == 0 ? 0.0 : static_cast<double>(path.resent) / static_cast<double>(path.packets);
    };
    const auto worst = std::ranges::max_element(way.paths, {}, resent_share);
    if (worst->resent != 0)
        text += fmt::format("; {:#06x} resent most: {} of {}", worst->entropy, grouped(worst->resent),
                            grouped(worst->packets));
    DurationSummary all;
    for (const UetPath& path : way.paths) all.add(path.delay);
    if (all.count == 0) return text;
    text += fmt::format("; delay {} on average", duration_text(all.mean()));
    const auto slowest = std::ranges::max_element(way.paths, {}, [](const UetPath& path) { return path.delay.mean(); });
    if (way.paths.size() > 1)
        text += fmt::format(", {:#06x} slowest with {}", slowest->entropy, duration_text(slowest->delay.mean()));
    return text;
}

std::string not_followed_text(const UetReport& report) {
    std::string text;
    const auto add = [&](std::uint64_t count, std::string_view what) {
        if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counted(count, "packet"), what);
    };
    add(report.secured, "encrypted");
    add(report.datagrams, "without context");
    add(report.unread, "cut before its context");
    return text;
}

}  // namespace qps::transport
