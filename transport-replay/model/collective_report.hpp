// CollectiveReport: groups of hosts that work in steps together, as MPI and the libraries of machine learning do: in
// which pattern, how fast, and whom they wait for. Part of the Timeline. Everything is concluded from the shape of the
// traffic.
//
// A pattern is only stated with evidence: a library that was recognised, or steps that come again and again with the
// same bytes over the same ways. Every list has a bound.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMaxCollectives = 64;        // groups; jobs that share nothing are few in a capture
inline constexpr std::size_t kMaxCollectiveRanks = 1024;  // of a group
inline constexpr std::size_t kMaxCollectiveSteps = 256;   // listed and judged of a group: enough to know who is slow
inline constexpr std::size_t kMaxCollectiveFrames = 16;   // of evidence, as findings list them

// Who sends data to whom.
enum class CollectivePattern : std::uint8_t {
    ring,                // everybody to the next one
    ring_both_ways,      // everybody to both neighbours
    tree,                // up and down along branches
    all_to_all,          // everybody to everybody
    recursive_doubling,  // everybody with partners at distances of powers of two
    pair,                // two ranks
    in_part,             // a library was recognised; the capture sees too little of who talks to whom
};
inline constexpr std::array<std::string_view, 7> kCollectivePatternNames{
    "ring", "ring both ways", "tree", "all-to-all", "recursive doubling", "pair", "in part"};

// What moves the data, by the habits of its messages.
enum class CollectiveLibrary : std::uint8_t {
    unknown,
    nccl,       // WRITEs to memory that the receiver offers by short WRITEs, each ended by a WRITE with immediate
    ucx,        // active messages, and READs or WRITEs between "ready to send" and its acknowledgment
    libfabric,  // the headers of its reliable datagrams over messages (verbs;ofi_rxm)
};
inline constexpr std::array<std::string_view, 4> kCollectiveLibraryNames{"unknown", "NCCL", "UCX", "libfabric"};

// How NCCL moves the data of a message, by the buffers that receivers offer and the lengths of messages.
enum class NcclProtocol : std::uint8_t {
    unknown,
    ll,      // a flag behind each word of four bytes
    ll128,   // a flag behind each 120 bytes
    simple,  // data alone
};
inline constexpr std::array<std::string_view, 4> kNcclProtocolNames{"unknown", "LL", "LL128", "Simple"};

// What the ranks compute together, by what each sends on of what it received.
enum class CollectiveOperation : std::uint8_t {
    unknown,
    all_reduce,
};
inline constexpr std::array<std::string_view, 2> kCollectiveOperationNames{"unknown", "all-reduce"};

struct CollectiveRank {
    Address address;
    std::optional<std::uint32_t> number{};  // as the library counts ranks: from offers, or from its log
    std::uint64_t sent = 0;                 // bytes of data
    std::uint64_t received = 0;
    double rate = 0;                 // bit/s from the first to the last packet of its messages; 0: not known
    std::uint64_t started_last = 0;  // steps in which the others waited for it to begin
    std::uint64_t ended_last = 0;    // steps in which it was the last to finish, well behind the others
};

struct CollectiveStep {
    dissect::Instant begin{};
    dissect::Duration length{};  // first to last packet of data
    std::uint64_t bytes = 0;
    dissect::FrameIndex frame{};
    std::optional<std::uint32_t> last;  // the rank that started last, where the others had to wait for it
    dissect::Duration waited{};         // from the last but one until it started
    std::uint8_t certainty = 0;  // percent: that it was this rank; 0: nothing is said, or by the order of bursts alone
    bool whole = true;           // nothing of it is missing in the capture, as far as that shows
    std::vector<std::optional<dissect::Instant>> begun{};  // by rank, where offers tell: when it started
};

// Why the others wait for a rank.
enum class CollectiveDelay : std::uint8_t {
    starts,  // it begins last: it computes, or waits for something else
    ends,    // it ends last
    sends,   // its packets take longer than those of the others
};
inline constexpr std::array<std::string_view, 3> kCollectiveDelayNames{"starts", "ends", "sends"};

struct CollectiveStraggler {
    std::uint32_t rank = 0;  // of Collective::ranks
    CollectiveDelay delay{};
    std::uint64_t steps = 0;      // in which it did; of one that sends slowly: all
    std::uint64_t of = 0;         // steps that were judged
    dissect::Duration waited{};   // for it, in these steps together
    std::uint8_t share = 0;       // of the time of all judged steps, percent
    std::uint8_t confidence = 0;  // percent: of steps, less what chance would give
    std::vector<dissect::FrameIndex> frames;
};

struct CollectiveIncast {
    std::uint32_t rank = 0;     // who receives
    std::uint32_t senders = 0;  // at the same time, at most
    std::uint64_t steps = 0;
    std::uint64_t of = 0;
    std::uint64_t bytes = 0;  // received in these steps
    std::vector<dissect::FrameIndex> frames;
};

struct Collective {
    CollectivePattern pattern{};
    CollectiveLibrary made_by{};
    std::uint8_t certainty = 0;  // percent
    CollectiveOperation operation{};
    NcclProtocol protocol{};
    std::uint32_t members = 0;   // ranks of the job, also those that the capture does not show; 0: not known
    std::uint32_t channels = 0;  // of NCCL, as its log says; 0: not known
    std::uint64_t connections = 0;
    std::vector<CollectiveRank> ranks;  // by address
    std::vector<std::uint32_t> chain;   // of a ring: from each to the next, as far as it was seen; of places in `ranks`
    std::vector<CollectiveStep> steps;  // in order, at most kMaxCollectiveSteps
    DurationSummary step_length;
    DurationSummary between;       // the end of a step to the beginning of the next
    std::uint64_t bytes = 0;       // of data, all steps and what is none
    std::uint64_t step_bytes = 0;  // of a typical step
    double bus_rate = 0;           // bit/s that each rank sends during steps
    double algorithm_rate = 0;     // bit/s of the result: of an all-reduce in rings and trees; 0 where nothing tells
    std::optional<CollectiveStraggler> straggler;
    std::optional<CollectiveIncast> incast;
    dissect::FrameIndex first_frame{};
};

struct CollectiveReport {
    std::vector<Collective> collectives;  // the largest first
    std::uint64_t left_out = 0;           // groups past our bounds
    std::uint64_t packets_left_out = 0;   // of hosts and connections past our bounds
};

[[nodiscard]] std::string_view name(CollectivePattern pattern);
[[nodiscard]] std::string_view name(CollectiveLibrary library);
[[nodiscard]] std::string_view name(CollectiveOperation operation);
[[nodiscard]] std::string_view name(NcclProtocol protocol);

}  // namespace qps::transport
