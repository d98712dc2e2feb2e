#include <CLI/CLI.hpp>
#include <cli/live/options/send_options.hpp>
#include <cli/options/refuse.hpp>
#include <cli/quantity.hpp>
#include <dissect/base/parse_value.hpp>

#include <fmt/format.h>

namespace qps::cli {

namespace {

constexpr std::uint64_t kMostRepeats = 5000;  // the lines of a script that one run plays

std::uint64_t read_count(const std::string& text, std::string_view what, std::uint64_t most) {
    const auto number = dissect::parse_decimal(text, most);
    if (!number || *number == 0) refuse(fmt::format("invalid {} '{}': expected 1 to {}", what, text, most));
    return *number;
}

}  // namespace

void add_send_options(CLI::App& app, SendOptions& options) {
    const auto add_many = [&](const std::string& name, std::vector<std::string>& target, const std::string& meaning) {
        app.add_option(name, target, meaning)
            ->type_name("LINE")
            ->allow_extra_args(false)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    };
    const auto add = [&](const std::string& name, const std::string& type, const std::string& meaning, auto take) {
        app.add_option_function<std::string>(name, take, meaning)->type_name(type);
    };
    app.add_option("packet", options.packets, "Packets to send, a line each (see below)")->type_name("LINE");
    add_many("--expect", options.expected, "Expect this packet back, as a line; repeatable, in order");
    add("--within", "TIME",
        "Wait TIME for each of them (default: 500ms); without --expect: show replies for TIME (default: 200ms)",
        [&options](const std::string& text) {
            const auto time = read_time(text);
            if (!time) refuse(time.error());
            options.patience = *time;
        });
    add("-n,--count", "N", "Send all of it N times",
        [&options](const std::string& text) { options.count = read_count(text, "count", kMostRepeats); });
    app.add_option("--from", options.from, "Send a packet of this capture; LINE says what is different in it")
        ->type_name("CAPTURE");
    add("--frame", "N", "With --from: this frame (default: the first RDMA packet)",
        [&options](const std::string& text) { options.frame = read_count(text, "frame number", UINT64_MAX); });
}

}  // namespace qps::cli
