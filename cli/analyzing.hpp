// The way every command goes that reconstructs: all inputs of the command line are one capture, whose packets are
// decoded side by side and analysed in order. The result does not depend on the number of threads.
#pragma once

#include <cli/exit_code.hpp>
#include <cli/input.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/output.hpp>
#include <dissect/filter/filter.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <expected>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace qps::transport {
struct LaneListener;
struct NcclLog;
struct PartOf;
struct PartReport;
struct StraightPlaces;
}  // namespace qps::transport

namespace qps::cli {

// What a command wants to hear while the capture is read. All of it comes from one thread, in the order of the capture.
struct Listening {
    // Each packet that was analysed; the observation is valid during the call.
    std::function<void(const transport::Observation&, const transport::PacketRecord&)> packet{};
    // Each message when nothing more can happen to it, after the packet that ended it.
    std::function<void(transport::ConnectionId, transport::End requester, const transport::Message&)> message{};
    // Each operation of an upper protocol when it ended, after the packet that ended it.
    std::function<void(const transport::UlpOperation&)> operation{};
    // Each connection of which nothing more will be told, because it made place for others.
    std::function<void(transport::ConnectionId)> retired{};
    // For who needs more of a packet than its observation: in any thread, what each batch is made of, in one of
    // `slots`. Then, with the others: each packet that was analysed, by its place in the batch.
    std::function<void(std::size_t slots)> slots{};
    std::function<void(std::size_t slot)> begin{};
    std::function<void(std::size_t slot, const dissect::Packet&)> each{};
    // Instead of each(), for who can do without the layers of a packet that went the straight path.
    std::function<void(std::size_t slot, const dissect::Frame&, const transport::Observation&,
                       const transport::StraightPlaces&)>
        straight{};
    std::function<void(std::size_t slot)> others{};  // instead of each(): of a part, a packet that another part follows
    std::function<void(std::size_t slot, std::size_t place, const transport::Observation&,
                       const transport::PacketRecord&)>
        placed{};
    // For who follows what each lane follows, in the thread of that lane: a listener for each of so many, before the
    // first packet; the slot is the batch's. At the end, what numbers connections of a lane have among all.
    std::function<std::vector<transport::LaneListener>(std::size_t lanes)> lanes{};
    std::function<void(std::size_t lane, std::span<const std::uint32_t> numbers)> numbered{};
    std::function<bool()>
        over{};  // whether these lanes together needed more than there is: then they begin again, as one
    // Where packets arrive as they happen: what is known so far, at most once a second.
    std::function<void(const transport::Timeline& so_far)> meanwhile{};
    // The same for those who only have to show what they hold back.
    std::function<void()> pause{};
    // An input was opened. A batch of it was read, which may have brought interfaces.
    std::function<void(const Input&)> opened{};
    std::function<void(const Input&)> batch{};
    // After each packet that was analysed, when all of the above were told what it ended.
    std::function<void()> after{};
    // It shows of packets, messages or operations which connection they are of, and that is the connection that their
    // flow turns out to be of, which only the end of the capture tells: files are read once before.
    bool names_connections = false;
    // Where it prints them, if again() is there too: what is printed waits for the end of the first reading, which is
    // the only one where no number of a connection changed.
    Output* rows = nullptr;
    // For who has shown nothing before the end: files are read a second time, and what was told so far is to be
    // forgotten. Who has none is told once, after the files were read for what must be known before.
    std::function<void()> again{};
};

struct Analyzed {
    transport::Timeline timeline;
    ExitCode code = ExitCode::done;  // of the inputs
    std::uint64_t frames = 0;        // in all inputs
    bool any = false;                // an input could be opened: there is something to report
    transport::CaptureTraits known;  // before the packets were analysed
};

[[nodiscard]] Analyzed analyze(const ReadingOptions& options, const dissect::Filter& wanted_packets,
                               const Output& output, const Listening& listening);

// The same of one part of the pairs of hosts: nothing is concluded yet, and so the timeline is empty. `report` is what
// the part has.
[[nodiscard]] Analyzed analyze_part(const ReadingOptions& options, const dissect::Filter& wanted_packets,
                                    const Output& output, const Listening& listening, transport::PartOf part,
                                    transport::PartReport& report);

// Reads the inputs again, for who must know the end before the first packet is written: packets have the numbers and
// connections that they had in `first`. `said_before`: what is wrong with the inputs was told.
[[nodiscard]] Analyzed analyze_again(const ReadingOptions& options, const dissect::Filter& filter, const Output& output,
                                     const Listening& listening, const Analyzed& first, bool said_before = true);

// The analysis leaves the rows of Listening::rows the memory that they wait in.
void leave_room_for_rows(ReadingOptions& options);

// The log that --nccl-log names; says what of it could not be read.
[[nodiscard]] std::expected<transport::NcclLog, ExitCode> read_nccl_log_of(const ReadingOptions& options);

// Says what bounds left out of it that may be a finding: its code, ExitCode::unjudged, or done.
[[nodiscard]] ExitCode say_unjudged(const transport::Timeline& timeline);

// Says that there was nothing to judge: its code, ExitCode::unjudged, or done.
[[nodiscard]] ExitCode say_nothing_seen(const ReadingOptions& options, const transport::Timeline& timeline);

// The exit code of a command: that of the inputs, of the output, and of the findings where the user asked for it.
[[nodiscard]] ExitCode finish(const AnalysisOptions& options, const Analyzed& analyzed, Output& output);
// How many recordings the files are, where they do not continue each other.
void say_recordings(const transport::Timeline& timeline);

// Says that there is none of what a table lists: an empty table looks like a failure.
void report_none(OutputFormat format, std::string_view what);

// Whether the user wants to see that connection.
[[nodiscard]] bool wanted(const AnalysisOptions& options, std::optional<transport::ConnectionId> connection);

}  // namespace qps::cli
