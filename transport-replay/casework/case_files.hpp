// The files of a case: which ones a folder has, and how each is given to the reader.
//
// Names are listed first and links are not followed, so that a process can list, give up its rights, and read. A file
// that changes while it is read is read as far as it is there.
#pragma once

#include <transport-replay/casework/case_reader.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace qps::casework {

struct FoundFile {
    std::string path;
    std::string name;  // below the folder of the case
};

// All regular files below a folder, in the order of their names, at most 16 folders deep; no more than `most` are in
// the list in the end.
void list_folder(const std::string& folder, std::size_t most, std::vector<FoundFile>& files);
// What a user named: a folder or a file. False: there is none of that name.
[[nodiscard]] bool list_input(const std::string& input, std::size_t most, std::vector<FoundFile>& files);

enum class Taken : std::uint8_t { whole, unreadable, became_shorter };
// Gives a file to the reader, a capture by its path. `most`: bytes that are read of one that cannot be mapped; mapped
// ones are read to their end.
[[nodiscard]] Taken take_file(const FoundFile& found, std::size_t most, CaseReader& reader);

}  // namespace qps::casework
