// Options of the commands that speak on a wire, beside those that all commands have.
#pragma once

#include <cli/live/options/conform_options.hpp>
#include <cli/live/options/conversation_options.hpp>
#include <cli/live/options/live_options.hpp>
#include <cli/live/options/send_options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace qps::cli {

struct Command;
struct Options;

struct WireOptions {
    LiveOptions live;
    ConformOptions conform;
    SendOptions send;

    // replay sends frames:
    std::string send_by;                // interface
    double speed = 1;                   // of the recorded time
    bool fast = false;                  // as fast as it goes
    std::uint64_t loops = 1;            // 0: until interrupted
    std::vector<std::string> rewrites;  // rules
    ConversationOptions conversation;   // --as
};

void add_wire_options(CLI::App& app, const Command& command, Options& options);
// Throws CLI11's error for the first option that another one makes useless.
void check_wire_options(const CLI::App& app, const Command& command, const Options& options);

}  // namespace qps::cli
