// A finding as a ticket for the person who must act on it: Markdown that says what happened, what proves it and how far
// the capture can be trusted, for a reader who has nothing but the text and perhaps the capture.
#pragma once

#include <span>
#include <string>

namespace qps::transport {

struct Finding;
struct Timeline;

// `finding` is one of the timeline's; `inputs` are the names of what was read.
void append_ticket(std::string& out, const Timeline& timeline, const Finding& finding,
                   std::span<const std::string> inputs);

// Text that Markdown shows as it is, in one line: control characters are written as \xNN, marks are escaped.
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace qps::transport
