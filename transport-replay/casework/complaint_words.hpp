// What the words of a complaint mean that no signature reads: programs write their own lines, but "permission denied"
// and errno 110 are the same in all of them. It says what to look at, and never who is at fault.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qps::casework {

struct ComplaintMeaning {
    std::string_view means;    // a clause: "a right is missing"
    std::string_view command;  // what to do next
    std::string_view seen, then, other;
};

// Of the first words of the table that stand in the text; nullptr: none does.
[[nodiscard]] const ComplaintMeaning* meaning_of(std::string_view complaint);
// "errno 110, ETIMEDOUT" for the number that a text gives as an errno; empty: it gives none.
[[nodiscard]] std::string errno_text(std::string_view complaint);
[[nodiscard]] std::string errno_text(std::uint64_t number);  // empty: no errno of the table
// Who says it, without stamps of time and host: "modprobe", "ibrc.cpp"; and what.
struct ComplaintParts {
    std::string program;
    std::string_view text;  // of the line
};
[[nodiscard]] ComplaintParts parts_of(std::string_view line);
// What did not succeed: "modify QP from ERR to INIT" of "failed to modify QP ..."; empty: the text has no such clause.
[[nodiscard]] std::string action_of(std::string_view complaint);
// Whether a line of a program that nobody knows complains: of something that RDMA needs, or of `anything`.
[[nodiscard]] bool is_complaint(std::string_view line, bool anything = false);

}  // namespace qps::casework
