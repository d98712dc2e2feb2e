// What the name of a file says: whose it is, and whether it was made before or after.
#pragma once

#include <transport-replay/casework/evidence.hpp>

#include <string>
#include <string_view>

namespace qps::casework {

[[nodiscard]] std::string_view base_name(std::string_view name);
// By words between dots, dashes, underscores and slashes.
[[nodiscard]] Phase phase_of(std::string_view name);
// The name without what tells before from after: what two dumps have alike.
[[nodiscard]] std::string group_of(std::string_view name);
// "node-a.dmesg" -> "node-a"; "hosts/node-a/dmesg" -> "node-a"; "note.txt" -> "".
[[nodiscard]] std::string host_in_name(std::string_view name);

}  // namespace qps::casework
