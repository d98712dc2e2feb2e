// An agent that lies: what it is asked becomes something else before it hears it, and what it says before anybody does.
#pragma once

#include <transport-replay/conformance/stage/agent_channel.hpp>

#include <map>
#include <memory>

namespace qps::tests {

struct Lie {
    std::function<void(transport::conformance::agent::Request&)> asked{};
    std::function<void(const transport::conformance::agent::Request&, transport::conformance::agent::ParsedAnswer&)>
        answered{};
};

// `inside` with the lie before it.
inline transport::conformance::stage::AgentChannel lying(transport::conformance::stage::AgentChannel inside, Lie lie) {
    namespace agent = transport::conformance::agent;
    if (!lie.asked && !lie.answered) return inside;
    auto open = std::make_shared<std::map<std::uint32_t, agent::Request>>();
    const auto ask = inside.ask;
    const auto take = inside.take_answer;
    inside.ask = [=](const agent::Request& request) {
        agent::Request heard = request;
        if (lie.asked) lie.asked(heard);
        const std::uint32_t sequence = ask(heard);
        (*open)[sequence] = std::move(heard);
        return sequence;
    };
    inside.take_answer = [=](std::uint32_t sequence) {
        auto answer = take(sequence);
        const auto request = open->find(sequence);
        if (!answer || request == open->end()) return answer;
        if (lie.answered) lie.answered(request->second, *answer);
        open->erase(request);
        return answer;
    };
    return inside;
}

}  // namespace qps::tests
