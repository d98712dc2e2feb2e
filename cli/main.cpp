// qpscope: the commands that read captures; for those that speak on a wire it becomes qpscope-live.
#include <cli/reading.hpp>
#include <cli/wire_program.hpp>

#include <string_view>

int main(int argc, char** argv) {
    static char help[] = "--help";
    if (argc == 3 && std::string_view(argv[1]) == "help") {  // `qpscope help info`
        argv[1] = argv[2];
        argv[2] = help;
    }
    if (qps::cli::names_wire_command(argc, argv)) return qps::cli::execute_wire_program(argv);
    return qps::cli::run_reading(argc, argv);
}
