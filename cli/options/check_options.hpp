// What a user may ask of `check`, and of whatever else gives verdicts.
#pragma once

#include <cli/options/option_table.hpp>
#include <transport-replay/checks/catalogue.hpp>
#include <transport-replay/model/address.hpp>

#include <optional>
#include <string>
#include <vector>

namespace qps::cli {

enum class CheckFormat { table, json, junit, html };

// Whom a command judges: a capture, in which there may be others than the device; a device; or what is in parts of a
// capture, where --format and --fail-on are those of several commands, and packets are not at hand.
enum class Judged { capture, device, parts };

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

    void add(OptionTable& table, Judged judged);
    // What --format and --fail-on say.
    void take_format(const std::string& word);
    void take_level(const std::string& word);
};

}  // namespace qps::cli
