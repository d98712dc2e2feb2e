#include <dissect/capture/time_merge.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace qps::dissect {

namespace {

constexpr std::size_t kMostCopied = std::size_t{1}
                                    << 20;  // bytes of a batch: frames that borrow theirs from elsewhere cost nothing

// Bytes of frames that are copied lie one after the other; where, is known when all of them are there.
struct Copy {
    std::size_t frame = 0;
    std::size_t begin = 0;
};

}  // namespace

Instant moved(Instant time, Duration by) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(std::to_underlying(time), std::to_underlying(by), &sum)) return Instant{sum};
    return Instant{std::to_underlying(by) < 0 ? std::numeric_limits<std::int64_t>::min()
                                              : std::numeric_limits<std::int64_t>::max()};
}

TimeMerge::TimeMerge(std::vector<Source> sources) {
    sources.resize(std::min(sources.size(), kMostSources));
    for (Source& source : sources) {
        Waiting waiting{.source = std::move(source)};
        waiting.due = Instant{std::numeric_limits<std::int64_t>::min()};
        waiting_.push_back(std::move(waiting));
    }
}

// Its next frame is there, or it has ended.
bool TimeMerge::fill(Waiting& waiting) {
    if (waiting.ended) return false;
    if (waiting.next == waiting.batch.frames.size()) {
        waiting.next = 0;
        if (!waiting.source.read(waiting.batch)) {
            waiting.ended = true;
            return false;
        }
    }
    const Frame& frame = waiting.batch.frames[waiting.next];
    if (frame.has_time) waiting.due = std::max(waiting.due, moved(frame.time, waiting.source.offset));
    return true;
}

bool TimeMerge::read(Batch& batch, std::vector<std::uint16_t>& from) {
    batch.frames.clear();
    from.clear();
    std::size_t copied = 0;
    std::vector<Copy> copies;
    while (batch.frames.size() < kMostFrames && copied < kMostCopied) {
        Waiting* first = nullptr;
        for (Waiting& waiting : waiting_)
            if (fill(waiting) && (first == nullptr || waiting.due < first->due)) first = &waiting;
        if (first == nullptr) break;
        Frame frame = first->batch.frames[first->next++];
        if (frame.has_time) frame.time = moved(frame.time, first->source.offset);
        if (!first->source.outlive) {
            if (batch.storage.size() < copied + frame.bytes.size())
                batch.storage.resize(std::max(2 * batch.storage.size(), copied + frame.bytes.size()));
            std::ranges::copy(frame.bytes, batch.storage.begin() + static_cast<std::ptrdiff_t>(copied));
            copies.push_back({batch.frames.size(), copied});
            copied += frame.bytes.size();
            frame.options = {};
        }
        batch.frames.push_back(frame);
        from.push_back(static_cast<std::uint16_t>(first - waiting_.data()));
    }
    for (const Copy& copy : copies) {
        Frame& frame = batch.frames[copy.frame];
        frame.bytes = Bytes(batch.storage).subspan(copy.begin, frame.bytes.size());
    }
    return !batch.frames.empty();
}

}  // namespace qps::dissect
