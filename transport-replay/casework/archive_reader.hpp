// Opens archives of a case in memory: gzip and zstd around anything, and the members of tar archives (v7, ustar, GNU
// and pax names).
//
// Nothing is written, and no name that an archive holds is ever opened. All numbers in it are claims of strangers: a
// member has as many bytes as are there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace qps::casework {

struct Unpacked {
    std::string bytes;
    std::string problem;  // a sentence where the data is damaged; what came before it is here
    bool cut = false;     // more than `most`
};
// What gzip or zstd hold, at most so many bytes; nothing for other bytes. Throws std::bad_alloc.
[[nodiscard]] std::optional<Unpacked> unpacked(std::string_view bytes, std::size_t most);

struct TarMember {
    std::string name;         // without "./" before it
    std::string_view bytes;   // of a regular file: those that are there
    std::string_view unread;  // why nothing is read of it: a link, a device, a name that leads elsewhere
    bool cut = false;         // the archive ends inside it
};

class TarReader {
public:
    // By the checksum of its first header; old archives have no magic.
    [[nodiscard]] static bool is_tar(std::string_view bytes);
    explicit TarReader(std::string_view bytes) : bytes_(bytes) {}
    // The next file, link or device; folders are passed over. Nothing at the end, or where damage is.
    [[nodiscard]] std::optional<TarMember> next();
    // A sentence on what is wrong with the archive; empty: nothing.
    [[nodiscard]] const std::string& problem() const { return problem_; }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    std::string problem_;
};

}  // namespace qps::casework
