// AnalysisPart: what an analysis found out of some of the pairs of hosts of a capture, or of captures of several hosts, as a value that is
// kept in a file (docs/parts.md) and joined with the others: joined they are the whole, whatever the order in which they were joined.
//
// What an attacker could feed read_part(): any bytes. They are checked before they are used: length, checksum, version, shape, then every
// number and every reference between them. Memory is in proportion to the bytes, of which there are at most `most`.
#pragma once

#include <transport-replay/analysis/part_report.hpp>
#include <transport-replay/checks/passive/passive_record.hpp>

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
    std::vector<CapturePart> captures;  // at least one; several: of hosts, by their names, each once
    [[nodiscard]] bool damaged() const;  // an input of any was
};

inline constexpr std::size_t kLongestHostName = 256;

// All of it, as a file has it. `version`: of the program.
[[nodiscard]] std::string write_part(const AnalysisPart& part, std::string_view version);

// Why a part cannot be read, or parts not be joined: one sentence, without a name of a file.
struct PartProblem {
    std::string sentence;
    bool damaged = false;  // it was a part, and is not whole
};

// `most`: bytes that it may take when it is unpacked.
[[nodiscard]] std::expected<AnalysisPart, PartProblem> read_part(std::string_view bytes, std::string_view version, std::size_t most);

// What is in a part, unpacked: read_part() ends with it. For fuzzers, which do not get past a checksum.
[[nodiscard]] std::string part_body(const AnalysisPart& part);
[[nodiscard]] std::expected<AnalysisPart, PartProblem> read_part_body(std::string_view body);

// At least one. Connections are numbered in the order of each capture again.
[[nodiscard]] std::expected<AnalysisPart, PartProblem> join(std::vector<AnalysisPart> parts);

// Numbers of parts that it lacks of a capture; none: it is the whole.
[[nodiscard]] std::vector<std::uint32_t> missing(const CapturePart& part);
// What the analysis of the whole capture would have said; of captures of hosts, what they say together (parts/joined_hosts.hpp).
// `unordered`: as in AnalysisSettings.
[[nodiscard]] Timeline conclude(AnalysisPart&& part, const NcclLog& log, std::vector<Address> unordered = {});

}  // namespace qps::transport
