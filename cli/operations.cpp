// `operations`: what upper protocols asked for: sums of each kind and the slowest ones, or a row each.
#include <cli/analyzing.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/sheet.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/report/known_ends.hpp>
#include <transport-replay/report/operations.hpp>
#include <transport-replay/ulp/operation_sums.hpp>

#include <algorithm>
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

constexpr std::size_t kSlowestShown = 8;

// The operations that are wanted: shown at once, or summed up.
class Operations {
public:
    Operations(const Options& options, Output& output) : options_(options), output_(output) {}

    void packet(const Observation& observation, const PacketRecord& record) {
        if (!start_ && observation.has_time) start_ = observation.time;
        ends_.learn(observation, record);
    }

    void retired(ConnectionId connection) { ends_.forget(connection); }
    void operation(const UlpOperation& ended) {
        if (!wanted(options_, ended.connection) || !options_.operations.wants(ended)) return;
        ++count_;
        if (options_.operations.list) return show(ended);
        add(sums_, ended);
        const Instant last = ended.has_answer() ? ended.answered : ended.asked;
        const auto [period, is_new] = periods_.try_emplace(ended.protocol, ended.asked, last);
        if (is_new) return;
        period->second.first = std::min(period->second.first, ended.asked);
        period->second.second = std::max(period->second.second, last);
    }

    void show_now() {
        if (options_.operations.list) sheet().show_now();
    }

    void end() {
        if (options_.operations.list) sheet().end();
        else end_sums();
        if (count_ == 0) report_none(options_, "operations of a known protocol");
    }

private:
    Sheet& sheet() { return sheet_ ? *sheet_ : sheet_.emplace(options_, output_, "operations", operation_columns()); }

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
        Sheet sums(options_, output_, "sums", operation_sum_columns());
        for (const OperationSum& sum : sums_) {
            const auto& [first, last] = periods_.at(sum.protocol);
            sums.add(operation_sum_columns(), ReportedSum{sum, last - first}, tone_of(sum));
        }
        sums.end();
        if (options_.format != OutputFormat::table || count_ == 0) return;
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

    const Options& options_;
    Output& output_;
    KnownEnds ends_;
    std::optional<Instant> start_;
    std::optional<Sheet> sheet_;  // of single operations
    std::vector<OperationSum> sums_;
    std::map<UlpProtocol, std::pair<Instant, Instant>> periods_;  // first asked, last answered
    std::uint64_t count_ = 0;
};

}  // namespace

ExitCode run_operations(const Options& options) {
    const auto filter = compile_filter(options, FilterSets::taken);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    Operations operations(options, output);
    Listening listening;
    listening.packet = [&](const Observation& observation, const PacketRecord& record) {
        operations.packet(observation, record);
    };
    listening.operation = [&](const UlpOperation& ended) { operations.operation(ended); };
    listening.retired = [&](ConnectionId connection) { operations.retired(connection); };
    listening.pause = [&] { operations.show_now(); };
    const Analyzed analyzed = analyze(options, *filter, output, listening);
    if (analyzed.any) operations.end();
    return finish(options, analyzed, output);
}

}  // namespace qps::cli
