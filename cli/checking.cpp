#include <cli/checking.hpp>
#include <cli/message.hpp>
#include <cli/options/check_options.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/report.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;
using namespace transport::conformance;

namespace {

constexpr double kSecond = 1e9;  // in nanoseconds

Report report_of(const InputOptions& input, const CheckOptions& options, const Profile& profile,
                 const transport::Timeline& timeline, const PassiveRecord& record) {
    Report report;
    report.subject = fmt::format("{}", fmt::join(input_names(input), ", "));
    for (const std::string& each : timeline.incomplete) report.facts.push_back({"incomplete", each});
    if (!saw_anything(timeline)) report.facts.push_back({"nothing judged", std::string(kNothingSeen)});
    report.facts.push_back({"packets", grouped(timeline.packets), fmt::format("{}", timeline.packets)});
    report.facts.push_back(
        {"connections", grouped(timeline.connections.size()), fmt::format("{}", timeline.connections.size())});
    if (timeline.first && timeline.last) {
        const Duration length = *timeline.last - *timeline.first;
        report.facts.push_back({"duration", duration_text(length),
                                fmt::format("{:.9f}", static_cast<double>(std::to_underlying(length)) / kSecond)});
    }
    const auto& device = options.device;
    if (device)
        report.facts.push_back({"judged", fmt::format("{} alone, {}", text(*device),
                                                      counted(packets_sent(record.hosts, device), "packet"))});
    if (!profile.name.empty()) report.facts.push_back({"device", profile.name});
    report.results = judge(record, timeline, profile, device);
    std::erase_if(report.results, [&](const CheckResult& result) { return !is_wanted_check(options, *result.check); });
    return report;
}

// Whether the device could be told from other hosts.
ExitCode say_device_unknown(const CheckOptions& options, const PassiveRecord& record) {
    if (!options.device) return ExitCode::done;
    if (record.untold != 0) {
        remark("qpscope: not everything could be judged: {} of hosts that are not told apart (--memory)\n",
               counted(record.untold, "packet"));
        return ExitCode::unjudged;
    }
    if (packets_sent(record.hosts, options.device) != 0) return ExitCode::done;
    remark("qpscope: no packet comes from {}: nothing was judged\n", text(*options.device));
    return ExitCode::unjudged;
}

// Nothing was judged where every chosen check is another transport's, or needs a peer that provokes it.
ExitCode say_undecided(const CheckOptions& options, const Report& report) {
    const auto decided = [](const CheckResult& result) {
        return result.verdict != Verdict::not_applicable && result.verdict != Verdict::inconclusive;
    };
    if (std::ranges::any_of(report.results, decided)) return ExitCode::done;
    remark("qpscope: none of the {} is decided by this capture\n",
           options.only.empty() ? "checks" : "chosen checks (--only)");
    return ExitCode::unjudged;
}

}  // namespace

Listening listening_of(LaneSuites& suites) {
    Listening listening;
    listening.slots = [&suites](std::size_t slots) { suites.make_room(slots); };
    listening.begin = [&suites](std::size_t slot) { suites.facts(slot).clear(); };
    listening.each = [&suites](std::size_t slot, const Packet& packet) { suites.facts(slot).add(packet); };
    listening.straight = [&suites](std::size_t slot, const Frame& frame, const Observation& observation,
                                   const StraightPlaces& places) {
        suites.facts(slot).add(StraightPacket{frame, observation, places});
    };
    listening.others = [&suites](std::size_t slot) { suites.facts(slot).skip(); };
    listening.lanes = [&suites](std::size_t lanes) { return suites.begin(lanes); };
    listening.numbered = [&suites](std::size_t lane, std::span<const std::uint32_t> numbers) {
        suites.number(lane, numbers);
    };
    listening.over = [&suites] { return suites.over(); };
    listening.again = [&suites] { suites.forget(); };
    return listening;
}

Verdicts write_verdicts(const ListingOptions& options, const CheckOptions& check, const Measures& measures,
                        const transport::Timeline& timeline, const PassiveRecord& record, Output& output) {
    Verdicts verdicts{.report = report_of(options.reading.input, check, measures.profile, timeline, record),
                      .code = ExitCode::done};
    verdicts.code = write_report(check, options.output.color, verdicts.report, measures, output);
    verdicts.code = worse(verdicts.code, say_device_unknown(check, record));
    if (timeline.learned.any() && !can_be_read_twice(options.reading.input))
        remark(
            "qpscope: {} is read once: packets that several taps recorded, tenants and ICRCs that are wrong of all of a sender are judged "
            "better in a file, which is read twice\n",
            options.reading.input.interface.empty() ? "standard input" : options.reading.input.interface);
    const ExitCode unseen = say_nothing_seen(options.reading, timeline);
    verdicts.code = worse(verdicts.code, unseen == ExitCode::done ? say_undecided(check, verdicts.report) : unseen);
    return verdicts;
}

}  // namespace qps::cli
