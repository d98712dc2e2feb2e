// Both programs in one file: it is qpscope, and qpscope-live by that name or for the commands that qpscope would
// execute it for.
#include <cli/live/live_commands.hpp>
#include <cli/reading.hpp>
#include <cli/wire_program.hpp>

#include <string_view>

int main(int argc, char** argv) {
    std::string_view name = argc > 0 ? argv[0] : "";
    name.remove_prefix(name.rfind('/') + 1);
    if (name == "qpscope-live" || qps::cli::names_wire_command(argc, argv)) return qps::cli::run_live(argc, argv);
    return qps::cli::run_reading(argc, argv);
}
