// `show`: chosen packets in full, as a field tree with their bytes, or as JSON.
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/filter_sets.hpp>
#include <cli/json_rows.hpp>
#include <cli/message.hpp>
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

std::optional<std::vector<FrameRange>> frame_ranges(const Options& options) {
    std::vector<FrameRange> ranges;
    for (const std::string& text : options.frames) {
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

void append_packet(std::string& out, const Options& options, const Packet& packet) {
    if (options.format == OutputFormat::json || options.format == OutputFormat::ndjson) {
        append_json(out, packet);
        return;
    }
    append_tree(out, packet);
    if (!options.no_bytes) append_hex_dump(out, packet.frame.bytes);
    out += '\n';
}

// The first file that is not there: the frames that were asked for may be in it, so none of the others is shown.
std::optional<std::string> missing_file(const Options& options) {
    for (const std::string& file : options.files) {
        std::error_code error;
        if (file != "-" && !std::filesystem::exists(file, error)) return file;
    }
    return std::nullopt;
}

}  // namespace

ExitCode run_show(const Options& options) {
    if (has_rows(options.format)) {
        say("qpscope: show prints no rows: use -f table, json or ndjson, or qpscope packets -e FIELD\n");
        return ExitCode::usage;
    }
    const auto compiled = compile_filter(options, FilterSets::with_fields);
    const auto ranges = frame_ranges(options);
    if (!compiled || !ranges) return ExitCode::usage;
    if (const auto missing = missing_file(options)) {
        say("qpscope: {}: No such file or directory\n", *missing);
        return ExitCode::unreadable;
    }
    const std::uint64_t last = last_wanted(*ranges);
    Output output(options);
    if (!output.ok()) return finish(output);
    const auto whole = with_whole_capture(options, *compiled, output, options.messages);
    if (!whole) return whole.error();
    const Filter& filter = whole->filter;
    std::optional<transport::Annotator> annotator;
    KnownBefore known = known_before(options, filter.needs_ulp() ? LookAhead::all : LookAhead::beginning);
    if (filter.needs_annotation() || known.any || options.messages)
        annotator.emplace(transport::AnalysisSettings{.hints = std::move(known.hints),
                                                      .icrc = options.icrc,
                                                      .traits = std::move(known.traits),
                                                      .memory = options.memory});
    else annotator = stream_annotator(options);
    if (whole->messages) annotator->know(whole->messages);
    const bool read_all = annotator && options.files.size() > 1;  // the next piece goes on where this one ends
    const bool json = options.format == OutputFormat::json;
    if (json) output.write(json_rows_begin("packets"));
    std::uint64_t shown = 0;
    std::uint64_t frames = 0;  // read so far
    Input::SoFar before;
    bool opened = false;
    const ExitCode code = for_each_input(options, [&](Input& input, Progress& progress) {
        opened = true;
        input.go_on_from(before);
        std::string text;
        bool more = true;   // packets are still wanted
        bool past = false;  // all frames that are wanted were read
        const auto each = [&](std::size_t, const Packet& packet) {
            if (!more || !wanted(*ranges, packet.frame.index)) return;
            if (json && shown > 0) text += ",\n";
            append_packet(text, options, packet);
            if (options.format == OutputFormat::ndjson) text += '\n';
            ++shown;
            if (options.count != 0 && shown >= options.count) more = false;
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
    if (shown == 0 && code == ExitCode::done && !options.quiet) say("qpscope: no packet of {} matches\n", frames);
    return worse(output.closed() ? ExitCode::done : code,
                 finish(output, opened && !(code == ExitCode::damaged && shown == 0)));
}

}  // namespace qps::cli
