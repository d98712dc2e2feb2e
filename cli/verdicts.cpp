#include <cli/check_table.hpp>
#include <cli/message.hpp>
#include <cli/tone.hpp>
#include <cli/verdicts.hpp>
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/checks/report/written.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport::conformance;

namespace {

// A small file as a whole; a sentence where it cannot be read. One byte more than allowed is enough to see that it is
// too long.
std::expected<std::string, std::string> read_whole(const std::string& path, std::size_t longest) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::unexpected(cannot_read(path));
    if (std::filesystem::is_directory(path))
        return std::unexpected(fmt::format("cannot read {}: Is a directory", path));
    std::string text(longest + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

std::optional<Profile> parse_device_profile(const CheckOptions& options, const std::string& content) {
    if (options.profile.empty()) return Profile{};
    auto profile = parse_profile(content);
    if (profile) return std::move(*profile);
    say("{}", text(profile.error(), options.profile));
    return {};
}

std::optional<EarlierReport> parse_earlier(const CheckOptions& options, const std::string& content) {
    auto report = read_report(content);
    if (report) return std::move(*report);
    say("qpscope: {}: {}\n", options.compare, report.error());
    return {};
}

void write_verdicts(const CheckOptions& options, ColorMode when, const Report& report, const Comparison* comparison,
                    Output& output) {
    switch (options.format) {
        case CheckFormat::json: return output.write(json_text(report, comparison));
        case CheckFormat::junit: return output.write(junit_text(report, options.fail_on));
        case CheckFormat::html: return output.write(html_text(report, comparison));
        case CheckFormat::table: break;
    }
    const bool color = wants_color(when, output);
    std::string text;
    append_verdicts(text, report, options.all || !options.only.empty(), color);
    if (comparison != nullptr) append_comparison(text, *comparison, color);
    output.write(text);
}

ExitCode report_problem(const OutputProblem& problem) {
    say("qpscope: {}: {}\n", problem.file, problem.sentence);
    return ExitCode::output_failed;
}

}  // namespace

std::optional<MeasureFiles> read_measure_files(const CheckOptions& options) {
    MeasureFiles files;
    if (!options.profile.empty()) {
        auto content = read_whole(options.profile, kLongestProfile);
        if (!content) {
            say("qpscope: {}\n", content.error());
            return std::nullopt;
        }
        files.profile = std::move(*content);
    }
    if (!options.compare.empty()) {
        auto content = read_whole(options.compare, kLongestReport);
        if (!content) {
            say("qpscope: {}: {}\n", options.compare, content.error());
            return std::nullopt;
        }
        files.compare = std::move(*content);
    }
    return files;
}

std::optional<Measures> measures_of(const CheckOptions& options, const MeasureFiles& files) {
    auto profile = parse_device_profile(options, files.profile);
    if (!profile) return std::nullopt;
    Measures measures{.profile = std::move(*profile), .earlier = {}};
    if (options.compare.empty()) return measures;
    measures.earlier = parse_earlier(options, files.compare);
    if (!measures.earlier) return std::nullopt;
    // What is not asked now has not changed.
    std::erase_if(measures.earlier->results,
                  [&](const EarlierResult& each) { return !is_wanted_check(options, *each.check); });
    return measures;
}

std::optional<Measures> read_measures(const CheckOptions& options) {
    const auto files = read_measure_files(options);
    return files ? measures_of(options, *files) : std::nullopt;
}

bool is_wanted_check(const CheckOptions& options, const CheckRow& check) {
    const std::string_view family = kFamilies[std::to_underlying(check.family)].prefix;
    const auto names_it = [&](const std::string& id) { return id == family || find_check(id) == &check; };
    if (options.quick && check.severity != CheckSeverity::high) return false;
    return options.only.empty() || std::ranges::any_of(options.only, names_it);
}

ExitCode write_report(const CheckOptions& options, ColorMode color, const Report& report, const Measures& measures,
                      Output& output) {
    const std::optional<Comparison> comparison =
        measures.earlier ? std::optional(compare(*measures.earlier, report)) : std::nullopt;
    write_verdicts(options, color, report, comparison ? &*comparison : nullptr, output);
    return options.fail_on && fails_at(report, *options.fail_on) ? ExitCode::findings : ExitCode::done;
}

ExitCode write_evidence(const std::string& folder, std::string_view name, std::span<const std::string> inputs,
                        const FillCapture& fill) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return report_problem({folder, error.message()});
    const std::string path = (std::filesystem::path(folder) / fmt::format("{}.pcapng", name)).string();
    auto saved = SavedCapture::open(path, inputs);
    if (!saved) return report_problem(saved.error());
    if (const auto filled = fill(*saved); !filled) return report_problem(filled.error());
    const auto done = saved->commit();
    return done ? ExitCode::done : report_problem(done.error());
}

}  // namespace qps::cli
