// Writes tar archives (ustar, with pax records for long names): regular files that anybody may read.
#pragma once

#include <string>
#include <string_view>

namespace qps::casework {

// Appends a file; the same bytes for the same file: of no time, of no owner.
void append_tar_file(std::string& out, std::string_view name, std::string_view bytes);
// What ends an archive.
void append_tar_end(std::string& out);

}  // namespace qps::casework
