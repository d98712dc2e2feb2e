// The options of `send`: packets as lines, what is expected back.
#pragma once

#include <dissect/base/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace qps::cli {

struct SendOptions {
    std::vector<std::string> packets;           // lines; with `from`, what is different in its packet
    std::vector<std::string> expected;          // lines, in order
    std::optional<dissect::Duration> patience;  // for an expected packet; where none is: listens so long
    std::uint64_t count = 1;
    std::string from;         // a capture
    std::uint64_t frame = 0;  // of it; 0: the first RDMA packet
};

void add_send_options(CLI::App& app, SendOptions& options);

}  // namespace qps::cli
