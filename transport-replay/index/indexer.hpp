// Indexer: reads captures from the first packet to the last, analyses them and fills a CaptureIndex while others read
// it.
//
// Packets are decoded and connections followed side by side, as everywhere; the result does not depend on the number of
// threads. What cannot be read is told and the rest is there. Inputs that cannot be read twice (pipes, standard input,
// compressed files) are copied as they are read into a spool, a temporary pcapng file, from which their packets are
// decoded again.
#pragma once

#include <dissect/capture/input_problem.hpp>
#include <dissect/packet/pipeline.hpp>
#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/ulp/ulp_hints.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qps::transport {

struct Indexing {
    std::vector<std::string> files;  // of one capture, in any order; "-" is standard input
    dissect::Jobs jobs;              // for files; of a pipe each packet is taken as it comes, in the calling thread
    std::string spool_folder;        // where temporary files may be made
    UlpHints hints{};                // what the user says that connections speak
    IcrcPolicy icrc = IcrcPolicy::automatic;
    std::vector<Address> unordered{};  // as in AnalysisSettings
    CaptureTraits traits{};            // what an earlier reading found out of the capture as a whole
    bool one_lane = false;             // connections are followed by one thread, whatever `jobs`
    bool by_time = false;  // frames of all files in the order of their times, not only of those that overlap
    std::vector<dissect::Duration>
        offsets{};                        // added to the times of each file; of files behind the last one nothing is
    dissect::BitsPerSecond link_speed{};  // of all interfaces; 0: as the files say
    MemoryBudget memory = MemoryBudget::of_machine();  // half for rows and times of connections, the rest for the
                                                       // analysis and a copy of it
};

// What rows may take of that half, beside the times of connections that views make of them.
[[nodiscard]] std::uint64_t bytes_of_rows(const MemoryBudget& memory);

// How many files can be read by time: all of them are open at once.
inline constexpr std::size_t kMostFilesByTime = 64;

// Asked and told in the thread that indexes. Functions may be empty.
struct IndexWatch {
    // After every batch, and when a signal interrupts waiting for a pipe: true ends the work, what was read stays.
    std::function<bool()> stopped{};
    // Bytes of all files together, as stored; `all` where it is known.
    std::function<void(std::uint64_t done, std::optional<std::uint64_t> all)> progressed{};
    // Whether somebody wants to see a timeline of what was read so far; it costs a copy of the analysis. Asked after
    // every batch, and of a pipe also when a signal interrupts waiting, if there is something that no timeline has.
    std::function<bool()> wants_timeline{};
    std::function<void(Timeline&& so_far)> timeline{};
};

struct Indexed {
    Timeline timeline;
    std::vector<dissect::InputProblem> problems;  // at most one a file
    std::uint64_t left_out = 0;                   // packets past GrowingStore::kMaxRows, or past the memory for rows
    std::uint64_t messages_left_out = 0;          // and messages that ended there
    bool stopped = false;
    bool over = false;  // threads together needed more memory than there is: ended there, to be read again by one
                        // (second_reading())
};

// Throws std::bad_alloc; the index then has what was there before.
[[nodiscard]] Indexed build_index(CaptureIndex& index, const Indexing& indexing, const IndexWatch& watch);

// What to read the files with once more, into a new index, where a reading found out that its findings need it: several
// taps recorded the same packets, no ICRC of a sender is right, or it was over(). Nothing where that reading is enough
// or all that there is. Ask after each.
[[nodiscard]] std::optional<Indexing> second_reading(const Indexing& first, const Indexed& outcome);

// As often as that takes; the index is that of the last.
struct ReadIndex {
    std::unique_ptr<CaptureIndex> index;
    Indexed outcome;
};
[[nodiscard]] ReadIndex read_index(Indexing indexing, const IndexWatch& watch);

}  // namespace qps::transport
