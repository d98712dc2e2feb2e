#include <cli/commands.hpp>
#include <cli/exit_code.hpp>
#include <cli/message.hpp>
#include <cli/wire_program.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <unistd.h>

namespace qps::cli {

bool names_wire_command(int argc, char** argv) {
    return argc > 1 &&
           std::ranges::find(kWireCommands, std::string_view(argv[1]), &CommandName::name) != kWireCommands.end();
}

int execute_wire_program(char** argv) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const fs::path& file : {here / "qpscope-live", here / ".." / "libexec" / "qpscope-live"}) {
        execv(file.c_str(), argv);
        if (errno == ENOENT) continue;
        say("qpscope: {}: {}\n", file.string(), std::strerror(errno));
        return static_cast<int>(ExitCode::usage);
    }
    say("qpscope: '{}' needs qpscope-live, which is neither in {} nor in {}\n", argv[1], here.string(),
        (here / ".." / "libexec").lexically_normal().string());
    return static_cast<int>(ExitCode::usage);
}

}  // namespace qps::cli
