// `collect`: its options set the variables at the top of the script.
#include <cli/collect.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/options/output_options.hpp>
#include <cli/options/refuse.hpp>
#include <cli/output.hpp>
#include <dissect/base/parse_value.hpp>

#include <random>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace qps::cli {

namespace {

constexpr std::uint64_t kMostSeconds = 3600;

std::uint64_t read_seconds_of_script(const std::string& text) {
    const auto seconds = dissect::parse_decimal(text);
    if (!seconds || *seconds < 1 || *seconds > kMostSeconds)
        refuse(fmt::format("invalid number of seconds '{}': expected 1 to {}", text, kMostSeconds));
    return *seconds;
}

struct CollectOptions {
    std::uint64_t pause = 10;   // seconds between the two readings of counters
    std::uint64_t capture = 0;  // seconds; 0: no capture
    bool without_names = false;
    OutputOptions output;

    void add(OptionTable& table) {
        table.under("Collection");
        table.add(
            "--seconds", "N", [this](const std::string& text) { pause = read_seconds_of_script(text); },
            "Read counters twice, N seconds apart (default: 10)");
        table.add(
            "--capture", "SECONDS", [this](const std::string& text) { capture = read_seconds_of_script(text); },
            "Capture the headers of RDMA packets for SECONDS between the readings, as root");
        table.under(headings::kOutput);
        table
            .flag("--without-names", without_names,
                  "Replace host names, addresses and GUIDs by pseudonyms, alike on all hosts that run this script")
            .not_with("--capture");
        output.add_path(table);
    }
};

// The key makes pseudonyms of this script differ from those of another, so that nobody finds names by trying them all.
std::string drawn_pseudonym_key() {
    std::random_device device;
    std::string key;
    for (int word = 0; word < 4; ++word) key += fmt::format("{:08x}", device());
    return key;
}

// The script with its line `name=...` set.
void set_line(std::string& script, std::string_view name, std::string_view value) {
    const std::string start = fmt::format("\n{}=", name);
    const std::size_t at = script.find(start) + start.size();
    script.replace(at, script.find_first_of(" \n", at) - at, value);
}

// Nobody has to read what does nothing.
void drop_section(std::string& script, std::string_view start, std::string_view end) {
    const std::size_t at = script.find(start);
    script.erase(at, script.find(end) - at);
}

ExitCode run_collect(const CollectOptions& options) {
    Output output(options.output.path);
    if (!output.ok()) return finish(output);
    std::string script(collect_script());
    set_line(script, "pause", std::to_string(options.pause));
    set_line(script, "capture", std::to_string(options.capture));
    if (options.without_names) set_line(script, "key", drawn_pseudonym_key());
    else drop_section(script, "\n# Pseudonyms of names.", "\n# The archive.");
    output.write(script);
    return finish(output);
}

}  // namespace

const Command kCollectCommand{"collect", kOnAWire,
                              "Print a shell script that gathers settings, counters and logs of a host",
                              "  qpscope collect >collect.sh                # read it; run it as sh collect.sh\n"
                              "  qpscope collect | ssh root@node-1 sh       # one tar file there, in the home folder\n"
                              "  qpscope collect --without-names --seconds 60 -o collect.sh",
                              prepared<CollectOptions, run_collect>};

}  // namespace qps::cli
