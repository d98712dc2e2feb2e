// A verdict to hand on: as one HTML file without anything from elsewhere, or as a ticket in Markdown.
#pragma once

#include <transport-replay/casework/verdict.hpp>

#include <string>
#include <string_view>

namespace qps::casework {

// `version`: of the program. Every text of the case is escaped for where it stands.
void append_page(std::string& out, const Case& read, const Verdict& verdict, std::string_view version);
void append_ticket(std::string& out, const Case& read, const Verdict& verdict);

}  // namespace qps::casework
