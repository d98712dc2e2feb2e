// Fuzzer of the parts of an analysis: bytes as a part's file, and as what is inside one, which a checksum would keep
// from us. What can be read is written and read again, joined with another one, concluded and judged.
#include <tests/fuzz/decoded.hpp>
#include <transport-replay/checks/report/written.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/parts/part.hpp>
#include <transport-replay/report/json.hpp>

#include <optional>
#include <string_view>
#include <vector>

using namespace qps::transport;
using qps::fuzz::demand;

namespace {

void judge_it(const conformance::PassiveRecord& record, const Timeline& timeline) {
    conformance::Report report;
    report.results = conformance::judge(record, timeline, {});
    for (const conformance::CheckResult& result : report.results)
        demand(result.evidence.size() <= conformance::kMostEvidence);
    static_cast<void>(conformance::json_text(report));
    if (!record.hosts.empty()) static_cast<void>(conformance::judge(record, timeline, {}, record.hosts.back().host));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kRoom = std::size_t{64} << 20;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    static_cast<void>(read_part(bytes, "1.0", kRoom));
    auto part = read_part_body(bytes);
    if (!part) return 0;
    const std::string body = part_body(*part);
    auto again = read_part(write_part(*part, "1.0"), "1.0", kRoom);
    demand(again.has_value());
    demand(part_body(*again) == body);
    std::vector<AnalysisPart> parts;
    parts.push_back(std::move(*again));
    if (const CapturePart& first = part->captures.front(); first.origin.of > first.numbers.size()) {
        AnalysisPart other;
        other.captures.push_back(first);
        other.captures.front().numbers = {missing(first).front()};
        parts.push_back(std::move(other));
    }
    auto joined = join(std::move(parts));
    demand(joined.has_value());
    const std::optional<conformance::PassiveRecord> checks = std::move(joined->captures.front().checks);
    if (checks) demand(conformance::is_sound(*checks, joined->captures.front().report.begun.size()));
    const Timeline timeline = conclude(std::move(*joined), {});
    if (checks) judge_it(*checks, timeline);
    for (const OutputFormat format : {OutputFormat::json, OutputFormat::tsv})
        write_report(timeline, format, {}, {}, [](std::string_view) {});
    return 0;
}
