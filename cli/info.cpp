// `info`: what kind of file, how many packets of what, ICRC verdicts.
#include <dissect/census.hpp>
#include <dissect/headers/derived.hpp>
#include <dissect/render_value.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <transport-replay/report/document.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "command.hpp"
#include "decoding.hpp"
#include "decoding_as.hpp"
#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

// The link types of a capture; a file of many has the first few named.
std::string link_names(const Input& input) {
    constexpr std::size_t kNamed = 8;
    if (input.file() == nullptr) return std::string(name(input.link()));
    std::set<LinkType> links;
    for (const Interface& interface : input.file()->interfaces()) links.insert(interface.link);
    std::vector<std::string> names;
    for (const LinkType link : links) {
        if (names.size() == kNamed) break;
        const std::string_view known = name(link);
        names.push_back(known.empty() ? fmt::format("link type {}", std::to_underlying(link)) : std::string(known));
    }
    if (links.size() > kNamed) names.push_back(fmt::format("and {} more", links.size() - kNamed));
    return fmt::format("{}", fmt::join(names, ", "));
}

struct NamedCount {
    std::string name;
    std::uint64_t count = 0;
};
using NamedCounts = std::vector<NamedCount>;

// Those that are not zero, by the names of their rows.
template <std::size_t N, class Name>
NamedCounts counts(const std::array<std::uint64_t, N>& numbers, Name name, std::size_t from = 0) {
    NamedCounts found;
    for (std::size_t i = from; i < N; ++i)
        if (numbers[i] != 0) found.push_back({std::string(name(i)), numbers[i]});
    return found;
}

std::string opcode_name(std::size_t code) {
    const OpcodeRow& row = kOpcodes[code];
    return row.defined ? std::string(row.name()) : fmt::format("{}_0x{:02X}", row.name(), code);
}

using CrcCounts = std::array<std::uint64_t, 4>;

std::string rdmap_name(std::size_t code) {
    const std::string_view known = name_in(kRdmapOpcodeNames, code);
    return known.empty() ? fmt::format("RDMAP_0x{:X}", code) : fmt::format("RDMAP_{}", known);
}

NamedCounts verdicts(const CrcCounts& numbers) {
    NamedCounts found;
    for (const CrcStatus status : {CrcStatus::good, CrcStatus::bad, CrcStatus::not_checkable}) {
        const auto i = std::to_underlying(status);
        found.push_back({std::string(kCrcStatusNames[i].name), numbers[i]});
    }
    return found;
}

NamedCounts encapsulations(const Census& census) {
    NamedCounts found = counts(
        census.encapsulations, [](std::size_t i) { return kEncapsulationNames[i].name; }, 1);
    if (census.iwarp != 0) found.push_back({"iWARP", census.iwarp});
    return found;
}
NamedCounts crc_reasons(const Census& census) {
    return counts(census.icrc_reasons, [](std::size_t i) { return kCrcReasonNames[i].name; });
}
NamedCounts innermost(const Census& census) {
    return counts(census.innermost, [](std::size_t i) { return header(static_cast<LayerKind>(i)).name; });
}
NamedCounts faults(const Census& census) {
    return counts(
        census.faults, [](std::size_t i) { return kFaults[i].name; }, 1);
}

std::uint64_t skipped_blocks(const Input& input) { return input.file() == nullptr ? 0 : input.file()->skipped_blocks().total(); }

std::int64_t duration_ns(const Census& census) {
    return census.time ? std::to_underlying(census.time->last - census.time->first) : 0;
}

std::uint64_t infiniband_packets(const Census& census) { return census.packets - census.encapsulations[0]; }
std::uint64_t rdma_packets(const Census& census) { return infiniband_packets(census) + census.iwarp; }

void add_counts(Document& document, std::string_view name, const NamedCounts& counts) {
    document.open(name);
    for (const auto& [what, count] : counts) document.add(what, count);
    document.close();
}

// An object, the whole of it.
void add_input(Document& document, const Input& input, const Census& census) {
    document.open();
    document.add("schema", kSchema);
    document.add("file", input.name());
    document.add("format", input.file() != nullptr ? name(input.file()->format()) : "live");
    if (input.file() != nullptr) document.add("compression", name(input.file()->compression()));
    document.add("link_type", link_names(input));
    document.add("packets", census.packets);
    document.add("bytes", census.bytes);
    document.add("captured_bytes", census.captured_bytes);
    document.add("cut_packets", census.cut);
    if (census.time) {
        document.add("first_time_ns", census.time->first);
        document.add("last_time_ns", census.time->last);
        document.add("duration_ns", duration_ns(census));
        document.add("backwards_timestamps", census.backwards);
    }
    if (census.without_time != 0) document.add("packets_without_time", census.without_time);
    if (const std::uint64_t skipped = skipped_blocks(input); skipped != 0) document.add("skipped_blocks", skipped);
    if (const Drops drops = input.drops(); drops.known)
        add_counts(document, "dropped", {{"interface", drops.dropped}, {"system", drops.dropped_by_system}});
    document.add("rdma_packets", rdma_packets(census));
    document.add("rdma_payload_bytes", census.payload_bytes);
    add_counts(document, "encapsulations", encapsulations(census));
    add_counts(document, "icrc", verdicts(census.icrc));
    add_counts(document, "icrc_not_checkable", crc_reasons(census));
    add_counts(document, "vcrc", verdicts(census.vcrc));
    document.add("congestion_experienced", census.congestion_experienced);
    NamedCounts opcodes = counts(census.opcodes, opcode_name);
    std::ranges::move(counts(census.rdmap, rdmap_name), std::back_inserter(opcodes));
    add_counts(document, "opcodes", opcodes);
    if (census.iwarp != 0) add_counts(document, "fpdu_crc", verdicts(census.fpdu_crc));
    add_counts(document, "other", innermost(census));
    add_counts(document, "faults", faults(census));
    if (const InputProblem& problem = input.problem(); problem.kind != InputProblemKind::none) {
        document.open("problem");
        document.add("offset_bytes", problem.offset);
        document.add("sentence", problem.sentence);
        document.close();
    }
    document.close();
}

void append_row(std::string& out, std::string_view label, std::string_view text) {
    if (!text.empty()) out += fmt::format("    {:<12}{}\n", label, text);
}

std::string list_of(const NamedCounts& counts) {
    std::vector<std::string> parts;
    for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} {}", grouped(count), name));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string crc_text(const CrcCounts& numbers, const NamedCounts& reasons) {
    const auto of = [&](CrcStatus status) { return grouped(numbers[std::to_underlying(status)]); };
    std::string text =
        fmt::format("{} good, {} bad, {} not checkable", of(CrcStatus::good), of(CrcStatus::bad), of(CrcStatus::not_checkable));
    if (!reasons.empty()) text += fmt::format(" ({})", list_of(reasons));
    return text;
}

std::string format_text(const Input& input) {
    std::string text(input.file() != nullptr ? name(input.file()->format()) : "live");
    if (input.file() != nullptr && name(input.file()->compression()) != "none")
        text += fmt::format(" in {}", name(input.file()->compression()));
    if (const std::string links = link_names(input); !links.empty()) text += fmt::format(", {}", links);
    return text;
}

void append_times(std::string& out, const Census& census) {
    if (!census.time) return;
    const auto length = static_cast<double>(duration_ns(census)) / kNanosecondsPerSecond;
    append_row(out, "time", fmt::format("{}, {}", utc(census.time->first), human_time(length)));
    if (census.backwards != 0)
        append_row(out, "", fmt::format("{} older than the one before", transport::counted(census.backwards, "packet")));
}

// Opcodes of one kind, with their share of all there are.
template <std::size_t N, class Name>
void append_opcodes(std::string& out, const std::array<std::uint64_t, N>& counts, Name name, std::uint64_t all) {
    constexpr double kPercent = 100;
    std::string_view label = "opcodes";
    for (std::size_t code = 0; code < N; ++code) {
        if (counts[code] == 0) continue;
        append_row(out, label,
                   fmt::format("{:<36}{:>12} {:>6.1f} %", name(code), grouped(counts[code]),
                               kPercent * static_cast<double>(counts[code]) / static_cast<double>(all)));
        label = "";
    }
}

void append_table(std::string& out, const Input& input, const Census& census) {
    out += printable(input.name()) + "\n";
    append_row(out, "format", format_text(input));
    append_row(out, "packets",
               fmt::format("{}, {} bytes on the wire{}", grouped(census.packets), grouped(census.bytes),
                           census.cut == 0 ? "" : fmt::format("; {} truncated by the capture", grouped(census.cut))));
    append_times(out, census);
    if (census.without_time != 0)
        append_row(out, "", fmt::format("{} without a timestamp", transport::counted(census.without_time, "packet")));
    if (const std::uint64_t skipped = skipped_blocks(input); skipped != 0)
        append_row(out, "skipped", fmt::format("{} without packets", transport::counted(skipped, "block")));
    if (const Drops drops = input.drops(); drops.known && (drops.dropped != 0 || drops.dropped_by_system != 0))
        append_row(out, "dropped",
                   fmt::format("{} by the interface, {} by the system", grouped(drops.dropped), grouped(drops.dropped_by_system)));
    if (rdma_packets(census) != 0) {
        append_row(out, "RDMA", fmt::format("{}; {} bytes of payload", list_of(encapsulations(census)), grouped(census.payload_bytes)));
        if (infiniband_packets(census) != 0) append_row(out, "ICRC", crc_text(census.icrc, crc_reasons(census)));
        const bool checked = std::ranges::any_of(census.fpdu_crc, [](std::uint64_t count) { return count != 0; });
        if (census.iwarp != 0) append_row(out, "MPA CRC", checked ? crc_text(census.fpdu_crc, {}) : "not in use");
        if (census.vcrc[0] != census.packets) append_row(out, "VCRC", crc_text(census.vcrc, {}));
        if (census.congestion_experienced != 0)
            append_row(out, "ECN", fmt::format("{}", transport::counted(census.congestion_experienced, "CE-marked packet")));
    } else if (census.packets != 0) {
        append_row(out, "RDMA", "none: no RoCE, InfiniBand or iWARP packet");
    }
    append_row(out, "other", list_of(innermost(census)));
    append_row(out, "faults", list_of(faults(census)));
    append_opcodes(out, census.opcodes, opcode_name, infiniband_packets(census));
    append_opcodes(out, census.rdmap, rdmap_name, std::accumulate(census.rdmap.begin(), census.rdmap.end(), std::uint64_t{0}));
}

constexpr std::string_view kBriefLayout = "{:>12} {:>12} {:>12} {:>8} {:>12} {:>16} {:>10}  {}\n";

void append_brief_heading(std::string& out) {
    out += fmt::format(fmt::runtime(kBriefLayout), "packets", "RDMA", "ICRC good", "bad", "unchecked", "bytes", "time", "capture");
}

// One capture in a line, where there are several.
void append_brief(std::string& out, const Input& input, const Census& census) {
    const auto icrc = [&](CrcStatus status) { return grouped(census.icrc[std::to_underlying(status)]); };
    const std::string length = human_time(static_cast<double>(duration_ns(census)) / kNanosecondsPerSecond);
    out += fmt::format(fmt::runtime(kBriefLayout), grouped(census.packets), grouped(rdma_packets(census)), icrc(CrcStatus::good),
                       icrc(CrcStatus::bad), icrc(CrcStatus::not_checkable), grouped(census.bytes), length, printable(input.name()));
}

// The reports of all inputs in the format asked for.
class Reports {
public:
    Reports(const Options& options, Output& output)
        : format_(options.format),
          several_(options.files.size() > 1),
          brief_(several_ && !options.long_report),
          output_(output),
          document_(options.format, text_, options.format == OutputFormat::ndjson ? JsonLayout::compact : JsonLayout::indented) {
        if (has_rows(format_)) output_.write(fmt::format("key{}value\n", separator(format_)));
        if (!in_one()) return;
        document_.open();
        document_.add("schema", kSchema);
        document_.open_list("captures");
    }

    void add(const Input& input, const Census& census) {
        if (format_ == OutputFormat::table) {
            if (brief_ && !headed_) append_brief_heading(text_);
            headed_ = true;
            brief_ ? append_brief(text_, input, census) : append_table(text_, input, census);
        } else {
            add_input(document_, input, census);
            if (!has_rows(format_) && !in_one()) text_ += '\n';
        }
        write_out();
    }

    void end() {
        if (!in_one()) return;
        document_.close_list();
        document_.close();
        text_ += '\n';
        write_out();
    }

private:
    // All captures are one document.
    [[nodiscard]] bool in_one() const { return format_ == OutputFormat::json && several_; }
    void write_out() {
        output_.write(text_);
        output_.flush();
        text_.clear();
    }

    OutputFormat format_;
    bool several_;
    bool brief_;
    bool headed_ = false;
    Output& output_;
    std::string text_;  // not written yet
    Document document_;
};

}  // namespace

ExitCode run_info(const Options& options) {
    const auto filter = compile_filter(options);
    if (!filter) return ExitCode::usage;
    Output output(options);
    if (!output.ok()) return finish(output);
    std::optional<transport::Annotator> annotator;
    if (filter->needs_annotation())
        annotator.emplace(known_settings(options, filter->needs_ulp() ? LookAhead::all : LookAhead::none));
    else
        annotator = stream_annotator(options);
    Reports reports(options, output);
    const ExitCode code = for_each_input(options, [&](Input& input, Progress& progress) {
        const Jobs jobs = options.count != 0 ? Jobs{1} : jobs_for(options, input);  // a limit is exact in one thread
        std::vector<Census> parts(jobs.slots());
        Census census;
        const auto begin = [&](std::size_t slot) { parts[slot] = {}; };
        const auto full = [&](const Census& part) { return options.count != 0 && census.packets + part.packets >= options.count; };
        const auto each = [&](std::size_t slot, const Packet& packet) {
            if (!full(parts[slot])) count(parts[slot], packet);
        };
        const auto consume = [&](std::size_t slot) {
            add(census, parts[slot]);
            return !full({});
        };
        decode_all(input, progress, jobs, {*filter, {}, begin, each, consume, annotator ? &*annotator : nullptr});
        progress.clear();
        reports.add(input, census);
        return output.ok() ? ExitCode::done : ExitCode::output_failed;
    });
    reports.end();
    return worse(output.closed() ? ExitCode::done : code, finish(output));
}

}  // namespace qps::cli
