// The options of commands that read captures.
#pragma once

// NOLINTNEXTLINE(readability-identifier-naming): the library calls itself so
namespace CLI {
class App;
}

namespace qps::cli {

struct Command;
struct Options;

void add_reading_options(CLI::App& app, const Command& command, Options& options);

}  // namespace qps::cli
