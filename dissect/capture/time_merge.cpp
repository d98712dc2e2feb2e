#include <dissect/capture/time_merge.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

namespace qps::dissect {

namespace {

constexpr std::size_t kMostCopied = std::size_t{1}
                                    << 20;  // bytes of a batch: frames that borrow theirs from elsewhere cost nothing

constexpr std::size_t kMostTwins = 4096;  // interfaces that recorded what another one did

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
    constexpr std::size_t kMostNumbered = std::size_t{1} << 16;
    sources.resize(std::min(sources.size(), kMostNumbered));
    for (std::size_t i = 0; i < sources.size(); ++i) {
        Waiting waiting{.source = std::move(sources[i])};
        waiting.number = static_cast<std::uint16_t>(i);
        waiting.due = waiting.source.first.value_or(Instant{std::numeric_limits<std::int64_t>::min()});
        if (waiting.source.first) later_.push_back(std::move(waiting));
        else if (waiting_.size() < kMostSources) waiting_.push_back(std::move(waiting));
    }
    std::ranges::stable_sort(later_, std::greater{}, &Waiting::due);
}

// Its next frame is there; false where it has ended.
bool TimeMerge::fill(Waiting& waiting) {
    if (waiting.next == waiting.batch.frames.size()) {
        waiting.next = 0;
        if (!waiting.source.read(waiting.batch)) return false;
    }
    const Frame& frame = waiting.batch.frames[waiting.next];
    if (frame.has_time) waiting.due = std::max(waiting.due, moved(frame.time, waiting.source.offset));
    return true;
}

// Whose next frame comes first; nullptr where all have ended.
TimeMerge::Waiting* TimeMerge::earliest() {
    for (;;) {
        for (auto waiting = waiting_.begin(); waiting != waiting_.end();)
            waiting = fill(*waiting) ? std::next(waiting) : waiting_.erase(waiting);
        const auto first = std::ranges::min_element(waiting_, {}, &Waiting::due);
        if (later_.empty() || (first != waiting_.end() && first->due < later_.back().due))
            return first == waiting_.end() ? nullptr : &*first;
        const auto place = std::ranges::upper_bound(waiting_, later_.back().number, {}, &Waiting::number);
        waiting_.insert(place, std::move(later_.back()));
        later_.pop_back();
    }
}

std::optional<TimeMerge::Recorder> TimeMerge::twin_of(const Recorder& recorder) const {
    const auto found = std::ranges::find(twins_, recorder, &std::pair<Recorder, Recorder>::first);
    return found == twins_.end() ? std::nullopt : std::optional(found->second);
}

// Whether another source gave that packet, which is then not given again.
bool TimeMerge::is_there(Waiting& waiting, const Frame& frame) {
    if (!frame.has_time) return false;
    if (compared_ == 0 || frame.time != given_at_) {
        compared_ = 0;
        given_at_ = frame.time;
    }
    const auto given = std::span(given_).first(compared_);
    const auto is_same = [&](const Given& one) {
        return one.from.source != waiting.number && one.wire_length == frame.wire_length &&
               std::ranges::find(one.also, waiting.number) == one.also.end() &&
               std::ranges::equal(one.bytes, frame.bytes);
    };
    const auto twin = std::ranges::find_if(given, is_same);
    const bool may_have = std::ranges::any_of(waiting_, [&](const Waiting& other) {
        return other.number != waiting.number && other.last && *other.last <= frame.time;
    });
    if (twin == given.end()) {
        waiting.alone += may_have ? 1U : 0U;
    } else {
        ++waiting.there;
        twin->also.push_back(waiting.number);
    }
    constexpr std::uint64_t kParts = 4, kOfThem = 3;
    if (twin != given.end() && waiting.there * kParts >= (waiting.there + waiting.alone) * kOfThem) {
        const Recorder own{waiting.number, frame.interface};
        if (!twin_of(own) && twins_.size() < kMostTwins) twins_.emplace_back(own, twin->from);
        ++dropped_;
        return true;
    }
    if (compared_ == kMostCompared || waiting_.size() == 1) return false;
    if (compared_ == given_.size()) given_.emplace_back();
    Given& one = given_[compared_++];
    one.from = {waiting.number, frame.interface};
    one.wire_length = frame.wire_length;
    one.bytes.assign(frame.bytes.begin(), frame.bytes.end());
    one.also.clear();
    return false;
}

bool TimeMerge::read(Batch& batch, std::vector<std::uint16_t>& from) {
    batch.frames.clear();
    from.clear();
    std::size_t copied = 0;
    std::vector<Copy> copies;
    while (batch.frames.size() < kMostFrames && copied < kMostCopied) {
        Waiting* first = earliest();
        if (first == nullptr) break;
        Frame frame = first->batch.frames[first->next++];
        if (frame.has_time) frame.time = moved(frame.time, first->source.offset);
        if ((waiting_.size() > 1 || compared_ != 0) && is_there(*first, frame)) continue;
        if (frame.has_time) first->last = frame.time;
        if (!first->source.outlive) {
            if (batch.storage.size() < copied + frame.bytes.size())
                batch.storage.resize(std::max(2 * batch.storage.size(), copied + frame.bytes.size()));
            std::ranges::copy(frame.bytes, batch.storage.begin() + static_cast<std::ptrdiff_t>(copied));
            copies.push_back({batch.frames.size(), copied});
            copied += frame.bytes.size();
            frame.options = {};
        }
        batch.frames.push_back(frame);
        from.push_back(first->number);
    }
    for (const Copy& copy : copies) {
        Frame& frame = batch.frames[copy.frame];
        frame.bytes = Bytes(batch.storage).subspan(copy.begin, frame.bytes.size());
    }
    return !batch.frames.empty();
}

}  // namespace qps::dissect
