// The table of lines that say by themselves what is wrong: which words find the line, which pattern reads it, and what
// it means. A rule of its own is for what needs more than one line.
#pragma once

#include <transport-replay/casework/verdict.hpp>

#include <span>
#include <string_view>

namespace qps::casework {

struct Notice {
    std::string_view id;        // of its claim
    std::string_view producer;  // of the log; empty: the one of the line's prefix
    std::string_view words;     // lines without them are not looked at
    std::string_view pattern;   // RE2, with the groups of a Signature
    Weight weight;              // where nothing else failed
    Weight beside;              // beside a failure that it does not explain by itself
    Party party;                // of a claim that is shown
    std::string_view says;  // a template over facts of the first line: {device}, {peer}, {operation}, {text}, {number}
    std::string_view command;
    std::string_view seen;
    std::string_view means;
    std::string_view other;
    bool of_peer = false;  // the host that matters is the peer that the line names
    bool first = false;    // before the signatures of events, which would take the line as one of theirs
};

// All rows. Event::notice is a place in them.
[[nodiscard]] std::span<const Notice> notices();
// By what the lines are of: each in a source of its own.
[[nodiscard]] std::span<const Notice> host_notices();
[[nodiscard]] std::span<const Notice> fabric_notices();
[[nodiscard]] std::span<const Notice> job_notices();

}  // namespace qps::casework
