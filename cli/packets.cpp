// `packets`: one line a packet; or, with -w, the packets themselves.
#include <cli/columns.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/filter_sets.hpp>
#include <cli/json_rows.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/packet_copies.hpp>
#include <cli/tone.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;

namespace {

struct PacketsOptions {
    ListingOptions listing;
    std::vector<std::string> columns;
    std::string capture;  // they are written to this capture file instead of printed

    void add(OptionTable& table) {
        listing.reading.add_captures(table, listing.output);
        listing.reading.add_known(table);
        table.under(headings::kOutput)
            .add("-e,--column", "FIELD", columns,
                 "Print this column: a field (see qpscope fields), source, destination, protocol or line")
            .each();
        listing.output.add_format(table);
        listing.output.add_path(table);
        add_saved(table, "-w,--write", capture).not_with("--output --column --format");
        listing.reading.input.add_sandbox(table);
    }
};

// What a batch became: rows, and where each ends, so that a limit can cut between them.
struct Rendered {
    std::string text;
    std::vector<std::size_t> ends;
};

class PacketRows {
public:
    PacketRows(const ListingOptions& options, std::vector<OutputColumn> columns, Output& output)
        : format_(options.output.format),
          most_(options.reading.input.count),
          columns_(std::move(columns)),
          output_(output),
          color_(format_ == OutputFormat::table && wants_color(options.output.color, output)) {
        if (format_ == OutputFormat::json) output_.write(json_rows_begin("packets"));
    }

    void end() {
        if (format_ == OutputFormat::json) output_.write(kJsonRowsEnd);
    }

    [[nodiscard]] bool none() const { return written_ == 0; }
    [[nodiscard]] bool full() const { return most_ != 0 && written_ >= most_; }

    void render(Rendered& rendered, const Packet& packet) const {
        const std::string_view start = color_ ? tone(packet) : std::string_view{};
        rendered.text += start;
        append_row(rendered.text, format_, columns_, packet);
        if (!start.empty()) rendered.text.insert(rendered.text.size() - 1, kToneEnd);
        rendered.ends.push_back(rendered.text.size());
    }

    // Rows in order, up to the limit.
    bool write(const Rendered& rendered, bool at_once) {
        if (!rendered.ends.empty()) write_heading();
        std::size_t begin = 0;
        if (format_ != OutputFormat::json && (most_ == 0 || written_ + rendered.ends.size() <= most_)) {
            output_.write(rendered.text);
            written_ += rendered.ends.size();
        } else {
            for (const std::size_t end : rendered.ends) {
                if (full()) break;
                if (format_ == OutputFormat::json && written_ > 0) output_.write(kJsonRowsBetween);
                output_.write(std::string_view(rendered.text).substr(begin, end - begin));
                begin = end;
                ++written_;
            }
        }
        if (at_once) output_.flush();
        return !full() && output_.ok();
    }

    void write_heading() {
        if (headed_) return;
        headed_ = true;
        std::string heading;
        append_heading(heading, format_, columns_);
        output_.write(heading);
    }

    // The widths of a table come from the first packets; it is decided before any thread renders.
    void fit_to(const Batch& batch) {
        if (fitted_ || format_ != OutputFormat::table) return;
        fitted_ = true;
        constexpr std::size_t kSample = 200;
        Packet packet;
        for (std::size_t i = 0; i < std::min(kSample, batch.frames.size()); ++i) {
            decode(batch.frames[i], packet);
            fit(columns_, packet);
        }
    }

private:
    OutputFormat format_;
    std::uint64_t most_;  // 0: all
    std::vector<OutputColumn> columns_;
    Output& output_;
    bool color_;
    bool headed_ = false;
    bool fitted_ = false;
    std::uint64_t written_ = 0;
};

ExitCode copy_packets(const PacketsOptions& options, const Filter& compiled, bool annotated, LookAhead look_ahead) {
    const ReadingOptions& reading = options.listing.reading;
    auto file = open_capture(options.capture, reading.input.files);
    if (!file) return file.error();
    const Output nothing_printed("");
    const auto known = with_whole_capture(reading, compiled, nothing_printed, false);
    if (!known) return known.error();
    std::optional<transport::Annotator> annotator;
    if (annotated) annotator.emplace(known_settings(reading.input, reading.analysis, look_ahead)).know(known->messages);
    PacketCopies copies(*file, reading.input);
    bool opened = false;
    Input::SoFar before;
    const ExitCode code = for_each_input(reading.input, [&](Input& input, Progress& progress) {
        opened = true;
        if (copies.full()) return ExitCode::done;
        input.go_on_from(before);
        copies.next_input();
        const Jobs jobs = jobs_for(reading.input, input);
        std::vector<std::vector<Frame>> chosen(
            jobs.slots());  // borrowed from batches, which stay until they are consumed
        decode_all(input, progress, jobs,
                   {known->filter, [&](const Batch&) { copies.describe(input); },
                    [&](std::size_t slot) { chosen[slot].clear(); },
                    [&](std::size_t slot, const Packet& packet) { chosen[slot].push_back(packet.frame); },
                    [&](std::size_t slot) { return copies.write(chosen[slot], input.live()); },
                    annotator ? &*annotator : nullptr});
        before = input.so_far();
        return copies.ok() ? ExitCode::done : ExitCode::output_failed;
    });
    if (!opened && copies.ok()) return code;  // no input: no file
    return finish(options.capture, *file, copies, code);
}

ExitCode run_packets(const PacketsOptions& options) {
    const auto& [reading, shown] = options.listing;
    const auto compiled = compile_filter(reading.filter, FilterSets::with_fields);
    auto columns = columns_of(options.columns);
    if (!compiled || !columns) return ExitCode::usage;
    const LookAhead look_ahead = needs_look_ahead(*columns) ? LookAhead::all : look_ahead_for(*compiled);
    const bool annotated =
        compiled->needs_annotation() || needs_annotation(*columns) || !reading.analysis.hints.empty();
    if (!options.capture.empty()) return copy_packets(options, *compiled, annotated, look_ahead);
    Output output(shown.path, reading.input.files);
    if (!output.ok()) return finish(output);
    const auto known = with_whole_capture(reading, *compiled, output, needs_whole_capture(*columns));
    if (!known) return known.error();
    std::optional<transport::Annotator> annotator;
    // Which connection a packet is of, and what that speaks, only the end of the capture tells: so files are read
    // through before a column or a filter shows it, also where --count wants a few packets alone.
    if (annotated) annotator.emplace(known_settings(reading.input, reading.analysis, look_ahead)).know(known->messages);
    else annotator = stream_annotator(reading.input);
    PacketRows rows(options.listing, std::move(*columns), output);
    bool opened = false;
    Input::SoFar before;
    const ExitCode code = for_each_input(reading.input, [&](Input& input, Progress& progress) {
        opened = true;
        if (rows.full()) return ExitCode::done;
        input.go_on_from(before);
        const Jobs jobs = jobs_for(reading.input, input);
        std::vector<Rendered> parts(jobs.slots());
        const auto begin = [&](std::size_t slot) {
            parts[slot].text.clear();
            parts[slot].ends.clear();
        };
        decode_all(input, progress, jobs,
                   {known->filter, [&](const Batch& batch) { rows.fit_to(batch); }, begin,
                    [&](std::size_t slot, const Packet& packet) { rows.render(parts[slot], packet); },
                    [&](std::size_t slot) {
                        if (output.is_terminal()) progress.clear();
                        return rows.write(parts[slot], input.live());
                    },
                    annotator ? &*annotator : nullptr});
        before = input.so_far();
        return output.ok() ? ExitCode::done : ExitCode::output_failed;
    });
    if (opened) rows.write_heading();
    rows.end();
    return worse(output.closed() ? ExitCode::done : code,
                 finish(output, opened && !(code == ExitCode::damaged && rows.none())));
}

}  // namespace

const Command kPacketsCommand{
    "packets", kLookAt, "Print packets, one line each, or write them to a capture",
    "  qpscope packets trace.pcap\n"
    "  qpscope packets -Y 'infiniband.aeth.syndrome.opcode == NAK' trace.pcap\n"
    "  qpscope packets --since '2026-11-21 01:14:08' --until '2026-11-21 01:14:09' trace.pcap\n"
    "  qpscope packets -f tsv -e frame.number -e infiniband.bth.psn trace.pcap > psn.tsv\n"
    "  qpscope packets -i eth0 --capture-filter 'udp port 4791'\n"
    "  qpscope packets -Y 'rdma.retransmission or rdma.psn_missing' trace.pcap\n"
    "  qpscope packets -Y 'rdma.icrc.status == bad' -w damaged.pcapng trace.pcap\n\n"
    "rdma.retransmission and the like (`qpscope fields 'earlier packets'`) have what is known when the packet is read.\n"
    "rdma.connection and rdma.from are as in `qpscope connections`; of a pipe or an interface, as known so far. They need a\n"
    "single thread, and make several files pieces of one capture. To hand a connection on, take `qpscope extract -C 3`: its\n"
    "CM handshake is of queue pair 1, and not of rdma.connection == 3.",
    prepared<PacketsOptions, run_packets>};

}  // namespace qps::cli
