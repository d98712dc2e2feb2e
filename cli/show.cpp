// `show`: chosen packets in full, as a field tree with their bytes, or as JSON.
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/filter_sets.hpp>
#include <cli/json_rows.hpp>
#include <cli/message.hpp>
#include <cli/options/reading_options.hpp>
#include <dissect/base/parse_value.hpp>
#include <dissect/packet/render.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;

namespace {

struct ShowOptions {
    ListingOptions listing;
    std::vector<std::string> frames;  // 3, 5-8
    bool no_bytes = false;            // without the hex dump
    bool messages = false;            // with the message of each packet, which takes a second reading

    void add(OptionTable& table) {
        table.check([this] { return take_frames(), std::string(); });
        listing.reading.add_captures(table, listing.output);
        listing.reading.add_known(table);
        table.under(headings::kFilter).add("-n,--frames", "N", frames, "Show these frames: 7, 3-9, 3-").each_of_list();
        table.under(headings::kOutput).flag("--no-bytes", no_bytes, "Omit the hex dump");
        table.flag("--messages", messages,
                   "Read the files twice and show the message of each packet, with all its frames");
        listing.output.add_format(table);
        listing.end(table);
    }

private:
    // `show 10 FILE`: a number that is no file is that of a frame.
    void take_frames() {
        const auto is_frames = [](const std::string& word) {
            std::error_code error;
            return dissect::parse_decimal(word.substr(0, word.find_first_of("-,"))) &&
                   word.find_first_not_of("0123456789-,") == std::string::npos && !std::filesystem::exists(word, error);
        };
        std::vector<std::string>& files = listing.reading.input.files;
        const auto word = std::ranges::find_if(files, is_frames);
        if (!frames.empty() || word == files.end()) return;
        for (std::size_t at = 0; at <= word->size();) {
            const std::size_t end = std::min(word->find(',', at), word->size());
            frames.push_back(word->substr(at, end - at));
            at = end + 1;
        }
        files.erase(word);
    }
};

struct FrameRange {
    std::uint64_t first;
    std::uint64_t last;
};

std::optional<std::uint64_t> frame_number(std::string_view text) {
    const auto number = dissect::parse_decimal(text);
    return number == 0 ? std::nullopt : number;
}

// "7", "3-9", "3-": a frame number or a range of them.
std::optional<FrameRange> frame_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = frame_number(text.substr(0, dash));
    if (!first) return std::nullopt;
    if (dash == std::string_view::npos) return FrameRange{*first, *first};
    if (dash + 1 == text.size()) return FrameRange{*first, std::numeric_limits<std::uint64_t>::max()};
    const auto last = frame_number(text.substr(dash + 1));
    if (!last || *last < *first) return std::nullopt;
    return FrameRange{*first, *last};
}

std::optional<std::vector<FrameRange>> frame_ranges(const std::vector<std::string>& frames) {
    std::vector<FrameRange> ranges;
    for (const std::string& text : frames) {
        const auto range = frame_range(text);
        if (!range) {
            say("qpscope: invalid frame number '{}': expected 7, 3-9 or 3- (frames count from 1)\n", text);
            return std::nullopt;
        }
        ranges.push_back(*range);
    }
    return ranges;
}

bool wanted(const std::vector<FrameRange>& ranges, FrameIndex index) {
    const auto number = std::to_underlying(index);
    return ranges.empty() || std::ranges::any_of(ranges, [&](const FrameRange& range) {
               return range.first <= number && number <= range.last;
           });
}

// Nothing beyond this frame is wanted.
std::uint64_t last_wanted(const std::vector<FrameRange>& ranges) {
    std::uint64_t last = ranges.empty() ? std::numeric_limits<std::uint64_t>::max() : 0;
    for (const FrameRange& range : ranges) last = std::max(last, range.last);
    return last;
}

void append_packet(std::string& out, const ShowOptions& options, const Packet& packet) {
    const OutputFormat format = options.listing.output.format;
    if (format == OutputFormat::json || format == OutputFormat::ndjson) {
        append_json(out, packet);
        return;
    }
    append_tree(out, packet);
    if (!options.no_bytes) append_hex_dump(out, packet.frame.bytes);
    out += '\n';
}

// The first file that is not there: the frames that were asked for may be in it, so none of the others is shown.
std::optional<std::string> missing_file(const InputOptions& input) {
    for (const std::string& file : input.files) {
        std::error_code error;
        if (file != "-" && !std::filesystem::exists(file, error)) return file;
    }
    return std::nullopt;
}

ExitCode run_show(const ShowOptions& options) {
    const auto& [reading, printed] = options.listing;
    if (has_rows(printed.format)) {
        say("qpscope: show prints no rows: use -f table, json or ndjson, or qpscope packets -e FIELD\n");
        return ExitCode::usage;
    }
    const auto compiled = compile_filter(reading.filter, FilterSets::with_fields);
    const auto ranges = frame_ranges(options.frames);
    if (!compiled || !ranges) return ExitCode::usage;
    if (const auto missing = missing_file(reading.input)) {
        say("qpscope: {}: No such file or directory\n", *missing);
        return ExitCode::unreadable;
    }
    const std::uint64_t last = last_wanted(*ranges);
    Output output(printed.path, reading.input.files);
    if (!output.ok()) return finish(output);
    const auto whole = with_whole_capture(reading, *compiled, output, options.messages);
    if (!whole) return whole.error();
    const Filter& filter = whole->filter;
    std::optional<transport::Annotator> annotator;
    const LookAhead look_ahead = filter.needs_look_ahead() ? LookAhead::all : LookAhead::beginning;
    KnownBefore known = known_before(reading.input, reading.analysis, look_ahead, FrameIndex{last});
    const bool annotated = filter.needs_annotation() || known.any || options.messages;
    // Which connection a packet is of is shown then. Where flows up to there are not paired yet, only the whole tells.
    if (annotated && !known.numbered) known = known_before(reading.input, reading.analysis, LookAhead::all);
    if (annotated) annotator.emplace(settings_of(std::move(known), reading.analysis));
    else annotator = stream_annotator(reading.input);
    if (whole->messages) annotator->know(whole->messages);
    const bool read_all = annotator && reading.input.files.size() > 1;  // the next piece goes on where this one ends
    const bool json = printed.format == OutputFormat::json;
    if (json) output.write(json_rows_begin("packets"));
    std::uint64_t shown = 0;
    std::uint64_t frames = 0;  // read so far
    Input::SoFar before;
    bool opened = false;
    const ExitCode code = for_each_input(reading.input, [&](Input& input, Progress& progress) {
        opened = true;
        input.go_on_from(before);
        std::string text;
        bool more = true;   // packets are still wanted
        bool past = false;  // all frames that are wanted were read
        const auto each = [&](std::size_t, const Packet& packet) {
            if (!more || !wanted(*ranges, packet.frame.index)) return;
            if (json && shown > 0) text += ",\n";
            append_packet(text, options, packet);
            if (printed.format == OutputFormat::ndjson) text += '\n';
            ++shown;
            if (reading.input.count != 0 && shown >= reading.input.count) more = false;
        };
        // One thread: showing is for few packets, and the order of `shown` counts.
        const auto seen = [&](const Batch& batch) {
            frames = std::to_underlying(batch.frames.back().index);
            past = frames >= last;
        };
        decode_all(input, progress, {1},
                   {filter,
                    seen,
                    [&](std::size_t) { text.clear(); },
                    each,
                    [&](std::size_t) {
                        if (!text.empty()) progress.clear();
                        output.write(text);
                        if (input.live()) output.flush();
                        return more && (!past || read_all) && output.ok();
                    },
                    annotator ? &*annotator : nullptr,
                    {},
                    {},
                    0,
                    false});
        before = input.so_far();
        return output.ok() ? ExitCode::done : ExitCode::output_failed;
    });
    if (json) output.write("\n" + std::string(kJsonRowsEnd));
    if (shown == 0 && code == ExitCode::done) remark("qpscope: no packet of {} matches\n", frames);
    return worse(output.closed() ? ExitCode::done : code,
                 finish(output, opened && !(code == ExitCode::damaged && shown == 0)));
}

}  // namespace

const Command kShowCommand{
    "show", kLookAt, "Print the field tree and bytes of selected packets",
    "  qpscope show 17 trace.pcap\n  qpscope show -n 3-5 -f json trace.pcap\n  qpscope show -Y 'rdma.icrc.status == bad' trace.pcap",
    prepared<ShowOptions, run_show>};

}  // namespace qps::cli
