#include <CLI/CLI.hpp>
#include <cli/options.hpp>
#include <cli/options/part_options.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/parts/part.hpp>

#include <array>
#include <string>

#include <fmt/format.h>

namespace qps::cli {

namespace {

struct NamedProduct {
    std::string_view name;
    MergedAs as;
};
constexpr std::array kProducts{NamedProduct{"analyze", MergedAs::analyze}, NamedProduct{"findings", MergedAs::findings},
                               NamedProduct{"cm", MergedAs::cm},           NamedProduct{"fabric", MergedAs::fabric},
                               NamedProduct{"check", MergedAs::check},     NamedProduct{"part", MergedAs::part}};

// "3/8".
PartOptions::OneOf read_part_of(const std::string& text) {
    const std::size_t slash = text.find('/');
    const auto number = dissect::parse_decimal(std::string_view(text).substr(0, slash), transport::kMostParts);
    const auto parts = slash == std::string::npos
                           ? std::nullopt
                           : dissect::parse_decimal(std::string_view(text).substr(slash + 1), transport::kMostParts);
    if (!number || !parts || *number == 0 || *number > *parts)
        throw CLI::ValidationError(
            fmt::format("invalid part '{}': expected K/N such as 1/4, with N up to {}", text, transport::kMostParts));
    return {static_cast<std::uint32_t>(*number), static_cast<std::uint32_t>(*parts)};
}

std::string read_host(const std::string& name) {
    if (name.empty() || name.size() > transport::kLongestHostName)
        throw CLI::ValidationError(fmt::format("invalid host '{}': expected a name of up to {} bytes",
                                               name.substr(0, 32), transport::kLongestHostName));
    return name;
}

MergedAs read_product(const std::string& text) {
    std::string all;
    for (const NamedProduct& each : kProducts) {
        if (each.name == text) return each.as;
        all += fmt::format("{}{}", all.empty() ? "" : ", ", each.name);
    }
    throw CLI::ValidationError(fmt::format("invalid --as '{}': expected one of {}", text, all));
}

}  // namespace

void add_part_option(CLI::App& app, PartOptions& options) {
    app.add_option_function<std::string>(
           "--part", [&options](const std::string& text) { options.one = read_part_of(text); },
           "Follow only the Kth of N parts of all pairs of hosts, and write what is found to -o, for qpscope merge")
        ->type_name("K/N");
    app.add_option_function<std::string>(
           "--host", [&options](const std::string& name) { options.host = read_host(name); },
           "These are captures of that host alone: write what is found to -o, for qpscope merge with those of other hosts")
        ->type_name("NAME");
    app.add_flag("--checks", options.checks, "With --part or --host: record also what qpscope merge --as check needs");
}

void add_merge_options(CLI::App& app, Options& options) {
    app.add_option("files", options.files, "Parts, as analyze --part wrote them, in any order")->type_name("");
    app.add_option_function<std::string>(
           "--as", [&options](const std::string& text) { options.part.as = read_product(text); },
           "Print what this command prints of the capture: analyze, findings, cm, fabric, or check (of parts made with --checks); part: write the parts as one to -o (default: analyze)")
        ->type_name("COMMAND");
}

}  // namespace qps::cli
