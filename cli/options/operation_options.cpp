#include <CLI/CLI.hpp>
#include <cli/decoding_as.hpp>
#include <cli/options/operation_options.hpp>
#include <cli/quantity.hpp>
#include <transport-replay/report/ulp.hpp>

#include <algorithm>
#include <cctype>

namespace qps::cli {

using namespace transport;

namespace {

bool same(std::string_view one, std::string_view other) {
    constexpr auto lower = [](unsigned char c) { return std::tolower(c); };
    return std::ranges::equal(one, other, {}, lower, lower);
}

}  // namespace

bool OperationOptions::wants(const UlpOperation& operation) const {
    if (!protocols.empty() && std::ranges::find(protocols, operation.protocol) == protocols.end()) return false;
    if (only_bad && !is_bad(operation)) return false;
    if (slower_than) {
        const auto latency = latency_of(operation);
        if (!latency || *latency <= *slower_than) return false;
    }
    if (names.empty()) return true;
    const std::string name = operation_name(operation.protocol, operation.code);
    return std::ranges::any_of(names, [&](const std::string& wanted) { return same(wanted, name); });
}

void add_operation_options(CLI::App& app, OperationOptions& options) {
    app.add_flag("-l,--list", options.list, "List single operations instead of sums, in the order in which they ended");
    const auto take_protocol = [&options](const std::vector<std::string>& words) {
        for (const std::string& word : words) {
            const auto protocol = read_protocol(word);
            if (!protocol) throw CLI::ValidationError(protocol.error());
            options.protocols.push_back(*protocol);
        }
    };
    app.add_option_function<std::vector<std::string>>("--protocol", take_protocol,
                                                      "Keep only these protocols: " + protocol_words(false))
        ->delimiter(',')
        ->type_name("NAME")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--operation", options.names, "Keep only these operations: Read, Write, ...")
        ->delimiter(',')
        ->type_name("NAME")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_flag("--failed", options.only_bad, "Keep only operations that failed or were not answered");
    app.add_option_function<std::string>(
           "--slower-than",
           [&options](const std::string& text) {
               const auto time = read_time(text);
               if (!time) throw CLI::ValidationError(time.error());
               options.slower_than = *time;
           },
           "Keep only operations that took longer: 500us, 10ms, ...")
        ->type_name("TIME");
}

}  // namespace qps::cli
