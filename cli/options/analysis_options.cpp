#include <cli/decoding_as.hpp>
#include <cli/options/analysis_options.hpp>
#include <cli/options/choice.hpp>
#include <transport-replay/analysis/unordered_hosts.hpp>
#include <transport-replay/model/memory_amount.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::cli {

using transport::IcrcPolicy;
using transport::Severity;

namespace {

constexpr std::array kSeverities{NamedValue{"note", std::optional{Severity::note}},
                                 NamedValue{"warning", std::optional{Severity::warning}},
                                 NamedValue{"error", std::optional{Severity::error}}};
constexpr std::array kIcrcPolicies{NamedValue{"auto", IcrcPolicy::automatic}, NamedValue{"ignore", IcrcPolicy::ignore},
                                   NamedValue{"check", IcrcPolicy::check}};

// "3=nvme"
void take_hint(transport::UlpHints& hints, const std::string& text) {
    const std::size_t equals = text.find('=');
    const auto uid =
        dissect::parse_decimal(std::string_view(text).substr(0, equals), std::numeric_limits<std::uint32_t>::max());
    if (equals == std::string::npos || !uid)
        refuse(fmt::format("invalid --decode-as '{}': expected CONNECTION=PROTOCOL, such as 3=nvme", text));
    const auto protocol = read_protocol(std::string_view(text).substr(equals + 1));
    if (!protocol) refuse(protocol.error());
    if (!hints.emplace(static_cast<std::uint32_t>(*uid), *protocol).second)
        refuse(fmt::format("conflicting --decode-as for connection {}: give one protocol", *uid));
}

}  // namespace

void AnalysisOptions::add_decode_as(OptionTable& table) {
    table.under(headings::kInput)
        .add(
            "--decode-as", "N=NAME",
            [this](const std::vector<std::string>& texts) {
                for (const std::string& text : texts) take_hint(hints, text);
            },
            "Decode a connection as this protocol: 3=nvme; " + protocol_words(true))
        .each_of_list();
}

void AnalysisOptions::add_icrc(OptionTable& table) {
    add_choice(
        table.under(headings::kInput), "--icrc", icrc, kIcrcPolicies,
        "Treat wrong ICRCs as corruption (check), not at all (ignore), or by what else the sender sent (auto) (default: auto)");
}

void AnalysisOptions::add_memory(OptionTable& table) {
    table.under(headings::kInput)
        .add("--memory", "SIZE", into(memory, transport::read_memory),
             "Keep at most this much in memory: 2GiB, 512MiB, ... (default: a quarter of the machine's)");
}

void AnalysisOptions::add_knowledge(OptionTable& table) {
    table.under(headings::kInput)
        .add("--nccl-log", "FILE", nccl_log, "Take the ranks of NCCL jobs from this log (NCCL_DEBUG=INFO)")
        .is(PathUse::held);
    table
        .add(
            "--out-of-order", "HOST",
            [this](const std::vector<std::string>& texts) {
                into(unordered, transport::read_unordered_hosts)(fmt::format("{}", fmt::join(texts, ",")));
            },
            "Expect packets to these hosts in any order: their NICs accept that (multipath, packet spraying)")
        .each_of_list();
}

void AnalysisOptions::add_connections(OptionTable& table) {
    table.under(headings::kFilter)
        .add("-C,--connection", "N", connections, "Show these connections only (see qpscope connections)")
        .checked(check_connection)
        .each_of_list();
}

void AnalysisOptions::add_fail_on(OptionTable& table) {
    table.under(headings::kOutput)
        .add(
            "--fail-on", "WORD", [this](const std::string& word) { take_fail_on(word); },
            "Exit with 1 on findings this severe or worse: note, warning or error");
}

void AnalysisOptions::take_fail_on(const std::string& word) { take_choice("--fail-on", word, fail_on, kSeverities); }

}  // namespace qps::cli
