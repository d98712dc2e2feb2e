// Reads the files of a case into values: opens archives, splits text into lines, tells binaries and captures apart,
// gives each line to the table of readers, and says at the end whose every file is.
//
// Anything may stand in a file: a line of a gigabyte, bytes of no text, UTF-16. Lines are read up to kMostLine bytes,
// and what is kept is bounded by readers.hpp.
#pragma once

#include <transport-replay/casework/evidence.hpp>

#include <string>
#include <string_view>

namespace qps::casework {

inline constexpr std::size_t kMostLine = 16 * 1024;  // bytes of a line that readers see
inline constexpr std::size_t kMostFiles = 100'000;   // members of archives are files, too
inline constexpr std::size_t kMostUnpacked = 64U << 20U;

class CaseReader {
public:
    // `most`: bytes that a compressed file may grow to.
    explicit CaseReader(std::size_t most = kMostUnpacked) : most_(most) {}
    // `name`: below the folder of the case. `bytes`: of the file, all or its beginning. The members of a tar archive
    // become files "name/member"; archives among them stay shut.
    void read(std::string name, std::string_view bytes, bool cut = false);
    // Ties values to hosts; the reader is empty then.
    [[nodiscard]] Case end();

private:
    // A new file of the case, or nothing where there are too many.
    CaseFile* add(std::string name, bool cut);
    void read_members(const std::string& archive, std::string_view bytes);
    void read_text(std::string name, std::string_view bytes, bool cut);

    Case case_;
    std::size_t most_;
    std::size_t quoted_ = 0;  // bytes of lines that are kept for quoting
};

}  // namespace qps::casework
