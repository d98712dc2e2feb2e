// `check`: every rule that a capture alone can decide, with its verdict.
#include <dissect/capture/saved_capture.hpp>
#include <transport-replay/conformance/passive/passive_suite.hpp>
#include <transport-replay/conformance/report/counts.hpp>
#include <transport-replay/conformance/report/written.hpp>
#include <transport-replay/instant.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <vector>

#include "analyzing.hpp"
#include "check_table.hpp"
#include "command.hpp"
#include "decoding.hpp"
#include "report.hpp"
#include "tone.hpp"
#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;
using namespace transport::conformance;

namespace {

// Facts of the packets of a batch, kept from one batch to the next so that nothing is allocated anew.
struct FactBatch {
    std::vector<PacketFacts> all;
    std::size_t used = 0;
    void add(const Packet& packet) {
        if (used == all.size()) all.emplace_back();
        look_at(packet, all[used++]);
    }
};

// A small file as a whole; a sentence where it cannot be read. One byte more than allowed is enough to see that it is too long.
std::expected<std::string, std::string> read_whole(const std::string& path, std::size_t longest) {
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path)) return std::unexpected(fmt::format("{} cannot be read", path));
    std::string text(longest + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

std::optional<Profile> read_device_profile(const Options& options) {
    if (options.check.profile.empty()) return Profile{};
    const auto content = read_whole(options.check.profile, kLongestProfile);
    if (!content) {
        fmt::print(stderr, "qpscope: {}\n", content.error());
        return {};
    }
    auto profile = parse_profile(*content);
    if (profile) return std::move(*profile);
    fmt::print(stderr, "{}", text(profile.error(), options.check.profile));
    return {};
}

std::optional<EarlierReport> read_earlier(const Options& options) {
    const auto content = read_whole(options.check.compare, kLongestReport);
    auto report = content ? read_report(*content) : std::unexpected(content.error());
    if (report) return std::move(*report);
    fmt::print(stderr, "qpscope: {}: {}\n", options.check.compare, report.error());
    return {};
}

bool is_wanted_check(const Options& options, const CheckRow& check) {
    const std::string_view family = kFamilies[std::to_underlying(check.family)].prefix;
    const auto names_it = [&](const std::string& id) { return id == family || find_check(id) == &check; };
    return options.check.only.empty() || std::ranges::any_of(options.check.only, names_it);
}

std::string joined(const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& each : names) all += all.empty() ? each : fmt::format(", {}", each);
    return all;
}

Report report_of(const Options& options, const Profile& profile, const Analyzed& analyzed, PassiveSuite& suite) {
    Report report;
    report.subject = joined(input_names(options));
    const transport::Timeline& timeline = analyzed.timeline;
    report.facts.push_back({"packets", grouped(timeline.packets)});
    report.facts.push_back({"connections", grouped(timeline.connections.size())});
    if (timeline.first && timeline.last) report.facts.push_back({"duration", duration_text(elapsed(*timeline.first, *timeline.last))});
    if (!profile.name.empty()) report.facts.push_back({"device", profile.name});
    report.results = suite.finish(timeline, profile);
    std::erase_if(report.results, [&](const CheckResult& result) { return !is_wanted_check(options, *result.check); });
    return report;
}

// The packets that prove failures, a file a check. Files only: what came through a pipe is gone.
class EvidenceFolder {
public:
    EvidenceFolder(const Options& options, const Report& report) : options_(options), report_(report) {}

    ExitCode write() {
        std::error_code error;
        std::filesystem::create_directories(options_.check.evidence, error);
        if (error) return told({options_.check.evidence, error.message()});
        ExitCode code = ExitCode::done;
        for (const CheckResult& result : report_.results)
            if (result.verdict == Verdict::fail && !result.evidence.empty()) code = worse(code, write(result));
        return code;
    }

private:
    static ExitCode told(const OutputProblem& problem) {
        fmt::print(stderr, "qpscope: {}: {}\n", problem.file, problem.sentence);
        return ExitCode::output_failed;
    }

    ExitCode write(const CheckResult& result) {
        const std::string path = (std::filesystem::path(options_.check.evidence) / fmt::format("{}.pcapng", result.check->id)).string();
        auto saved = SavedCapture::open(path, options_.files);
        if (!saved) return told(saved.error());
        std::uint64_t before = 0;
        for (const std::string& name : options_.files) {
            auto input = Input::open(options_, name);
            if (!input) continue;  // said when it was analysed
            input->number_from(before);
            Batch batch;
            while (input->read(batch))
                for (const Frame& frame : batch.frames)
                    if (std::ranges::binary_search(result.evidence, frame.index))
                        if (const auto written = saved->write(frame, fmt::format("{}: {}", result.check->id, result.check->expected));
                            !written)
                            return told(written.error());
            before = input->last_number();
        }
        const auto done = saved->commit();
        return done ? ExitCode::done : told(done.error());
    }

    const Options& options_;
    const Report& report_;
};

bool can_read_again(const Options& options) {
    return options.interface.empty() && std::ranges::find(options.files, "-") == options.files.end();
}

void write_verdicts(const Options& options, const Report& report, const Comparison* comparison, Output& output) {
    switch (options.check.format) {
        case CheckFormat::json: return output.write(json_text(report, comparison));
        case CheckFormat::junit: return output.write(junit_text(report));
        case CheckFormat::html: return output.write(html_text(report, comparison));
        case CheckFormat::table: break;
    }
    const bool color = wants_color(options, output);
    std::string text;
    append_verdicts(text, report, options.check.all || !options.check.only.empty(), color);
    if (comparison != nullptr) append_comparison(text, *comparison, color);
    output.write(text);
}

Analyzed analyze_with(PassiveSuite& suite, const Options& options, const Filter& filter, const Output& output) {
    std::vector<FactBatch> facts;
    Listening listening;
    listening.message = [&](ConnectionId connection, End requester, const Message& message) {
        suite.message(connection, requester, message);
    };
    listening.slots = [&](std::size_t slots) { facts.resize(std::max(facts.size(), slots)); };
    listening.begin = [&](std::size_t slot) { facts[slot].used = 0; };
    listening.each = [&](std::size_t slot, const Packet& packet) { facts[slot].add(packet); };
    listening.placed = [&](std::size_t slot, std::size_t place, const Observation& observation, const PacketStory& story) {
        suite.observe(observation, facts[slot].all[place], story);
    };
    return analyze(options, filter, output, listening);
}

}  // namespace

ExitCode run_check(const Options& options) {
    const auto filter = compile_filter(options);
    const auto profile = read_device_profile(options);
    if (!filter || !profile) return ExitCode::usage;
    std::optional<EarlierReport> earlier;
    if (!options.check.compare.empty() && !(earlier = read_earlier(options))) return ExitCode::usage;
    if (!options.check.evidence.empty() && !can_read_again(options)) {
        fmt::print(stderr, "qpscope: --evidence reads the capture once more: it needs files\n");
        return ExitCode::usage;
    }
    Output output(options);
    if (!output.ok()) return finish(output);
    PassiveSuite suite;
    const Analyzed analyzed = analyze_with(suite, options, *filter, output);
    ExitCode code = ExitCode::done;
    if (analyzed.any) {
        const Report report = report_of(options, *profile, analyzed, suite);
        const std::optional<Comparison> comparison = earlier ? std::optional(compare(*earlier, report)) : std::nullopt;
        write_verdicts(options, report, comparison ? &*comparison : nullptr, output);
        if (options.check.fail_on && fails_at(report, *options.check.fail_on)) code = ExitCode::findings;
        if (!options.check.evidence.empty()) code = worse(code, EvidenceFolder(options, report).write());
    }
    return worse(code, finish(options, analyzed, output));
}

}  // namespace qps::cli
