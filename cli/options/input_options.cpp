#include <cli/options/choice.hpp>
#include <cli/options/input_options.hpp>
#include <cli/quantity.hpp>
#include <dissect/base/parse_value.hpp>
#include <dissect/capture/time_merge.hpp>
#include <dissect/headers/roce_ports.hpp>
#include <dissect/ultra_ethernet/native.hpp>

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qps::cli {

namespace {

constexpr int kMostJobs = 1024;

std::string check_jobs(const std::string& text) {
    const auto jobs = dissect::parse_decimal(text, kMostJobs);
    return jobs && *jobs != 0 ? std::string()
                              : fmt::format("invalid number of threads '{}': expected 1 to {}", text, kMostJobs);
}

std::string wrong_inputs(InputOptions& input) {
    if (input.files.empty() && input.interface.empty() && has_standard_input()) input.files.emplace_back("-");
    if (input.files.empty() != input.interface.empty()) return {};
    return input.files.empty() ? "missing input: name a capture file, - for standard input, or an interface with -i"
                               : "conflicting input: capture files and --interface exclude each other";
}

// The UDP ports that carry RoCE: each time they are given, more of them.
void add_roce_port(OptionTable& table, InputOptions& input) {
    const auto take = [&input](const std::vector<std::string>& texts) {
        std::string all;
        for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
        into(input.roce_ports, [](const std::string& ports) { return dissect::read_roce_ports(ports); })(all);
    };
    table.add("--roce-port", "PORT", take, "Decode UDP datagrams to this port as RoCEv2, as those to 4791")
        .each_of_list();
}

void take_offset(InputOptions& input, const std::string& text) {
    auto offset = read_offset(text);
    if (!offset) refuse(offset.error());
    if (std::ranges::find(input.offsets, offset->first, &std::pair<std::string, dissect::Duration>::first) !=
        input.offsets.end())
        refuse(fmt::format("conflicting --offset for '{}': give one time", offset->first));
    input.offsets.push_back(*std::move(offset));
}

// What is wrong with clocks, once the files are known.
std::string wrong_clocks(const InputOptions& input) {
    if (input.by_time && !input.interface.empty()) return "--by-time and --interface exclude each other";
    if (input.by_time && input.in_order) return "--by-time and --in-order exclude each other";
    if (input.by_time && input.files.size() > dissect::TimeMerge::kMostSources)
        return fmt::format("too many files for --by-time ({}): expected at most {}", input.files.size(),
                           dissect::TimeMerge::kMostSources);
    for (const auto& [file, offset] : input.offsets)
        if (std::ranges::find(input.files, file) == input.files.end())
            return fmt::format("invalid offset of '{}': expected the name of an input file, as it is given", file);
    return {};
}

}  // namespace

bool has_standard_input() {
    struct stat status{};
    return fstat(STDIN_FILENO, &status) == 0 && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode));
}

dissect::Duration InputOptions::offset_of(const std::string& file) const {
    const auto found = std::ranges::find(offsets, file, &std::pair<std::string, dissect::Duration>::first);
    return found == offsets.end() ? dissect::Duration{} : found->second;
}

void InputOptions::add(OptionTable& table, std::function<bool()> needed) {
    table.under(headings::kInput);
    table.add("files", "", files, "Capture files: pcap or pcapng, plain, .gz or .zst; - for standard input")
        .is(PathUse::capture);
    table.add("-r,--read", "FILE", files, "Read this capture file").is(PathUse::capture);
    table.add("-i,--interface", "NAME", interface, "Capture live from this interface (needs CAP_NET_RAW)");
    table.add("-F,--capture-filter", "EXPRESSION", capture_filter,
              "Keep only frames that match this libpcap (BPF) expression");
    table.add("-c,--count", "N", count, "Stop after N packets").checked(check_count);
    table
        .add("-j,--jobs", "N", jobs,
             "Use N threads (default: one per processor, at most 8; pipes and interfaces use one)")
        .checked(check_jobs);
    table.add("--link-speed", "SPEED", into(link_speed, read_speed),
              "Compute pause times for this link speed: 100G, 400G, ...");
    add_roce_port(table, *this);
    table.add(
        "--uet-protocol", "N", into(uet_protocol, dissect::read_uet_protocol),
        "Decode IP packets with this protocol number as Ultra Ethernet (none is assigned; 253 in reference code)");
    table.check([this, needed = std::move(needed)] {
        dissect::set_roce_ports(roce_ports);
        dissect::set_uet_protocol(uet_protocol);
        return !needed || needed() ? wrong_inputs(*this) : std::string();
    });
}

void InputOptions::add_progress(OptionTable& table) {
    table.under(headings::kOutput).flag("--no-progress", no_progress, "Show no progress on stderr");
}

void InputOptions::add_clocks(OptionTable& table) {
    table.under(headings::kInput);
    table.flag("--by-time", by_time, "Merge the files by time: packets of all of them in the order of their times");
    table.flag("--in-order", in_order,
               "Read the files one after the other as given, not in the order of their first packets");
    table
        .add(
            "--offset", "FILE=TIME",
            [this](const std::vector<std::string>& texts) {
                for (const std::string& text : texts) take_offset(*this, text);
            },
            "Add TIME (-1.5ms, +2s) to the times of the input FILE")
        .each();
    table.check([this] { return wrong_clocks(*this); });
}

void InputOptions::add_sandbox(OptionTable& table) {
    confinement.wanted = confinement.may_be_declined = true;
    table.under(headings::kInput)
        .flag("--no-sandbox", confinement.declined, "Keep all system calls: for debuggers and profilers");
    table.check([this, &table] {
        confine(table);
        return std::string();
    });
}

void InputOptions::confine(const OptionTable& table) {
    for (const OptionRow& row : table.rows()) {
        if (row.typed.empty()) continue;
        if (row.path == PathUse::held)
            confinement.also_read.insert(confinement.also_read.end(), row.typed.begin(), row.typed.end());
        if (row.path == PathUse::folder_filled) confinement.creates = true;
        if (row.path == PathUse::written || row.path == PathUse::folder_written || row.path == PathUse::folder_filled)
            confinement.renames = true;
    }
}

}  // namespace qps::cli
