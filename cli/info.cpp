// `info`: what kind of file, how many packets of what, ICRC verdicts.
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/file_digest.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/wrapped.hpp>
#include <dissect/packet/census.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/report/census.hpp>
#include <transport-replay/report/document.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

std::string link_text(LinkType link) {
    const std::string_view known = name(link);
    return known.empty() ? fmt::format("link type {}", std::to_underlying(link)) : std::string(known);
}

// Whether packets of no interface can be decoded.
bool is_foreign(const Input& input) {
    if (input.file() == nullptr) return name(input.link()).empty();
    const auto& interfaces = input.file()->interfaces();
    return !interfaces.empty() &&
           std::ranges::all_of(interfaces, [](const Interface& each) { return name(each.link).empty(); });
}

// The link types of a capture; a file of many has the first few named.
std::string link_names(const Input& input) {
    constexpr std::size_t kNamed = 8;
    if (input.file() == nullptr) return link_text(input.link());
    std::set<LinkType> links;
    for (const Interface& interface : input.file()->interfaces()) links.insert(interface.link);
    std::vector<std::string> names;
    for (const LinkType link : links) {
        if (names.size() == kNamed) break;
        names.push_back(link_text(link));
    }
    if (links.size() > kNamed) names.push_back(fmt::format("and {} more", links.size() - kNamed));
    return fmt::format("{}", fmt::join(names, ", "));
}

std::uint64_t skipped_blocks(const Input& input) {
    return input.file() == nullptr ? 0 : input.file()->skipped_blocks().total();
}

void add_counts(Document& document, std::string_view name, const NamedCounts& counts) {
    document.open(name);
    for (const NamedCount& one : counts) document.add(one.name, one.count);
    document.close();
}

// The resolution of timestamps as people say it: "1 us", "1 ns"; of others as a power.
std::string resolution_text(std::uint8_t resolution) {
    constexpr std::uint8_t kBinary = 0x80;
    constexpr std::array<std::string_view, 10> kDecimal{"1 s",   "100 ms", "10 ms",  "1 ms",  "100 us",
                                                        "10 us", "1 us",   "100 ns", "10 ns", "1 ns"};
    if (resolution < kDecimal.size()) return std::string(kDecimal[resolution]);
    return fmt::format("{}^-{} s", (resolution & kBinary) != 0 ? 2 : 10, resolution & ~kBinary);
}

std::span<const Interface> interfaces_of(const Input& input) {
    constexpr std::size_t kListed = 64;  // a file may describe any number
    const auto all = input.interfaces();
    return all.first(std::min(all.size(), kListed));
}

// Mean over the time from the earliest packet to the latest; 0 where there is none.
double mean_per_second(const Census& census, std::uint64_t count) {
    return census.time && census.time->first < census.time->last ? per_second(count, duration_of(census)) : 0;
}

constexpr std::uint64_t kBitsPerByte = 8;
constexpr std::uint64_t kHashedUnasked =
    std::uint64_t{64} << 20U;  // bytes; a tenth of a second. Larger files are counted faster than hashed
std::uint64_t rounded(double number) { return static_cast<std::uint64_t>(std::llround(number)); }

void add_interfaces(Document& document, const Input& input) {
    document.open_list("interfaces");
    for (const Interface& each : interfaces_of(input)) {
        document.open();
        document.add("name", each.name);
        document.add("link_type", link_text(each.link));
        if (each.speed != BitsPerSecond{}) document.add("bits_per_second", std::to_underlying(each.speed));
        document.add("snap_bytes", static_cast<std::uint64_t>(each.snap_length));
        document.add("resolution", resolution_text(each.resolution));
        document.close();
    }
    document.close_list();
}

// An object, the whole of it.
void add_input(Document& document, const Input& input, const Census& census, const std::string& digest) {
    document.open();
    document.add("schema", kSchema);
    document.add("file", input.name());
    document.add("format", input.file() != nullptr ? name(input.file()->format()) : "live");
    if (input.file() != nullptr) document.add("compression", name(input.file()->compression()));
    document.add("link_type", link_names(input));
    if (const auto size = input.size()) document.add("file_bytes", *size);
    if (!digest.empty()) document.add("sha256", digest);
    if (input.file() != nullptr) add_interfaces(document, input);
    document.add("packets", census.packets);
    document.add("bytes", census.bytes);
    document.add("captured_bytes", census.captured_bytes);
    document.add("cut_packets", census.cut);
    if (census.time) {
        document.add("first_time_ns", census.time->first);
        document.add("last_time_ns", census.time->last);
        document.add("duration_ns", std::to_underlying(duration_of(census)));
        document.add("backwards_timestamps", census.backwards);
        document.add("in_order", census.backwards == 0);
        if (const double packets = mean_per_second(census, census.packets); packets > 0) {
            document.add("mean_packets_per_second", rounded(packets));
            document.add("mean_bits_per_second", rounded(mean_per_second(census, census.bytes * kBitsPerByte)));
        }
    }
    if (census.without_time != 0) document.add("packets_without_time", census.without_time);
    if (const std::uint64_t skipped = skipped_blocks(input); skipped != 0) document.add("skipped_blocks", skipped);
    if (const Drops drops = input.drops(); drops.known)
        add_counts(document, "dropped", {{"interface", drops.dropped, 0}, {"system", drops.dropped_by_system, 0}});
    document.add("rdma_packets", rdma_packets(census));
    document.add("rdma_payload_bytes", census.payload_bytes);
    add_counts(document, "encapsulations", encapsulation_counts(census));
    add_counts(document, "icrc", verdict_counts(census.icrc));
    add_counts(document, "icrc_not_checkable", unchecked_counts(census));
    add_counts(document, "vcrc", verdict_counts(census.vcrc));
    document.add("congestion_experienced", census.congestion_experienced);
    NamedCounts opcodes = opcode_counts(census);
    std::ranges::move(rdmap_counts(census), std::back_inserter(opcodes));
    std::ranges::move(ultra_ethernet_counts(census), std::back_inserter(opcodes));
    add_counts(document, "opcodes", opcodes);
    if (census.iwarp != 0) add_counts(document, "fpdu_crc", verdict_counts(census.fpdu_crc));
    if (const std::uint64_t packets = ultra_ethernet_packets(census); packets != 0) {
        const auto& [undecided, good] = census.ultra_ethernet_crc;
        add_counts(document, "ultra_ethernet",
                   {{"packets", packets, 0}, {"crc_good", good, 0}, {"crc_undecided", undecided, 0}});
    }
    add_counts(document, "other", other_counts(census));
    add_counts(document, "faults", fault_counts(census));
    for (const InputProblem& problem : input.problems()) {
        document.open("problem");
        document.add("offset_bytes", problem.offset);
        document.add("sentence", problem.sentence);
        document.close();
    }
    document.close();
}

void append_row(std::string& out, std::string_view label, std::string_view text) {
    if (!text.empty()) append_wrapped(out, fmt::format("    {:<12}", label), 16, text, table_width());
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
    const auto length = static_cast<double>(std::to_underlying(duration_of(census))) / kNanosecondsPerSecond;
    append_row(out, "time", fmt::format("{}, {}", utc(census.time->first), human_time(length)));
    if (census.packets - census.without_time > 1)
        append_row(
            out, "",
            fmt::format("to {}, {}", utc(census.time->last),
                        census.backwards == 0 ? "in order"
                                              : counted(census.backwards, "packet") + " older than the one before"));
    if (const double packets = mean_per_second(census, census.packets); packets > 0)
        append_row(
            out, "rate",
            fmt::format("{}, {} packets/s on average", rate_text(mean_per_second(census, census.bytes * kBitsPerByte)),
                        packets < 10 ? fmt::format("{:.1f}", packets) : grouped(rounded(packets))));
}

// The interfaces are worth a table if the file names them, bounds their packets, or has several.
void append_interfaces(std::string& out, const Input& input) {
    if (input.file() == nullptr) return;
    std::string_view label = interfaces_of(input).size() == 1 ? "interface" : "interfaces";
    for (const Interface& each : interfaces_of(input)) {
        std::string text = each.name.empty() ? link_text(each.link)
                                             : fmt::format("{}, {}", printable(each.name), link_text(each.link));
        if (each.speed != BitsPerSecond{})
            text += fmt::format(", {}", rate_text(static_cast<double>(std::to_underlying(each.speed))));
        text += fmt::format(", times to {}", resolution_text(each.resolution));
        if (each.snap_length != 0) text += fmt::format(", at most {} bytes of a packet", grouped(each.snap_length));
        append_row(out, label, text);
        label = "";
    }
    const std::size_t listed = interfaces_of(input).size();
    if (const std::size_t all = input.interfaces().size(); all > listed)
        append_row(out, "", fmt::format("and {} more", grouped(all - listed)));
}

// Opcodes of one kind, with their share of all there are.
void append_opcodes(std::string& out, const NamedCounts& counts, std::uint64_t all) {
    constexpr double kPercent = 100;
    std::string_view label = "opcodes";
    for (const NamedCount& opcode : counts) {
        append_row(out, label,
                   fmt::format("{:<36}{:>12} {:>6.1f} %", opcode.name, grouped(opcode.count),
                               kPercent * static_cast<double>(opcode.count) / static_cast<double>(all)));
        label = "";
    }
}

// `unasked`: the file is large, and nobody asked for its digest.
void append_table(std::string& out, const Input& input, const Census& census, const std::string& digest, bool unasked) {
    out += printable(input.name()) + "\n";
    append_row(out, "format", format_text(input));
    append_row(out, "SHA-256", unasked ? "of a large file with --hash" : digest);
    append_interfaces(out, input);
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
                   fmt::format("{} by the interface, {} by the system", grouped(drops.dropped),
                               grouped(drops.dropped_by_system)));
    if (rdma_packets(census) != 0) {
        append_row(out, "RDMA",
                   fmt::format("{}; {} bytes of payload", list_of(encapsulation_counts(census)),
                               grouped(census.payload_bytes)));
        if (infiniband_packets(census) != 0) append_row(out, "ICRC", crc_text(census.icrc, unchecked_counts(census)));
        const bool checked = std::ranges::any_of(census.fpdu_crc, [](std::uint64_t count) { return count != 0; });
        if (census.iwarp != 0) append_row(out, "MPA CRC", checked ? crc_text(census.fpdu_crc) : "not in use");
        if (census.vcrc[0] != census.packets) append_row(out, "VCRC", crc_text(census.vcrc));
        if (census.congestion_experienced != 0)
            append_row(out, "ECN",
                       fmt::format("{}", transport::counted(census.congestion_experienced, "CE-marked packet")));
    } else if (census.packets != 0) {
        append_row(out, "RDMA",
                   is_foreign(input) ? "not decoded: packets of that link type are not read"
                                     : "none: no RoCE, InfiniBand or iWARP packet");
    }
    if (ultra_ethernet_packets(census) != 0) append_row(out, "UET", ultra_ethernet_text(census));
    append_row(out, "other", list_of(other_counts(census)));
    append_row(out, "faults", list_of(fault_counts(census)));
    append_opcodes(out, opcode_counts(census), infiniband_packets(census));
    append_opcodes(out, rdmap_counts(census),
                   std::accumulate(census.rdmap.begin(), census.rdmap.end(), std::uint64_t{0}));
    append_opcodes(out, ultra_ethernet_counts(census), ultra_ethernet_packets(census));
}

constexpr std::string_view kBriefLayout = "{:>12} {:>12} {:>12} {:>8} {:>12} {:>16} {:>10}  {}\n";

void append_brief_heading(std::string& out) {
    out += fmt::format(fmt::runtime(kBriefLayout), "packets", "RDMA", "ICRC good", "bad", "unchecked", "bytes", "time",
                       "capture");
}

// One capture in a line, where there are several.
void append_brief(std::string& out, const Input& input, const Census& census) {
    const auto icrc = [&](CrcStatus status) { return grouped(census.icrc[std::to_underlying(status)]); };
    const std::string length =
        human_time(static_cast<double>(std::to_underlying(duration_of(census))) / kNanosecondsPerSecond);
    out += fmt::format(fmt::runtime(kBriefLayout), grouped(census.packets), grouped(rdma_packets(census)),
                       icrc(CrcStatus::good), icrc(CrcStatus::bad), icrc(CrcStatus::not_checkable),
                       grouped(census.bytes), length, printable(input.name()));
}

struct InfoOptions {
    ReadingOptions reading;
    OutputOptions output;
    bool long_report = false;  // of each of several captures
    bool hash = false;         // the SHA-256 of files of any size

    void add(OptionTable& table) {
        reading.add_captures(table, output);
        table.flag("-l,--long", long_report, "Print the full report for each of several captures");
        table.flag("--hash", hash, "Compute the SHA-256 of the file also where it has more than 64 MiB");
        output.add_format(table);
        output.add_path(table);
        reading.input.add_sandbox(table);
    }
};

// The reports of all inputs in the format asked for.
class Reports {
public:
    Reports(const InfoOptions& options, Output& output)
        : format_(options.output.format),
          several_(options.reading.input.files.size() > 1),
          brief_(several_ && !options.long_report),
          output_(output),
          document_(format_, text_, format_ == OutputFormat::ndjson ? JsonLayout::compact : JsonLayout::indented) {
        if (has_rows(format_)) output_.write(fmt::format("key{}value\n", separator(format_)));
        if (!in_one()) return;
        document_.open();
        document_.add("schema", kSchema);
        document_.open_list("captures");
    }

    // Whether the digest of a file is shown.
    [[nodiscard]] bool has_digests() const { return !brief_ || format_ != OutputFormat::table; }

    void add(const Input& input, const Census& census, const std::string& digest, bool unasked) {
        if (format_ == OutputFormat::table) {
            if (brief_ && !headed_) append_brief_heading(text_);
            headed_ = true;
            brief_ ? append_brief(text_, input, census) : append_table(text_, input, census, digest, unasked);
        } else {
            add_input(document_, input, census, digest);
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

ExitCode run_info(const InfoOptions& options) {
    InputOptions inputs = options.reading.input;
    inputs.in_order = true;  // a row for each, where the user looks for it
    const auto filter = compile_filter(options.reading.filter);
    if (!filter) return ExitCode::usage;
    Output output(options.output.path, inputs.files);
    if (!output.ok()) return finish(output);
    std::optional<transport::Annotator> annotator;
    if (filter->needs_annotation())
        annotator.emplace(known_settings(inputs, options.reading.analysis, look_ahead_for(*filter)));
    else annotator = stream_annotator(inputs);
    Reports reports(options, output);
    bool opened = false;
    const ExitCode code = for_each_input(inputs, [&](Input& input, Progress& progress) {
        opened = true;
        std::future<std::string> digest;
        const bool small = input.size().value_or(0) <= kHashedUnasked;
        if (input.file() != nullptr && (options.hash || (small && reports.has_digests())))
            digest = sha256_of(inputs, input.name());
        const Jobs jobs = inputs.count != 0 ? Jobs{1} : jobs_for(inputs, input);  // a limit is exact in one thread
        std::vector<Census> parts(jobs.slots());
        Census census;
        const auto begin = [&](std::size_t slot) { parts[slot] = {}; };
        const auto full = [&](const Census& part) {
            return inputs.count != 0 && census.packets + part.packets >= inputs.count;
        };
        const auto each = [&](std::size_t slot, const Packet& packet) {
            if (!full(parts[slot])) count(parts[slot], packet);
        };
        const auto consume = [&](std::size_t slot) {
            add(census, parts[slot]);
            return !full({});
        };
        decode_all(input, progress, jobs, {*filter, {}, begin, each, consume, annotator ? &*annotator : nullptr});
        const std::string hash = digest.valid() ? digest.get() : "";
        progress.clear();
        reports.add(input, census, hash, !small && !options.hash);
        return output.ok() ? ExitCode::done : ExitCode::output_failed;
    });
    reports.end();
    return worse(output.closed() ? ExitCode::done : code, finish(output, opened));
}

}  // namespace

const Command kInfoCommand{
    "info", kLookAt, "Print the format, packet counts and ICRC verdicts of captures",
    "  qpscope info trace.pcapng\n  qpscope info -f json *.pcap\n  tcpdump -w - | qpscope info -",
    prepared<InfoOptions, run_info>};

}  // namespace qps::cli
