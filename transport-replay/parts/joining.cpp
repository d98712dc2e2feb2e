// Parts become one: those of one capture the whole of it, connections numbered anew in the order in which it began them; captures of
// several hosts stand beside each other until the end.
#include <dissect/render_value.hpp>
#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/analysis/conclusion.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/parts/archive.hpp>
#include <transport-replay/parts/joined_hosts.hpp>
#include <transport-replay/parts/part.hpp>

#include <algorithm>
#include <map>
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

std::string of_host(const PartOrigin& origin) { return origin.host.empty() ? std::string() : fmt::format(" of host {}", printable(origin.host)); }

std::optional<std::string> other_options(const PartOrigin& a, const PartOrigin& b) {
    if (a.settings == b.settings) return {};
    return fmt::format("made with other options: '{}' and '{}'", printable(a.settings), printable(b.settings));
}

// What a capture as a whole says must be the same in every part of it.
std::optional<std::string> difference(const CapturePart& a, const CapturePart& b) {
    if (a.origin.of != b.origin.of) return fmt::format("one of {} parts{}, another of {}", a.origin.of, of_host(a.origin), b.origin.of);
    if (auto options = other_options(a.origin, b.origin)) return options;
    if (a.checks.has_value() != b.checks.has_value()) return fmt::format("one was made with --checks{}, another without", of_host(a.origin));
    if (a.origin.inputs != b.origin.inputs || a.origin.frames != b.origin.frames || a.origin.damaged != b.origin.damaged ||
        archived(a.report.gate) != archived(b.report.gate) || archived(a.report.links) != archived(b.report.links))
        return fmt::format("not of the same capture{}", of_host(a.origin));
    return {};
}

std::optional<std::string> contradiction(const std::vector<CapturePart>& parts) {
    for (const CapturePart& part : parts)
        if (const auto found = difference(parts.front(), part)) return found;
    std::vector<std::uint32_t> numbers;
    for (const CapturePart& part : parts) numbers.insert(numbers.end(), part.numbers.begin(), part.numbers.end());
    std::ranges::sort(numbers);
    const auto twice = std::ranges::adjacent_find(numbers);
    if (twice == numbers.end()) return {};
    const PartOrigin& origin = parts.front().origin;
    if (origin.of == 1) return origin.host.empty() ? "the same part is there twice" : fmt::format("host {} is there twice", printable(origin.host));
    return fmt::format("part {} of {}{} is there twice", *twice, origin.of, of_host(origin));
}

// Numbers for the connections of each part, by the number they had; `begun` becomes that of all.
std::vector<std::vector<std::uint32_t>> numbered(const std::vector<CapturePart>& parts, std::vector<std::uint64_t>& begun) {
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

// Of one capture.
CapturePart joined(std::vector<CapturePart> parts) {
    std::vector<std::uint64_t> begun;
    const auto numbers = numbered(parts, begun);
    std::vector<LaneReport> lanes;
    std::vector<conformance::PassiveRecord> checks;  // all have them, or none
    std::vector<std::uint32_t> shares;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        renumber(parts[i].report.lanes, numbers[i]);
        lanes.push_back(std::move(parts[i].report.lanes));
        if (parts[i].checks) {
            renumber(*parts[i].checks, numbers[i]);
            checks.push_back(std::move(*parts[i].checks));
        }
        shares.insert(shares.end(), parts[i].numbers.begin(), parts[i].numbers.end());
    }
    std::ranges::sort(shares);
    CapturePart one = std::move(parts.front());
    one.numbers = std::move(shares);
    one.report.lanes = merge(std::move(lanes));
    one.report.begun = std::move(begun);
    if (!checks.empty()) one.checks = merge(std::move(checks));
    return one;
}

}  // namespace

std::expected<AnalysisPart, PartProblem> join(std::vector<AnalysisPart> parts) {
    std::map<std::string, std::vector<CapturePart>> captures;  // by host
    for (AnalysisPart& part : parts)
        for (CapturePart& capture : part.captures) captures[capture.origin.host].push_back(std::move(capture));
    if (captures.size() > 1 && captures.begin()->first.empty())
        return std::unexpected(PartProblem{fmt::format("one is of host {}, another of none: make all of them with --host, or none",
                                                       printable(std::next(captures.begin())->first))});
    AnalysisPart whole;
    for (auto& [host, of_host] : captures) {
        if (auto found = contradiction(of_host)) return std::unexpected(PartProblem{std::move(*found)});
        whole.captures.push_back(joined(std::move(of_host)));
        if (auto found = other_options(whole.captures.front().origin, whole.captures.back().origin)) return std::unexpected(PartProblem{std::move(*found)});
    }
    return whole;
}

std::vector<std::uint32_t> missing(const CapturePart& part) {
    std::vector<std::uint32_t> lacking;
    for (std::uint32_t number = 1; number <= part.origin.of; ++number)
        if (!std::ranges::binary_search(part.numbers, number)) lacking.push_back(number);
    return lacking;
}

Timeline conclude(AnalysisPart&& part, const NcclLog& log, std::vector<Address> unordered) {
    if (!part.captures.front().origin.host.empty()) return conclude_hosts(std::move(part.captures), log, std::move(unordered));
    PartReport report = std::move(part.captures.front().report);
    return conclude({.icrc = report.gate.quality.icrc_policy, .nccl_log = log, .unordered = std::move(unordered)}, std::move(report.gate),
                    std::move(report.links), std::move(report.lanes));
}

}  // namespace qps::transport
