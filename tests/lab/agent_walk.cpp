// agent_walk A B: goes the walk of tests/conformance/agent.walk with two agents that serve at [ADDRESS@]HOST[:PORT]; ADDRESS is
// that of the device, where it is not the host's.
// Prints what they answer otherwise than the walk says, and how many requests there were; exit code 1 where there was something.
// With AGENT_WALK_TALK set: also everything that is said, on standard error.
#include <tests/support/agent_walk.hpp>
#include <transport-replay/conformance/agent/agent_connection.hpp>

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <poll.h>

using namespace qps::transport::conformance::agent;

namespace {

constexpr int kPatienceMs = 30'000;  // for an answer, waits of the walk included; guests are slow

std::expected<ParsedAnswer, std::string> ask(AgentConnection& agent, const Request& request) {
    const std::uint32_t sequence = agent.client().ask(request);
    for (;;) {
        agent.drive();
        if (auto answer = agent.client().take_answer(sequence)) {
            if (std::getenv("AGENT_WALK_TALK") != nullptr)
                fmt::print(stderr, "{}    {}", write_request(sequence, request),
                           answer->ok ? write_answer(sequence, answer->fields) : write_refusal(sequence, answer->error, answer->text));
            return *answer;
        }
        if (agent.finished()) return std::unexpected(agent.problem());
        pollfd waited{agent.descriptor(), static_cast<short>(agent.wants_to_write() ? POLLIN | POLLOUT : POLLIN), 0};
        if (poll(&waited, 1, kPatienceMs) == 0) return std::unexpected("there is no answer");
    }
}

}  // namespace

int main(int count, char** words) {
    if (count != 3) {
        std::fputs("Usage: agent_walk [ADDRESS@]HOST[:PORT] [ADDRESS@]HOST[:PORT]\n", stderr);
        return 2;
    }
    qps::tests::AgentWalk walk;
    std::map<char, AgentConnection> agents;
    for (const int i : {1, 2}) {
        const std::string word = words[i];
        const std::string where = word.substr(word.find('@') + 1);  // all of it where there is none
        const std::string host = where.substr(0, where.find(':'));
        const auto port = where.contains(':') ? text_of::number(where.substr(host.size() + 1)) : kAgentPort;
        auto agent = AgentConnection::connect(host, static_cast<std::uint16_t>(port.value_or(0)));
        if (!agent) {
            fmt::print(stderr, "agent_walk: {}: {}\n", where, agent.error().sentence);
            return 2;
        }
        const char name = i == 1 ? 'a' : 'b';
        walk.values[std::string(1, name)] = word.contains('@') ? word.substr(0, word.find('@')) : host;
        agents.emplace(name, std::move(*agent));
    }
    const auto wrong =
        walk.go(qps::tests::agent_walk_text(), [&](char agent, const Request& request) { return ask(agents.at(agent), request); });
    for (const std::string& each : wrong) fmt::print("{}\n", each);
    fmt::print("{} requests, {} answered otherwise\n", walk.asked, wrong.size());
    return wrong.empty() ? 0 : 1;
}
