// `info`: what kind of file, how many packets of what, ICRC verdicts.
#include <dissect/census.hpp>
#include <dissect/headers/derived.hpp>
#include <dissect/render_value.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "command.hpp"
#include "decoding.hpp"
#include "decoding_as.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace qps::cli {

using namespace dissect;
using namespace transport;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kSchema = 1;

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

// Counts that are not zero, by the names of their rows.
template <std::size_t N, class Name>
Json counts(const std::array<std::uint64_t, N>& numbers, Name name, std::size_t from = 0) {
    Json object = Json::object();
    for (std::size_t i = from; i < N; ++i)
        if (numbers[i] != 0) object[std::string(name(i))] = numbers[i];
    return object;
}

std::string opcode_name(std::size_t code) {
    const OpcodeRow& row = kOpcodes[code];
    return row.defined ? std::string(row.name()) : fmt::format("{}_0x{:02X}", row.name(), code);
}

Json verdicts(const std::array<std::uint64_t, 4>& numbers) {
    Json object = Json::object();
    for (const CrcStatus status : {CrcStatus::good, CrcStatus::bad, CrcStatus::not_checkable}) {
        const auto i = std::to_underlying(status);
        object[std::string(kCrcStatusNames[i].name)] = numbers[i];
    }
    return object;
}

std::int64_t duration_ns(const Census& census) {
    return census.time ? std::to_underlying(census.time->last) - std::to_underlying(census.time->first) : 0;
}

std::uint64_t rdma_packets(const Census& census) { return census.packets - census.encapsulations[0]; }

Json document(const Input& input, const Census& census) {
    Json json;
    json["schema"] = kSchema;
    json["file"] = input.name();
    if (const CaptureFile* file = input.file()) {
        json["format"] = name(file->format());
        json["compression"] = name(file->compression());
    } else {
        json["format"] = "live";
    }
    json["link_type"] = link_names(input);
    json["packets"] = census.packets;
    json["bytes"] = census.bytes;
    json["captured_bytes"] = census.captured_bytes;
    json["cut_packets"] = census.cut;
    if (census.time) {
        json["first_time_ns"] = std::to_underlying(census.time->first);
        json["last_time_ns"] = std::to_underlying(census.time->last);
        json["duration_ns"] = duration_ns(census);
        json["backwards_timestamps"] = census.backwards;
    }
    if (census.without_time != 0) json["packets_without_time"] = census.without_time;
    if (input.file() != nullptr && input.file()->skipped_blocks().total() != 0)
        json["skipped_blocks"] = input.file()->skipped_blocks().total();
    if (const CaptureFile* file = input.file(); file != nullptr && file->drops().known) {
        const Drops drops = file->drops();
        json["dropped"] = {{"interface", drops.dropped}, {"system", drops.dropped_by_system}};
    } else if (file == nullptr) {
        json["dropped"] = {{"interface", 0}, {"system", input.lost()}};
    }
    json["rdma_packets"] = rdma_packets(census);
    json["rdma_payload_bytes"] = census.payload_bytes;
    json["encapsulations"] = counts(census.encapsulations, [](std::size_t i) { return kEncapsulationNames[i].name; }, 1);
    json["icrc"] = verdicts(census.icrc);
    json["icrc_not_checkable"] = counts(census.icrc_reasons, [](std::size_t i) { return kCrcReasonNames[i].name; });
    json["vcrc"] = verdicts(census.vcrc);
    json["congestion_experienced"] = census.congestion_experienced;
    json["opcodes"] = counts(census.opcodes, opcode_name);
    json["other"] = counts(census.innermost, [](std::size_t i) { return header(static_cast<LayerKind>(i)).name; });
    json["faults"] = counts(census.faults, [](std::size_t i) { return kFaults[i].name; }, 1);
    if (const InputProblem& problem = input.problem(); problem.kind != InputProblemKind::none)
        json["problem"] = {{"offset_bytes", problem.offset}, {"sentence", problem.sentence}};
    return json;
}

void append_row(std::string& out, std::string_view label, std::string_view text) {
    if (!text.empty()) out += fmt::format("    {:<12}{}\n", label, text);
}

std::string list_of(const Json& object) {
    std::vector<std::string> parts;
    for (const auto& [key, value] : object.items()) parts.push_back(fmt::format("{} {}", grouped(value.get<std::uint64_t>()), key));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string crc_text(const Json& verdict, const Json& reasons) {
    std::string text = fmt::format("{} good, {} bad, {} not checkable", grouped(verdict["good"].get<std::uint64_t>()),
                                   grouped(verdict["bad"].get<std::uint64_t>()), grouped(verdict["not_checkable"].get<std::uint64_t>()));
    if (!reasons.empty()) text += fmt::format(" ({})", list_of(reasons));
    return text;
}

void append_times(std::string& out, const Census& census) {
    if (!census.time) return;
    const auto length = static_cast<double>(duration_ns(census)) / kNanosecondsPerSecond;
    append_row(out, "time", fmt::format("{}, {}", utc(census.time->first), human_time(length)));
    if (census.backwards != 0) append_row(out, "", fmt::format("{} older than the one before", transport::counted(census.backwards, "packet")));
}

void append_opcodes(std::string& out, const Census& census) {
    constexpr double kPercent = 100;
    const std::uint64_t all = std::max<std::uint64_t>(1, rdma_packets(census));
    std::string_view label = "opcodes";
    for (std::size_t code = 0; code < census.opcodes.size(); ++code) {
        if (census.opcodes[code] == 0) continue;
        append_row(out, label,
                   fmt::format("{:<36}{:>12} {:>6.1f} %", opcode_name(code), grouped(census.opcodes[code]),
                               kPercent * static_cast<double>(census.opcodes[code]) / static_cast<double>(all)));
        label = "";
    }
}

void append_table(std::string& out, const Input& input, const Census& census) {
    const Json json = document(input, census);
    out += fmt::format("{}\n", input.name());
    std::string format = json["format"].get<std::string>();
    if (json.contains("compression") && json["compression"] != "none")
        format += fmt::format(" in {}", json["compression"].get<std::string>());
    if (const auto links = json["link_type"].get<std::string>(); !links.empty()) format += fmt::format(", {}", links);
    append_row(out, "format", format);
    append_row(out, "packets",
               fmt::format("{}, {} bytes on the wire{}", grouped(census.packets), grouped(census.bytes),
                           census.cut == 0 ? "" : fmt::format("; {} truncated by the capture", grouped(census.cut))));
    append_times(out, census);
    if (census.without_time != 0) append_row(out, "", fmt::format("{} without a timestamp", transport::counted(census.without_time, "packet")));
    if (json.contains("skipped_blocks"))
        append_row(out, "skipped", fmt::format("{} without packets", transport::counted(json["skipped_blocks"].get<std::uint64_t>(), "block")));
    if (json.contains("dropped") && (json["dropped"]["interface"] != 0 || json["dropped"]["system"] != 0))
        append_row(out, "dropped",
                   fmt::format("{} by the interface, {} by the system", grouped(json["dropped"]["interface"].get<std::uint64_t>()),
                               grouped(json["dropped"]["system"].get<std::uint64_t>())));
    if (rdma_packets(census) != 0) {
        append_row(out, "RDMA", fmt::format("{}; {} bytes of payload", list_of(json["encapsulations"]), grouped(census.payload_bytes)));
        append_row(out, "ICRC", crc_text(json["icrc"], json["icrc_not_checkable"]));
        if (census.vcrc[0] != census.packets) append_row(out, "VCRC", crc_text(json["vcrc"], Json::object()));
        if (census.congestion_experienced != 0)
            append_row(out, "ECN", fmt::format("{}", transport::counted(census.congestion_experienced, "CE-marked packet")));
    } else if (census.packets != 0) {
        append_row(out, "RDMA", "none: no RoCE or InfiniBand packet");
    }
    append_row(out, "other", list_of(json["other"]));
    append_row(out, "faults", list_of(json["faults"]));
    append_opcodes(out, census);
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
                       icrc(CrcStatus::bad), icrc(CrcStatus::not_checkable), grouped(census.bytes), length, input.name());
}

// Nested objects become keys with dots.
void append_flat(std::string& out, OutputFormat format, const std::string& prefix, const Json& json) {
    for (const auto& [key, value] : json.items()) {
        const std::string path = prefix.empty() ? key : prefix + "." + key;
        if (value.is_object()) {
            append_flat(out, format, path, value);
            continue;
        }
        append_cell(out, format, path);
        out += separator(format);
        append_cell(out, format, value.is_string() ? value.get<std::string>() : value.dump());
        out += '\n';
    }
}

// The reports of all inputs in the format asked for.
class Reports {
public:
    Reports(const Options& options, Output& output)
        : format_(options.format), several_(options.files.size() > 1), brief_(several_ && !options.long_report), output_(output) {
        if (has_rows(format_)) output_.write(fmt::format("key{}value\n", separator(format_)));
    }

    void add(const Input& input, const Census& census) {
        std::string out;
        switch (format_) {
            case OutputFormat::table:
                if (brief_ && !headed_) append_brief_heading(out);
                headed_ = true;
                brief_ ? append_brief(out, input, census) : append_table(out, input, census);
                break;
            case OutputFormat::ndjson: out = dump(document(input, census), -1) + "\n"; break;
            case OutputFormat::json:
                if (several_) documents_.push_back(document(input, census));
                else out = dump(document(input, census), kIndent) + "\n";
                break;
            case OutputFormat::csv:
            case OutputFormat::tsv: append_flat(out, format_, {}, document(input, census)); break;
        }
        output_.write(out);
        output_.flush();
    }

    void end() {
        if (format_ == OutputFormat::json && several_)
            output_.write(dump(Json{{"schema", kSchema}, {"captures", documents_}}, kIndent) + "\n");
    }

private:
    static constexpr int kIndent = 2;
    static std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

    OutputFormat format_;
    bool several_;
    bool brief_;
    bool headed_ = false;
    Output& output_;
    Json documents_ = Json::array();
};

}  // namespace

ExitCode run_info(const Options& options) {
    const auto filter = compile_filter(options);
    if (!filter) return ExitCode::usage;
    std::optional<transport::Annotator> annotator;
    if (filter->needs_annotation())
        annotator.emplace(known_before(options, filter->needs_ulp() ? LookAhead::all : LookAhead::none).hints);
    Output output(options);
    if (!output.ok()) return finish(output);
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
