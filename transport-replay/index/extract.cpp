#include <dissect/base/packet.hpp>
#include <dissect/capture/options.hpp>
#include <dissect/capture/saved_capture.hpp>
#include <transport-replay/index/extract.hpp>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kWatchEvery = 4096;  // packets; some milliseconds

std::string sentence(const OutputProblem& problem) {
    return problem.file.empty() ? problem.sentence : problem.file + ": " + problem.sentence;
}

// The part of a range that the capture has; nothing where that is empty.
std::optional<FrameRange> within(FrameRange range, std::uint64_t packets) {
    range.first = std::max(range.first, FrameIndex{1});
    range.last = std::min(range.last, FrameIndex{packets});
    return range.first <= range.last ? std::optional(range) : std::nullopt;
}

std::uint64_t length(const FrameRange& range) {
    return std::to_underlying(range.last) - std::to_underlying(range.first) + 1;
}

FrameIndex after(FrameIndex frame) { return FrameIndex{std::to_underlying(frame) + 1}; }

// Options of a record less the first comment, in the byte order they have.
std::vector<std::byte> without_comment(const Frame& frame) {
    constexpr std::ptrdiff_t kHeader = 4;
    std::vector<std::byte> kept;
    bool met = false;
    OptionReader options(frame.options, frame.options_order);
    for (Option option; options.next(option);) {
        if (option.code == kOptionComment && !std::exchange(met, true)) continue;
        const std::size_t begin = static_cast<std::size_t>(option.value.data() - kHeader - frame.options.data());
        const std::size_t end = begin + kHeader + (option.value.size() + 3) / 4 * 4;
        const Bytes whole = slice(frame.options, begin, std::min(end, frame.options.size()) - begin);
        kept.insert(kept.end(), whole.begin(), whole.end());
        kept.resize((kept.size() + 3) / 4 * 4);  // where the padding of the last one is missing
    }
    return kept;
}

// Every interface of the files, in its order, so that numbers stay.
std::expected<void, OutputProblem> describe_interfaces(const CaptureIndex& index, SavedCapture& file, bool named) {
    for (std::size_t number = 0; number < index.files().size(); ++number) {
        const auto layout = index.layout(number);
        for (std::size_t i = 0; layout && i < layout->origins.size(); ++i) {
            const FrameOrigin& origin = layout->origins[i];
            auto described = file.describe(InterfaceId{static_cast<std::uint32_t>(i)}, origin.link, origin.speed,
                                           named ? layout->names[i] : std::string());
            if (!described) return described;
        }
    }
    return {};
}

std::expected<void, OutputProblem> write(SavedCapture& file, Frame frame, const Comments& comments) {
    const auto comment = comments.find(frame.index);
    if (comment == comments.end()) return file.write(frame);
    const std::vector<std::byte> options = without_comment(frame);
    frame.options = options;
    return file.write(frame, comment->second);
}

class Disguising {
public:
    Disguising(const CaptureIndex& index, const Disguise& disguise)
        : index_(index), anonymizer_(disguise.pseudonyms, disguise.payload) {}

    // Lives until the next one.
    [[nodiscard]] Frame disguised(const Frame& frame) {
        decode(frame, packet_);
        observe(packet_, observation_ = {});
        return anonymizer_.anonymize(frame, observation_.flow, index_.ulp_hint(frame.index));
    }

private:
    const CaptureIndex& index_;
    Anonymizer anonymizer_;
    Packet packet_;
    Observation observation_;
};

std::vector<std::string> inputs_of(const CaptureIndex& index) {
    std::vector<std::string> inputs;
    for (const IndexedFile& file : index.files()) inputs.push_back(file.name);
    return inputs;
}

}  // namespace

std::uint64_t count(const Chosen& chosen, const CaptureIndex& index) {
    const std::uint64_t packets = index.packets.size();
    if (const auto* set = std::get_if<RowSet>(&chosen)) return set->rank(FrameIndex{packets + 1});
    const auto* ranges = std::get_if<std::vector<FrameRange>>(&chosen);
    if (ranges == nullptr) return packets;
    std::uint64_t sum = 0;
    for (const FrameRange& wanted : *ranges)
        if (const auto range = within(wanted, packets)) sum += length(*range);
    return sum;
}

void for_each_chosen(const Chosen& chosen, const CaptureIndex& index, const std::function<bool(FrameIndex)>& each) {
    const std::uint64_t packets = index.packets.size();
    const auto through = [&](const FrameRange& wanted) {
        const std::optional<FrameRange> range = within(wanted, packets);
        if (!range) return true;
        for (FrameIndex frame = range->first; frame <= range->last; frame = after(frame))
            if (!each(frame)) return false;
        return true;
    };
    if (const auto* set = std::get_if<RowSet>(&chosen)) {
        for (auto frame = set->next(FrameIndex{}); frame && *frame <= FrameIndex{packets}; frame = set->next(*frame))
            if (!each(*frame)) return;
    } else if (const auto* ranges = std::get_if<std::vector<FrameRange>>(&chosen)) {
        static_cast<void>(std::ranges::all_of(*ranges, through));
    } else {
        static_cast<void>(through({FrameIndex{1}, FrameIndex{packets}}));
    }
}

std::expected<Extracted, std::string> extract(const CaptureIndex& index, const Extraction& wanted,
                                              const ExtractWatch& watch) try {
    auto file = SavedCapture::open(wanted.path, inputs_of(index));
    if (!file) return std::unexpected(sentence(file.error()));
    Extracted extracted;
    auto going = describe_interfaces(index, *file, !wanted.disguise);
    std::optional<Disguising> disguising;
    if (wanted.disguise) disguising.emplace(index, *wanted.disguise);
    const std::uint64_t all = count(wanted.chosen, index);
    std::uint64_t done = 0;
    FrameBuffer buffer;
    const auto each = [&](FrameIndex number) {
        if (done++ % kWatchEvery == 0) {
            if (watch.stopped && watch.stopped()) extracted.stopped = true;
            if (watch.progressed) watch.progressed(done - 1, all);
        }
        if (extracted.stopped) return false;
        const std::optional<Frame> frame = index.frame(number, buffer);
        if (frame)
            going = disguising ? file->write(disguising->disguised(*frame)) : write(*file, *frame, wanted.comments);
        else ++extracted.unreadable;
        return going.has_value();
    };
    if (going) for_each_chosen(wanted.chosen, index, each);
    if (going && !extracted.stopped) going = file->commit();
    if (!going) return std::unexpected(sentence(going.error()));
    if (!extracted.stopped) extracted.written = file->frames();
    if (watch.progressed) watch.progressed(all, all);
    return extracted;
} catch (const std::bad_alloc&) {
    return std::unexpected("out of memory");
}

}  // namespace qps::transport
