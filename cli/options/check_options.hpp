// What a user may ask of `check`, and of whatever else gives verdicts.
#pragma once

#include <transport-replay/checks/catalogue.hpp>
#include <transport-replay/model/address.hpp>

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
    std::string profile;                       // path
    bool quick = false;                        // conform: checks of severity high alone
    std::vector<std::string> only;             // ids; none: all
    std::string evidence;                      // a folder for the packets of each failed check
    std::string compare;                       // an earlier report in JSON
    bool all = false;                          // a table lists every check
    std::optional<transport::Address> device;  // of a capture: judge what it did alone
    // Failures as bad as this decide the exit code; nothing: none does.
    std::optional<transport::conformance::CheckSeverity> fail_on = transport::conformance::CheckSeverity::medium;
};

// Whom a command judges: a capture, in which there may be others than the device; a device; or what is in parts of a
// capture, where --format and --fail-on are those of several commands (take_check_format(), take_check_level()), and
// packets are not at hand.
enum class Judged { capture, device, parts };
void add_check_options(CLI::App& app, CheckOptions& options, Judged judged);

// What --format and --fail-on say; CLI11's error where it is no such word.
void take_check_format(CheckOptions& options, const std::string& word);
void take_check_level(CheckOptions& options, const std::string& word);

}  // namespace qps::cli
