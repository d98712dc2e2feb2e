// What `replay` takes: frames again, or one end of a recorded connection (--as).
#pragma once

#include <cli/exit_code.hpp>
#include <cli/live/options/conversation_options.hpp>
#include <cli/live/options/wire_options.hpp>
#include <cli/options/reading_options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace qps::cli {

struct ReplayOptions {
    ReadingOptions reading;
    WireOptions wire;  // -i and -w are those of what is replayed, frames or a connection
    OutputOptions output;
    double speed = 1;                   // of the recorded time
    bool fast = false;                  // as fast as it goes
    std::uint64_t loops = 1;            // 0: until interrupted
    std::vector<std::string> rewrites;  // rules
    ConversationOptions conversation;   // --as

    void add(OptionTable& table);
};

[[nodiscard]] ExitCode run_replay_conversation(const ReplayOptions& options);  // replay --as

}  // namespace qps::cli
