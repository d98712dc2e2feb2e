// The one table of names that were renamed: ids of findings, options, columns, names and words of JSON. Findings and
// options are still accepted by their old names for a release; what is printed has the new names alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace qps::transport {

inline constexpr std::string_view kRenamedIn = "0.2.0";
inline constexpr std::string_view kAcceptedUntil = "0.3";

enum class RenamedKind : std::uint8_t {
    finding,  // id; accepted in filters (rdma.finding) and by --finding
    option,   // of the commands in `where`, between spaces; accepted
    column,   // of the table `where`: CSV, TSV, JSON, SQLite
    json,     // member of the document `where`, by its path
    word,     // value of the member `where` of a document
};

struct Renamed {
    RenamedKind kind{};
    std::string_view where{};
    std::string_view old_name{};
    std::string_view new_name{};
};
[[nodiscard]] std::span<const Renamed> renamed_names();

// The row of an id of a finding that was renamed; nullptr: it is none.
[[nodiscard]] const Renamed* renamed_finding(std::string_view id);
// The row of an option of that command, with its dashes.
[[nodiscard]] const Renamed* renamed_option(std::string_view command, std::string_view option);

// The id of today: `id` itself unless it was renamed.
[[nodiscard]] std::string_view current_finding(std::string_view id);

// "'iwarp-sent-again' is now 'iwarp-retransmission': the old name is accepted until 0.3"
[[nodiscard]] std::string sentence(const Renamed& renamed);

}  // namespace qps::transport
