// Options of the inputs: UDP ports that carry RoCE, the IP protocol of Ultra Ethernet, what is known beside them,
// clocks of several files.
#pragma once

#include <cli/options.hpp>

#include <string>

namespace CLI {
class App;
}

namespace qps::cli {

void add_protocol_numbers(CLI::App& app, Options& options);
void use_protocol_numbers(const Options& options);
// What the user knows beside the capture: ranks of NCCL, hosts that take packets in any order.
void add_knowledge(CLI::App& app, Options& options);
void add_clocks(CLI::App& app, Options& options);
// What is wrong with clocks, once the files are known; empty: nothing.
[[nodiscard]] std::string wrong_clocks(const Options& options);

}  // namespace qps::cli
