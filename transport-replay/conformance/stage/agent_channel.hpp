// Whom a script asks: the agent beside the device (`dut`), and one over our own adapter (`us`), whatever carries the
// session.
//
//   AgentChannel channel{.ask = [&](const agent::Request& request) { return client.ask(request); },
//                  .take_answer = [&](std::uint32_t sequence) { return client.take_answer(sequence); },
//                  .problem = [&] { return client.problem(); }};
//
// The owner of the client moves its bytes. Answers are a stranger's: agent::parse_answer() holds them to the table.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/conformance/agent/line.hpp>

#include <functional>
#include <optional>
#include <string>

namespace qps::transport::conformance::stage {

struct AgentChannel {
    std::function<std::uint32_t(const agent::Request& request)> ask{};  // the request's number; 0: it cannot be asked
    std::function<std::optional<agent::ParsedAnswer>(std::uint32_t sequence)> take_answer{};
    std::function<std::string()> problem{};  // why it will never answer again; empty: it may
    std::function<void()>
        renew{};  // begins another session with it, which is asked from then on; none: there is but one

    [[nodiscard]] bool there() const { return ask != nullptr && take_answer != nullptr; }
};

}  // namespace qps::transport::conformance::stage
