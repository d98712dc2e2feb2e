// The way from qpscope to qpscope-live, the program that speaks on a wire.
#pragma once

namespace qps::cli {

// Whether the first word is one of its commands.
[[nodiscard]] bool names_wire_command(int argc, char** argv);

// Becomes qpscope-live, which lies beside this program or in libexec, with the same arguments. Returns only where that
// fails: an exit code, after a sentence.
[[nodiscard]] int execute_wire_program(char** argv);

}  // namespace qps::cli
