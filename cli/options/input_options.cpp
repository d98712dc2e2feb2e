#include <CLI/CLI.hpp>
#include <cli/options/input_options.hpp>
#include <cli/quantity.hpp>
#include <dissect/base/parse_value.hpp>
#include <dissect/capture/time_merge.hpp>
#include <dissect/headers/roce_ports.hpp>
#include <dissect/ultra_ethernet/native.hpp>
#include <transport-replay/analysis/unordered_hosts.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::cli {

namespace {

// Each time it is given, more of them.
void add_roce_port(CLI::App& app, Options& options) {
    const auto take = [&options](const std::vector<std::string>& texts) {
        std::string all;
        for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
        const auto ports = dissect::read_roce_ports(all);
        if (!ports) throw CLI::ValidationError(ports.error());
        options.roce_ports = *ports;
    };
    app.add_option_function<std::vector<std::string>>("--roce-port", take,
                                                      "Decode UDP datagrams to this port as RoCEv2, as those to 4791")
        ->delimiter(',')
        ->type_name("PORT")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_nccl_log(CLI::App& app, Options& options) {
    app.add_option("--nccl-log", options.nccl_log, "Take the ranks of NCCL jobs from this log (NCCL_DEBUG=INFO)")
        ->type_name("FILE");
}

// For NICs that place packets in any order.
void add_out_of_order(CLI::App& app, Options& options) {
    const auto take = [&options](const std::vector<std::string>& texts) {
        const auto hosts = transport::read_unordered_hosts(fmt::format("{}", fmt::join(texts, ",")));
        if (!hosts) throw CLI::ValidationError(hosts.error());
        options.unordered = *hosts;
    };
    app.add_option_function<std::vector<std::string>>(
           "--out-of-order", take,
           "Expect packets to these hosts in any order: their NICs accept that (multipath, packet spraying)")
        ->delimiter(',')
        ->type_name("HOST")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void add_protocol_numbers(CLI::App& app, Options& options) {
    add_roce_port(app, options);
    const auto take = [&options](const std::string& text) {
        const auto protocol = dissect::read_uet_protocol(text);
        if (!protocol) throw CLI::ValidationError(protocol.error());
        options.uet_protocol = *protocol;
    };
    app.add_option_function<std::string>(
           "--uet-protocol", take,
           "Decode IP packets with this protocol number as Ultra Ethernet (none is assigned; 253 in reference code)")
        ->type_name("N");
}

void use_protocol_numbers(const Options& options) {
    dissect::set_roce_ports(options.roce_ports);
    dissect::set_uet_protocol(options.uet_protocol);
}

void add_knowledge(CLI::App& app, Options& options) {
    add_nccl_log(app, options);
    add_out_of_order(app, options);
}

// Clocks of several files.
void add_clocks(CLI::App& app, Options& options) {
    app.add_flag("--by-time", options.by_time,
                 "Merge the files by time: packets of all of them in the order of their times");
    app.add_flag("--in-order", options.in_order,
                 "Read the files in the order given, not in that of their first packets");
    const auto take = [&options](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
            auto offset = read_offset(text);
            if (!offset) throw CLI::ValidationError(offset.error());
            if (std::ranges::find(options.offsets, offset->first, &std::pair<std::string, dissect::Duration>::first) !=
                options.offsets.end())
                throw CLI::ValidationError(fmt::format("conflicting --offset for '{}': give one time", offset->first));
            options.offsets.push_back(*std::move(offset));
        }
    };
    app.add_option_function<std::vector<std::string>>("--offset", take,
                                                      "Add TIME (-1.5ms, +2s) to the times of the input FILE")
        ->type_name("FILE=TIME")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::string wrong_clocks(const Options& options) {
    if (options.by_time && !options.interface.empty()) return "--by-time and --interface exclude each other";
    if (options.by_time && options.in_order) return "--by-time and --in-order exclude each other";
    if (options.by_time && options.files.size() > dissect::TimeMerge::kMostSources)
        return fmt::format("too many files for --by-time ({}): expected at most {}", options.files.size(),
                           dissect::TimeMerge::kMostSources);
    for (const auto& [file, offset] : options.offsets)
        if (std::ranges::find(options.files, file) == options.files.end())
            return fmt::format("invalid offset of '{}': expected the name of an input file, as it is given", file);
    return {};
}

}  // namespace qps::cli
