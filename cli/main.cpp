// qpscope: the commands that read captures; for those that speak on a wire it becomes qpscope-live.
#include <cli/reading.hpp>
#include <cli/wire_program.hpp>

int main(int argc, char** argv) {
    if (qps::cli::names_wire_command(argc, argv)) return qps::cli::execute_wire_program(argv);
    return qps::cli::run_reading(argc, argv);
}
