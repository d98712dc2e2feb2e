#include <cli/commands.hpp>
#include <cli/options/command_line.hpp>
#include <cli/reading.hpp>

namespace qps::cli {

int run_reading(int argc, char** argv) {
    return run_program({.commands = commands(), .elsewhere = kWireCommands, .default_command = kDefaultCommand}, argc,
                       argv);
}

}  // namespace qps::cli
