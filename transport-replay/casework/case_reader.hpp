// Reads the files of a case into values: opens archives, splits text into lines, tells binaries and captures apart,
// gives each line to the table of readers, and says at the end whose every file is and what its captures show.
//
// Anything may stand in a file: a line of a gigabyte, bytes of no text, UTF-16. Lines are read up to kMostLine bytes,
// and what is kept is bounded by the memory that is granted (case_memory.hpp).
#pragma once

#include <transport-replay/casework/case_memory.hpp>
#include <transport-replay/casework/evidence.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace qps::casework {

inline constexpr std::size_t kMostLine = 16 * 1024;  // bytes of a line that readers see

class CaseReader {
public:
    explicit CaseReader(CaseMemory memory = CaseMemory{});
    CaseReader(CaseReader&&) noexcept;
    CaseReader& operator=(CaseReader&&) noexcept;
    ~CaseReader();

    // `name`: below the folder of the case. `bytes`: of the file, all or its beginning. The members of a tar archive
    // become files "name/member"; archives among them stay shut.
    void read(std::string name, std::string_view bytes, bool cut = false);
    // A capture that is opened when the rest was read. `path`: of the file, which end() opens.
    void read_capture(std::string name, std::string path);
    // Tells of each text, before its lines are read: what it is called, and all that is read of it.
    void listen(std::function<void(const std::string& name, std::string_view text)> listener);
    // Whether these bytes begin a capture, packed or not.
    [[nodiscard]] static bool is_capture(std::string_view bytes);
    // Ties values to hosts and analyses captures; the reader is empty then.
    [[nodiscard]] Case end();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace qps::casework
