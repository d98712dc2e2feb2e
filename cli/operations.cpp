// `operations`: what upper protocols asked for: sums of each kind and the slowest ones, or a row each.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/quantity.hpp>
#include <cli/sheet.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/report/known_ends.hpp>
#include <transport-replay/report/operations.hpp>
#include <transport-replay/report/ulp.hpp>
#include <transport-replay/ulp/operation_sums.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

struct OperationsOptions {
    ListingOptions listing;
    bool list = false;                   // a row each instead of sums
    std::vector<UlpProtocol> protocols;  // only these; none: all
    std::vector<std::string> names;      // only operations called so, whatever the case; none: all
    bool only_bad = false;               // failed, or never answered
    std::optional<Duration> slower_than;

    void add(OptionTable& table) {
        listing.begin(table);
        table.under(headings::kOutput)
            .flag("-l,--list", list, "List single operations instead of sums, in the order in which they ended");
        table.under(headings::kFilter);
        table
            .add(
                "--protocol", "NAME", [this](const std::vector<std::string>& words) { take_protocols(words); },
                "Keep only these protocols: " + protocol_words(false))
            .each_of_list();
        table.add("--operation", "NAME", names, "Keep only these operations: Read, Write, ...").each_of_list();
        table.flag("--failed", only_bad, "Keep only operations that failed or were not answered");
        table.add("--slower-than", "TIME", into(slower_than, [](const std::string& text) { return read_time(text); }),
                  "Keep only operations that took longer: 500us, 10ms, ...");
        listing.known(table);
        listing.output.add_format(table);
        listing.end(table);
    }

private:
    void take_protocols(const std::vector<std::string>& words) {
        for (const std::string& word : words) into(protocols.emplace_back(), read_protocol)(word);
    }
};

bool same(std::string_view one, std::string_view other) {
    constexpr auto lower = [](unsigned char c) { return std::tolower(c); };
    return std::ranges::equal(one, other, {}, lower, lower);
}

bool wants(const OperationsOptions& options, const UlpOperation& operation) {
    if (!options.protocols.empty() &&
        std::ranges::find(options.protocols, operation.protocol) == options.protocols.end())
        return false;
    if (options.only_bad && !is_bad(operation)) return false;
    if (options.slower_than) {
        const auto latency = latency_of(operation);
        if (!latency || *latency <= *options.slower_than) return false;
    }
    if (options.names.empty()) return true;
    const std::string name = operation_name(operation.protocol, operation.code);
    return std::ranges::any_of(options.names, [&](const std::string& wanted) { return same(wanted, name); });
}

constexpr std::size_t kSlowestShown = 8;

// The operations that are wanted: shown at once, or summed up.
class Operations {
public:
    Operations(const OperationsOptions& options, Output& output) : options_(options), output_(output) {}

    void packet(const Observation& observation, const PacketRecord& record) {
        if (!start_ && observation.has_time) start_ = observation.time;
        ends_.learn(observation, record);
    }

    void retired(ConnectionId connection) { ends_.forget(connection); }
    void operation(const UlpOperation& ended) {
        if (!wanted(options_.listing.reading.analysis, ended.connection) || !wants(options_, ended)) return;
        ++count_;
        if (options_.list) return show(ended);
        add(sums_, ended);
        const Instant last = ended.has_answer() ? ended.answered : ended.asked;
        const auto [period, is_new] = periods_.try_emplace(ended.protocol, ended.asked, last);
        if (is_new) return;
        period->second.first = std::min(period->second.first, ended.asked);
        period->second.second = std::max(period->second.second, last);
    }

    void show_now() {
        if (options_.list) sheet().show_now();
    }

    void end() {
        if (options_.list) sheet().end();
        else end_sums();
        if (count_ == 0) report_none(options_.listing.output.format, "operations of a known protocol");
    }

private:
    Sheet& sheet() {
        return sheet_ ? *sheet_ : sheet_.emplace(options_.listing.output, output_, "operations", operation_columns());
    }

    void show(const UlpOperation& ended) {
        const ReportedOperation row{ended, ends_.end(ended.connection, ended.requester),
                                    ends_.end(ended.connection, other(ended.requester)), start_.value_or(Instant{})};
        sheet().add(operation_columns(), row, tone_of(ended));
    }

    // The most frequent first; for people then the slowest of all.
    void end_sums() {
        std::ranges::sort(sums_, [](const OperationSum& a, const OperationSum& b) {
            return std::tuple(a.protocol, b.count, a.code) < std::tuple(b.protocol, a.count, b.code);
        });
        Sheet sums(options_.listing.output, output_, "sums", operation_sum_columns());
        for (const OperationSum& sum : sums_) {
            const auto& [first, last] = periods_.at(sum.protocol);
            sums.add(operation_sum_columns(), ReportedSum{sum, last - first}, tone_of(sum));
        }
        sums.end();
        if (options_.listing.output.format != OutputFormat::table || count_ == 0) return;
        std::vector<UlpOperation> slowest;
        for (const OperationSum& sum : sums_) slowest.insert(slowest.end(), sum.slowest.begin(), sum.slowest.end());
        std::ranges::stable_sort(slowest, std::greater{},
                                 [](const UlpOperation& one) { return one.answered - one.asked; });
        if (slowest.size() > kSlowestShown) slowest.resize(kSlowestShown);
        if (slowest.empty()) return;
        output_.write("\nslowest operations:\n");
        for (const UlpOperation& one : slowest) show(one);
        sheet().end();
    }

    const OperationsOptions& options_;
    Output& output_;
    KnownEnds ends_;
    std::optional<Instant> start_;
    std::optional<Sheet> sheet_;  // of single operations
    std::vector<OperationSum> sums_;
    std::map<UlpProtocol, std::pair<Instant, Instant>> periods_;  // first asked, last answered
    std::uint64_t count_ = 0;
};

ExitCode run_operations(const OperationsOptions& options) {
    ReadingOptions reading = options.listing.reading;
    const auto filter = compile_filter(reading.filter, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options.listing.output.path, reading.input.files);
    if (!output.ok()) return finish(output);
    std::optional<Operations> operations(std::in_place, options, output);
    Listening listening;
    listening.packet = [&](const Observation& observation, const PacketRecord& record) {
        operations->packet(observation, record);
    };
    listening.operation = [&](const UlpOperation& ended) { operations->operation(ended); };
    listening.retired = [&](ConnectionId connection) { operations->retired(connection); };
    listening.pause = [&] { operations->show_now(); };
    listening.names_connections = true;
    listening.rows = &output;
    listening.again = [&] { operations.emplace(options, output); };
    leave_room_for_rows(reading);
    const Analyzed analyzed = analyze(reading, *filter, output, listening);
    if (analyzed.any) operations->end();
    const ExitCode seen = analyzed.any ? say_nothing_seen(reading, analyzed.timeline) : ExitCode::done;
    return worse(seen, finish(reading.analysis, analyzed, output));
}

}  // namespace

const Command kOperationsCommand{
    "operations", kAnalyse, "Count and time operations of storage and file protocols (NVMe, iSER, NFS, ...)",
    "  qpscope operations trace.pcap\n"
    "  qpscope operations --list --slower-than 10ms trace.pcap\n"
    "  qpscope operations --list --failed --protocol nvme -f csv trace.pcap > failed.csv\n"
    "  qpscope operations --decode-as 3=nvme,4=nvme --operation Read trace.pcap\n\n"
    "The latency of an operation that moved data has three parts: wait (until its data starts), transfer, complete (until the answer).",
    prepared<OperationsOptions, run_operations>};

}  // namespace qps::cli
