// The program that reads captures.
#pragma once

namespace qps::cli {

// Exit code of the process.
[[nodiscard]] int run_reading(int argc, char** argv);

}  // namespace qps::cli
