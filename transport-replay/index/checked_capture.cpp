#include <dissect/packet/pipeline.hpp>
#include <transport-replay/analysis/lane_suites.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/index/checked_capture.hpp>
#include <transport-replay/model/memory_amount.hpp>

#include <algorithm>
#include <thread>

namespace qps::transport {

using namespace dissect;
using namespace conformance;

namespace {

constexpr std::uint64_t kPiece = 1024;  // packets, whose bytes are there while they are followed: a MiB or a few
constexpr unsigned kMostThreads = 8;

// What is asked of the first packets of an index.
struct Asked {
    const CaptureIndex& index;
    std::uint64_t packets = 0;
    const UlpHints& hints;
    const MemoryBudget& memory;
    const ExtractWatch& watch;
    Drops drops;

    [[nodiscard]] bool stopped() const { return watch.stopped && watch.stopped(); }
};

class Checking {
public:
    Checking(const Asked& asked, CaptureTraits traits, std::size_t threads)
        : asked_(asked),
          threads_(threads),
          suites_([&memory = asked.memory] { return PassiveSuite(memory); }),
          analysis_(settings(std::move(traits)), threads, false, false, suites_.begin(threads)) {}

    // False where the watch stopped it, or several threads needed more than there is.
    [[nodiscard]] bool run() {
        const Jobs jobs{threads_};
        suites_.make_room(jobs.slots());
        pieces_.resize(jobs.slots(), Piece{ShardedBatch(threads_), {}, {}, 0});
        std::uint64_t read = 0, followed = 0;
        const auto next = [&](Batch& batch) {
            if (read == asked_.packets || asked_.stopped()) return false;
            batch.frames.clear();
            batch.numbered_from = read;
            read = std::min(read + kPiece, asked_.packets);
            return true;
        };
        const auto work = [&](std::size_t slot, const Batch& batch) { look_at(slot, *batch.numbered_from); };
        const auto gate = [&](std::size_t slot) { analysis_.gate(pieces_[slot].packets); };
        const auto sift = [&](std::size_t slot, std::size_t sieve) { analysis_.sift(pieces_[slot].packets, sieve); };
        const auto follow = [&](std::size_t slot, std::size_t lane) {
            analysis_.follow(pieces_[slot].packets, lane, slot);
        };
        const auto consume = [&](std::size_t slot) {
            analysis_.visit(pieces_[slot].packets, {});
            unreadable_ += pieces_[slot].unreadable;
            followed = std::min(followed + kPiece, asked_.packets);
            if (asked_.watch.progressed) asked_.watch.progressed(followed, asked_.packets);
            return !over();
        };
        dissect::run({next, work, consume, gate, follow, threads_, {}, {}, {}, sift, analysis_.sieves()}, jobs);
        return followed == asked_.packets && !over();
    }

    [[nodiscard]] Timeline finish() {
        Timeline timeline = analysis_.finish(asked_.drops);
        for (std::size_t lane = 0; lane < threads_; ++lane) suites_.number(lane, analysis_.numbers(lane));
        return timeline;
    }
    [[nodiscard]] bool over() const { return threads_ > 1 && (analysis_.over() || suites_.over()); }
    [[nodiscard]] std::vector<CheckResult> results(const Timeline& timeline) {
        return judge(suites_.take(), timeline, {});
    }
    [[nodiscard]] std::uint64_t unreadable() const { return unreadable_; }

private:
    struct Piece {
        ShardedBatch packets;
        std::vector<std::byte> bytes;  // observations refer to them
        std::vector<Frame> frames;
        std::uint64_t unreadable = 0;
    };

    // Their bytes first: these move while there are more.
    void read(Piece& piece, std::uint64_t before) const {
        FrameBuffer buffer;
        std::vector<std::size_t> begins;
        piece.bytes.clear();
        piece.frames.clear();
        const std::uint64_t end = std::min(before + kPiece, asked_.packets);
        for (std::uint64_t number = before + 1; number <= end; ++number) {
            const auto frame = asked_.index.frame(FrameIndex{number}, buffer);
            if (!frame) continue;
            begins.push_back(piece.bytes.size());
            piece.bytes.insert(piece.bytes.end(), frame->bytes.begin(), frame->bytes.end());
            piece.frames.push_back(*frame);
        }
        for (std::size_t i = 0; i < piece.frames.size(); ++i)
            piece.frames[i].bytes = Bytes(piece.bytes).subspan(begins[i], piece.frames[i].bytes.size());
        piece.unreadable = end - before - piece.frames.size();
    }
    void look_at(std::size_t slot, std::uint64_t before) {
        Piece& piece = pieces_[slot];
        FactBatch& facts = suites_.facts(slot);
        piece.packets.clear();
        facts.clear();
        read(piece, before);
        Packet packet;
        for (const Frame& frame : piece.frames) {
            const auto file = static_cast<std::uint16_t>(asked_.index.row(frame.index).file());
            if (const auto places = piece.packets.add_straight(frame, file)) {
                facts.add(StraightPacket{frame, piece.packets.last(), *places});
                continue;
            }
            decode(frame, packet);
            piece.packets.add(packet, file);
            facts.add(packet);
        }
    }
    AnalysisSettings settings(CaptureTraits traits) const {
        AnalysisSettings settings;
        settings.hints = asked_.hints;
        settings.traits = std::move(traits);
        settings.memory = beside(asked_.memory, PassiveSuite::memory_of(asked_.memory));
        return settings;
    }

    const Asked& asked_;
    std::size_t threads_;
    LaneSuites suites_;
    ShardedAnalysis analysis_;
    std::vector<Piece> pieces_;
    std::uint64_t unreadable_ = 0;
};

}  // namespace

std::optional<CheckedCapture> check(const CaptureIndex& index, std::uint64_t packets, const Timeline& timeline,
                                    const UlpHints& hints, const MemoryBudget& memory, const ExtractWatch& watch) {
    const Asked asked{index, packets, hints, memory, watch, timeline.quality.drops};
    // Numbers of connections that the user names are those of the whole.
    std::size_t threads = hints.empty() ? std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads) : 1;
    CaptureTraits traits;
    // As on the command line: once, once more where that showed that its findings need it, and again by one thread
    // where several needed too much.
    for (std::size_t reading = 0; reading < 4; ++reading) {
        Checking checking(asked, traits, threads);
        const bool whole = checking.run();
        if (asked.stopped()) return std::nullopt;
        Timeline again = checking.finish();
        if (!whole || checking.over()) {
            threads = 1;
            continue;
        }
        if (!traits.any() && again.learned.any()) {
            traits = std::move(again.learned);
            continue;
        }
        return CheckedCapture{checking.results(again), packets, checking.unreadable()};
    }
    return std::nullopt;
}

}  // namespace qps::transport
