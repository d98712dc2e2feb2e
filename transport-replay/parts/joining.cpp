// Parts become one: connections are numbered anew in the order in which the capture began them, then reports merge as those of lanes do.
#include <dissect/render_value.hpp>
#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/analysis/conclusion.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/parts/archive.hpp>
#include <transport-replay/parts/part.hpp>

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace qps::transport {

using dissect::printable;

namespace {

template <class T>
std::string archived(const T& value) {
    parts::Writer writer;
    writer.put(value);
    return writer.take();
}

// What the capture as a whole says must be the same in every part.
std::optional<std::string> difference(const AnalysisPart& a, const AnalysisPart& b) {
    if (a.origin.of != b.origin.of) return fmt::format("one of {} parts, another of {}", a.origin.of, b.origin.of);
    if (a.origin.settings != b.origin.settings)
        return fmt::format("made with other options: '{}' and '{}'", printable(a.origin.settings), printable(b.origin.settings));
    if (a.origin.inputs != b.origin.inputs || a.origin.damaged != b.origin.damaged || archived(a.report.gate) != archived(b.report.gate) ||
        archived(a.report.links) != archived(b.report.links))
        return "not of the same capture";
    return {};
}

std::optional<std::string> contradiction(const std::vector<AnalysisPart>& parts) {
    for (const AnalysisPart& part : parts)
        if (const auto found = difference(parts.front(), part)) return found;
    std::vector<std::uint32_t> numbers;
    for (const AnalysisPart& part : parts) numbers.insert(numbers.end(), part.numbers.begin(), part.numbers.end());
    std::ranges::sort(numbers);
    const auto twice = std::ranges::adjacent_find(numbers);
    if (twice != numbers.end()) return fmt::format("part {} of {} is there twice", *twice, parts.front().origin.of);
    return {};
}

// Numbers for the connections of each part, by the number they had; `begun` becomes that of all.
std::vector<std::vector<std::uint32_t>> numbered(const std::vector<AnalysisPart>& parts, std::vector<std::uint64_t>& begun) {
    struct Begun {
        std::uint64_t packet = 0;
        std::uint32_t part = 0;
        std::uint32_t number = 0;
    };
    std::vector<Begun> all;
    std::vector<std::vector<std::uint32_t>> numbers(parts.size());
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
        const std::vector<std::uint64_t>& own = parts[part].report.begun;
        numbers[part].resize(own.size());
        for (std::uint32_t i = 0; i < own.size(); ++i) all.push_back({own[i], part, i});
    }
    std::ranges::stable_sort(all, {}, &Begun::packet);  // a packet is of one part alone
    for (const Begun& one : all) {
        begun.push_back(one.packet);
        numbers[one.part][one.number] = static_cast<std::uint32_t>(begun.size());
    }
    return numbers;
}

}  // namespace

std::expected<AnalysisPart, PartProblem> join(std::vector<AnalysisPart> parts) {
    if (auto found = contradiction(parts)) return std::unexpected(PartProblem{std::move(*found)});
    std::vector<std::uint64_t> begun;
    const auto numbers = numbered(parts, begun);
    std::vector<LaneReport> lanes;
    std::vector<std::uint32_t> shares;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        renumber(parts[i].report.lanes, numbers[i]);
        lanes.push_back(std::move(parts[i].report.lanes));
        shares.insert(shares.end(), parts[i].numbers.begin(), parts[i].numbers.end());
    }
    std::ranges::sort(shares);
    AnalysisPart joined = std::move(parts.front());
    joined.numbers = std::move(shares);
    joined.report.lanes = merge(std::move(lanes));
    joined.report.begun = std::move(begun);
    return joined;
}

std::vector<std::uint32_t> missing(const AnalysisPart& part) {
    std::vector<std::uint32_t> lacking;
    for (std::uint32_t number = 1; number <= part.origin.of; ++number)
        if (!std::ranges::binary_search(part.numbers, number)) lacking.push_back(number);
    return lacking;
}

Timeline conclude(AnalysisPart&& part, const NcclLog& log) {
    PartReport report = std::move(part.report);
    return conclude({.icrc = report.gate.quality.icrc_policy, .nccl_log = log}, std::move(report.gate), std::move(report.links), std::move(report.lanes));
}

}  // namespace qps::transport
