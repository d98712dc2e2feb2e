// AnalysisPart: what an analysis found out of some of the pairs of hosts of a capture, or of captures of several hosts,
// as a value that is kept in a file (docs/parts.md) and joined with the others: joined they are the whole, whatever the
// order in which they were joined.
//
// What an attacker could feed read_part(): any bytes. They are checked before they are used: length, checksum, version,
// shape, then every number and every reference between them. What would be built of them is measured before it is, and
// counted over all parts that are read for the same PartRoom.
#pragma once

#include <transport-replay/analysis/part_report.hpp>
#include <transport-replay/checks/passive/passive_record.hpp>

#include <algorithm>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport {

struct NcclLog;
struct Timeline;

// What all parts of one capture have in common.
struct PartOrigin {
    std::string host;                 // that captured it; empty: it is not joined with captures of others
    std::vector<std::string> inputs;  // names of its files, as the user gave them
    std::uint64_t frames = 0;         // in all of them
    std::string settings;             // the options that decide what is found
    std::uint32_t of = 1;             // parts that there are
    bool damaged = false;             // an input was, or was cut off: its readable part was analysed
};

// What is there of one capture.
struct CapturePart {
    PartOrigin origin;
    std::vector<std::uint32_t> numbers;  // which of the parts it has, ascending from 1
    PartReport report;
    std::optional<conformance::PassiveRecord> checks;  // what the passive suite saw, where it was asked for
};

struct AnalysisPart {
    std::vector<CapturePart> captures;   // at least one; several: of hosts, by their names, each once
    [[nodiscard]] bool damaged() const;  // an input of any was
};

inline constexpr std::size_t kLongestHostName = 256;

// All of it, as a file has it. `version`: of the program.
[[nodiscard]] std::string write_part(const AnalysisPart& part, std::string_view version);

// Why a part cannot be read, or parts not be joined: one sentence, without a name of a file.
struct PartProblem {
    std::string sentence;
    bool damaged = false;  // it was a part, and is not whole
    bool no_room = false;  // it may be, and there is no room for it: PartRoom says how much it takes
};

// The memory for parts that are read one after the other, joined and concluded.
class PartRoom {
public:
    explicit PartRoom(std::uint64_t most) : most_(most) {}

    // What is there of the parts so far, joined (JoinedParts::built()); before the next is read.
    void keep(std::uint64_t built) { kept_ = built; }
    // Whether another part fits: `unpacked` bytes of which `built` are made. Where one did not, none after it does:
    // then what all of them need is known at the end.
    [[nodiscard]] bool take(std::uint64_t unpacked, std::uint64_t built);
    // Likewise where it is too large to be looked at.
    void refuse(std::uint64_t unpacked);
    // Bytes for one that is unpacked, beside what is kept; where one did not fit, nothing needs to be kept any more.
    [[nodiscard]] std::uint64_t left() const;
    // "needs 900 MiB: raise --memory"; "needs more than" where not all of it was looked at. Where everything fits:
    // none.
    [[nodiscard]] std::string sentence() const;
    [[nodiscard]] bool exceeded() const { return needed_ > most_; }
    [[nodiscard]] std::uint64_t needed() const { return needed_; }

private:
    std::uint64_t most_ = 0;
    std::uint64_t kept_ = 0;     // bytes, of what was joined
    std::uint64_t waiting_ = 0;  // of parts that found no room
    std::uint64_t needed_ = 0;   // at once, at worst so far
    bool unseen_ = false;        // of one it is not known how much it takes
};

// Whether a file may be a part, by its first bytes; kMagicBytes of them are enough.
inline constexpr std::size_t kMagicBytes = 8;
[[nodiscard]] bool begins_as_part(std::string_view bytes);
// "not a part of an analysis: ...".
[[nodiscard]] PartProblem no_part();

[[nodiscard]] std::expected<AnalysisPart, PartProblem> read_part(std::string_view bytes, std::string_view version,
                                                                 PartRoom& room);
// One alone; `most`: bytes of memory that it may take.
[[nodiscard]] std::expected<AnalysisPart, PartProblem> read_part(std::string_view bytes, std::string_view version,
                                                                 std::uint64_t most);

// What is in a part, unpacked: read_part() ends with it. For fuzzers, which do not get past a checksum.
[[nodiscard]] std::string part_body(const AnalysisPart& part);
[[nodiscard]] std::expected<AnalysisPart, PartProblem> read_part_body(std::string_view body);

// At least one. Connections are numbered in the order of each capture again.
[[nodiscard]] std::expected<AnalysisPart, PartProblem> join(std::vector<AnalysisPart> parts);

// Parts that are joined while others are still to be read: what they have in common is there once.
class JoinedParts {
public:
    [[nodiscard]] std::optional<PartProblem> add(AnalysisPart part);
    [[nodiscard]] std::uint64_t built() const;  // bytes of memory
    // All of them; at least one.
    [[nodiscard]] std::expected<AnalysisPart, PartProblem> finish();

private:
    struct Pile {
        AnalysisPart part;
        std::uint64_t parts = 0;
        std::uint64_t built = 0;
    };
    std::vector<Pile> piles_;
};

// Numbers of parts that it lacks of a capture; none: it is the whole.
[[nodiscard]] std::vector<std::uint32_t> missing(const CapturePart& part);
// What the analysis of the whole capture would have said; of captures of hosts, what they say together
// (parts/joined_hosts.hpp). `unordered`: as in AnalysisSettings.
[[nodiscard]] Timeline conclude(AnalysisPart&& part, const NcclLog& log, std::vector<Address> unordered = {});

}  // namespace qps::transport
