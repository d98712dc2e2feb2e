// Analyses the files for the sets that a display filter names.
#include <cli/analyzing.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/filter_sets.hpp>
#include <cli/message.hpp>
#include <transport-replay/index/message_frames.hpp>
#include <transport-replay/index/named_sets.hpp>

#include <memory>
#include <utility>

namespace qps::cli {

using namespace transport;

namespace {

// Rows of all packets and messages, in half of what an analysis may have at most.
struct Rows {
    std::unique_ptr<CaptureIndex> index = std::make_unique<CaptureIndex>();
    std::uint64_t most = 0;  // bytes
    bool cut = false;

    [[nodiscard]] bool full() { return cut |= index->bytes() > most; }
};

Analyzed read_rows(const ReadingOptions& options, const Output& output, Rows& rows) {
    const auto packet = [&](const Observation& observation, const PacketRecord& record) {
        if (!rows.full()) static_cast<void>(rows.index->packets.append(PacketRow(0, 0, observation, record)));
    };
    const auto message = [&](ConnectionId connection, End requester, const Message& ended) {
        if (!rows.full()) static_cast<void>(rows.index->messages.append(MessageRow(connection, requester, ended)));
    };
    const auto again = [&] {
        rows.index = std::make_unique<CaptureIndex>();
        rows.cut = false;
    };
    ReadingOptions whole = options;
    whole.filter = {};
    whole.analysis.connections.clear();
    whole.input.count = 0;
    const Hush hush;  // what is wrong with the files is said when they are read again
    Analyzed analyzed =
        analyze(whole, dissect::Filter{}, output, {.packet = packet, .message = message, .again = again});
    rows.index->settle(analyzed.timeline.numbers);
    return analyzed;
}

// Of one thread.
Annotator::More messages_of(const CaptureIndex& index) {
    return [frames = std::make_shared<const MessageFrames>(index)](dissect::FrameIndex frame,
                                                                   dissect::Annotation& annotation) {
        const std::uint64_t message = frames->message_of(frame);
        if (message == 0) return;
        annotation.message = message;
        annotation.message_frames = frames->frames_of(message);
    };
}

}  // namespace

std::expected<WholeCapture, ExitCode> with_whole_capture(const ReadingOptions& options, dissect::Filter filter,
                                                         const Output& output, bool fields) {
    fields |= filter.needs_whole_capture();
    if (!fields && filter.sets().empty()) return WholeCapture{std::move(filter)};
    if (!can_be_read_twice(options.input)) {
        say("qpscope: rdma.message and rdma.finding are known when all packets were read: expected files that can be read twice\n");
        return std::unexpected(ExitCode::usage);
    }
    Rows rows{.most = options.analysis.memory.bytes() / 2};
    const Analyzed analyzed = read_rows(options, output, rows);
    if (rows.cut)
        remark(
            "qpscope: messages are known of the first {} packets: more would not fit in half of the memory (--memory)\n",
            rows.index->packets.size());
    auto compiled = dissect::Filter::compile(with_times(options.filter, options.filter.text),
                                             sets_of(*rows.index, analyzed.timeline));
    if (compiled) return WholeCapture{std::move(*compiled), fields ? messages_of(*rows.index) : Annotator::More{}};
    say("qpscope: invalid display filter: {}\n", compiled.error().message);
    return std::unexpected(ExitCode::usage);
}

std::expected<dissect::Filter, ExitCode> with_sets(const ReadingOptions& options, dissect::Filter filter,
                                                   const Output& output) {
    auto known = with_whole_capture(options, std::move(filter), output, false);
    if (!known) return std::unexpected(known.error());
    return std::move(known->filter);
}

}  // namespace qps::cli
