// What a user may ask of `check`, and of whatever else gives verdicts.
#pragma once

#include <transport-replay/checks/catalogue.hpp>

#include <optional>
#include <string>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): the library calls itself so
namespace CLI {
class App;
}

namespace qps::cli {

enum class CheckFormat { table, json, junit, html };

struct CheckOptions {
    CheckFormat format = CheckFormat::table;
    std::string profile;            // path
    std::vector<std::string> only;  // ids; none: all
    std::string evidence;           // a folder for the packets of each failed check
    std::string compare;            // an earlier report in JSON
    bool all = false;               // a table lists every check
    // Failures as bad as this decide the exit code; nothing: none does.
    std::optional<transport::conformance::CheckSeverity> fail_on = transport::conformance::CheckSeverity::medium;
};

void add_check_options(CLI::App& app, CheckOptions& options);

}  // namespace qps::cli
