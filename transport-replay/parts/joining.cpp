// Parts become one: those of one capture the whole of it, connections numbered anew in the order in which it began
// them; captures of several hosts stand beside each other until the end.
#include <dissect/packet/render_value.hpp>
#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/analysis/conclusion.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/parts/archive.hpp>
#include <transport-replay/parts/joined_hosts.hpp>
#include <transport-replay/parts/part.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

using dissect::printable;

namespace {

template <class T> std::string archived(const T& value) {
    parts::Writer writer;
    writer.put(value);
    return writer.take();
}

std::string of_host(const PartOrigin& origin) {
    return origin.host.empty() ? std::string() : fmt::format(" of host {}", printable(origin.host));
}

std::optional<std::string> other_options(const PartOrigin& a, const PartOrigin& b) {
    if (a.settings == b.settings) return {};
    return fmt::format("made with other options: '{}' and '{}'", printable(a.settings), printable(b.settings));
}

// What a capture as a whole says must be the same in every part of it.
std::optional<std::string> difference(const CapturePart& a, const CapturePart& b) {
    if (a.origin.of != b.origin.of)
        return fmt::format("one of {} parts{}, another of {}", a.origin.of, of_host(a.origin), b.origin.of);
    if (auto options = other_options(a.origin, b.origin)) return options;
    if (a.checks.has_value() != b.checks.has_value())
        return fmt::format("one was made with --checks{}, another without", of_host(a.origin));
    if (a.origin.inputs != b.origin.inputs || a.origin.frames != b.origin.frames ||
        a.origin.damaged != b.origin.damaged || archived(a.report.gate) != archived(b.report.gate) ||
        archived(a.report.links) != archived(b.report.links))
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
    if (origin.of == 1)
        return origin.host.empty() ? "the same part is there twice"
                                   : fmt::format("host {} is there twice", printable(origin.host));
    return fmt::format("part {} of {}{} is there twice", *twice, origin.of, of_host(origin));
}

// Numbers for the connections of each part, by the number they had; `begun` becomes that of all. The lists are
// ascending, and a packet is of one part alone.
std::vector<std::vector<std::uint32_t>> numbered(const std::vector<CapturePart>& parts,
                                                 std::vector<std::uint64_t>& begun) {
    using Next =
        std::pair<std::uint64_t, std::size_t>;  // the packet that began the next connection of a part, and the part
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    std::vector<std::vector<std::uint32_t>> numbers(parts.size());
    std::size_t all = 0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const std::vector<std::uint64_t>& own = parts[part].report.begun;
        numbers[part].reserve(own.size());
        if (!own.empty()) next.emplace(own.front(), part);
        all += own.size();
    }
    begun.reserve(all);
    while (!next.empty()) {
        const auto [packet, part] = next.top();
        next.pop();
        begun.push_back(packet);
        numbers[part].push_back(static_cast<std::uint32_t>(begun.size()));
        const std::vector<std::uint64_t>& own = parts[part].report.begun;
        if (numbers[part].size() < own.size()) next.emplace(own[numbers[part].size()], part);
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
        return std::unexpected(PartProblem{
            .sentence = fmt::format("one is of host {}, another of none: make all of them with --host, or none",
                                    printable(std::next(captures.begin())->first))});
    AnalysisPart whole;
    for (auto& [host, of_host] : captures) {
        if (auto found = contradiction(of_host)) return std::unexpected(PartProblem{.sentence = std::move(*found)});
        whole.captures.push_back(joined(std::move(of_host)));
        if (auto found = other_options(whole.captures.front().origin, whole.captures.back().origin))
            return std::unexpected(PartProblem{.sentence = std::move(*found)});
    }
    return whole;
}

// Two piles of as many parts become one: so a part is moved a few times, however many there are.
std::optional<PartProblem> JoinedParts::add(AnalysisPart part) {
    Pile pile{.part = std::move(part), .parts = 1};
    while (!piles_.empty() && piles_.back().parts == pile.parts) {
        std::vector<AnalysisPart> two;
        two.push_back(std::move(piles_.back().part));
        two.push_back(std::move(pile.part));
        piles_.pop_back();
        auto one = join(std::move(two));
        if (!one) return std::move(one.error());
        pile = {.part = std::move(*one), .parts = pile.parts * 2};
    }
    pile.built = parts::built_of(pile.part);
    piles_.push_back(std::move(pile));
    return {};
}

std::uint64_t JoinedParts::built() const {
    std::uint64_t all = 0;
    for (const Pile& pile : piles_) all += pile.built;
    return all;
}

std::expected<AnalysisPart, PartProblem> JoinedParts::finish() {
    std::vector<AnalysisPart> all;
    for (Pile& pile : piles_) all.push_back(std::move(pile.part));
    piles_.clear();
    return join(std::move(all));
}

std::vector<std::uint32_t> missing(const CapturePart& part) {
    std::vector<std::uint32_t> lacking;
    for (std::uint32_t number = 1; number <= part.origin.of; ++number)
        if (!std::ranges::binary_search(part.numbers, number)) lacking.push_back(number);
    return lacking;
}

Timeline conclude(AnalysisPart&& part, const NcclLog& log, std::vector<Address> unordered) {
    if (!part.captures.front().origin.host.empty())
        return conclude_hosts(std::move(part.captures), log, std::move(unordered));
    PartReport report = std::move(part.captures.front().report);
    return conclude({.icrc = report.gate.quality.icrc_policy, .nccl_log = log, .unordered = std::move(unordered)},
                    std::move(report.gate), std::move(report.links), std::move(report.lanes));
}

}  // namespace qps::transport
