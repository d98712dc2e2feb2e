// `check`: every rule that a capture alone can decide, with its verdict.
#include <dissect/types.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/model/memory_amount.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "analyzing.hpp"
#include "command.hpp"
#include "decoding.hpp"
#include "message.hpp"
#include "report.hpp"
#include "verdicts.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;
using namespace transport::conformance;

namespace {

// Facts of the packets of a batch, kept from one batch to the next so that nothing is allocated anew.
struct FactBatch {
    std::vector<PacketFacts> all;
    std::size_t used = 0;
    std::vector<std::pair<std::size_t, PacketFacts>> not_judged;  // of those whose ICRC is wrong, should it not count; by place
    void clear() {
        used = 0;
        not_judged.clear();
    }
    void add(const Packet& packet) {
        if (used == all.size()) all.emplace_back();
        look_at(packet, all[used]);
        if (packet.icrc.status == CrcStatus::bad) {
            Packet as_right = packet;
            as_right.icrc.status = CrcStatus::not_checkable;
            look_at(as_right, not_judged.emplace_back(used, PacketFacts{}).second);
        }
        ++used;
    }
    // As --icrc says.
    void follow(std::size_t place, const Observation& observation, const PacketRecord& record, PassiveSuite& suite) const {
        if (!record.icrc_not_judged) return suite.observe(observation, all[place], record);
        Observation as_right = observation;
        as_right.icrc = CrcStatus::not_checkable;
        const auto facts = std::ranges::lower_bound(not_judged, place, {}, &std::pair<std::size_t, PacketFacts>::first);
        suite.observe(as_right, facts->second, record);
    }
};

PassiveSuite suite_of(const Options& options) {
    PassiveSuite suite(options.memory);
    if (options.check.device) suite.judge_only(*options.check.device);
    return suite;
}

Report report_of(const Options& options, const Profile& profile, const Analyzed& analyzed, PassiveSuite& suite) {
    Report report;
    report.subject = fmt::format("{}", fmt::join(input_names(options), ", "));
    const transport::Timeline& timeline = analyzed.timeline;
    report.facts.push_back({"packets", grouped(timeline.packets)});
    report.facts.push_back({"connections", grouped(timeline.connections.size())});
    if (timeline.first && timeline.last) report.facts.push_back({"duration", duration_text(*timeline.last - *timeline.first)});
    if (options.check.device) report.facts.push_back({"judged", fmt::format("{} alone, {}", text(*options.check.device), counted(suite.packets(), "packet"))});
    if (!profile.name.empty()) report.facts.push_back({"device", profile.name});
    report.results = suite.finish(timeline, profile);
    std::erase_if(report.results, [&](const CheckResult& result) { return !is_wanted_check(options.check, *result.check); });
    return report;
}

// The packets that prove a failure. Files only: what came through a pipe is gone.
ExitCode write_evidence_of(const CheckResult& result, const Options& options) {
    return write_evidence(options, result.check->id, [&](SavedCapture& saved) -> std::expected<void, OutputProblem> {
        std::uint64_t before = 0;
        for (std::size_t i = 0; i < Input::count(options); ++i) {
            auto input = Input::open(options, i);
            if (!input) continue;  // said when it was analysed
            input->number_from(before);
            Batch batch;
            while (input->read(batch))
                for (const Frame& frame : batch.frames)
                    if (std::ranges::binary_search(result.evidence, frame.index))
                        if (const auto written = saved.write(frame, fmt::format("{}: {}", result.check->id, result.check->expected));
                            !written)
                            return written;
            before = input->last_number();
        }
        return {};
    });
}

bool can_read_again(const Options& options) {
    return options.interface.empty() && std::ranges::find(options.files, "-") == options.files.end();
}

Analyzed analyze_with(PassiveSuite& suite, const Options& options, const Filter& filter, const Output& output) {
    std::vector<FactBatch> facts;
    Listening listening;
    listening.message = [&](ConnectionId connection, End requester, const Message& message) {
        suite.message(connection, requester, message);
    };
    listening.slots = [&](std::size_t slots) { facts.resize(std::max(facts.size(), slots)); };
    listening.begin = [&](std::size_t slot) { facts[slot].clear(); };
    listening.each = [&](std::size_t slot, const Packet& packet) { facts[slot].add(packet); };
    listening.placed = [&](std::size_t slot, std::size_t place, const Observation& observation, const PacketRecord& record) {
        facts[slot].follow(place, observation, record, suite);
    };
    listening.again = [&] { suite = suite_of(options); };
    Options beside = options;
    beside.memory = transport::beside(options.memory, PassiveSuite::memory_of(options.memory));
    return analyze(beside, filter, output, listening);
}

}  // namespace

ExitCode run_check(const Options& options) {
    const auto filter = compile_filter(options, FilterSets::taken);
    const auto measures = filter ? read_measures(options.check) : std::nullopt;
    if (!measures) return ExitCode::usage;
    if (!options.check.evidence.empty() && !can_read_again(options)) {
        say("qpscope: --evidence reads the capture a second time and needs files, not a stream\n");
        return ExitCode::usage;
    }
    Output output(options);
    if (!output.ok()) return finish(output);
    PassiveSuite suite = suite_of(options);
    const Analyzed analyzed = analyze_with(suite, options, *filter, output);
    ExitCode code = ExitCode::done;
    if (analyzed.any) {
        const Report report = report_of(options, measures->profile, analyzed, suite);
        code = write_report(options, report, *measures, output);
        if (options.check.device && suite.packets() == 0) {
            if (!options.quiet) say("qpscope: no packet comes from {}: nothing was judged\n", text(*options.check.device));
            code = worse(code, ExitCode::unjudged);
        }
        if (!options.check.evidence.empty())
            for (const CheckResult& result : report.results)
                if (result.verdict == Verdict::fail && !result.evidence.empty()) code = worse(code, write_evidence_of(result, options));
    }
    return worse(code, finish(options, analyzed, output));
}

}  // namespace qps::cli
