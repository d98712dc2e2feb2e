// agent_walk A B: goes the walk of tests/conformance/agent.walk with two agents that serve at [ADDRESS@]HOST[:PORT];
// ADDRESS is that of the device, where it is not the host's. Prints what they answer otherwise than the walk says, and
// how many requests there were; exit code 1 where there was something. agent_walk --noise A COUNT SEED: requests at
// random; what counts is that each is answered, and that the agent lives. Before either: --secret FILE, that the agents
// share. With AGENT_WALK_TALK set: also everything that is said, on standard error.
#include <tests/support/agent_walk.hpp>
#include <transport-replay/conformance/agent/agent_connection.hpp>
#include <transport-replay/conformance/agent/secret.hpp>

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
                           answer->ok ? write_answer(sequence, answer->fields)
                                      : write_refusal(sequence, answer->error, answer->text));
            return *answer;
        }
        if (agent.finished()) return std::unexpected(agent.problem());
        pollfd waited{agent.descriptor(), static_cast<short>(agent.wants_to_write() ? POLLIN | POLLOUT : POLLIN), 0};
        if (poll(&waited, 1, kPatienceMs) == 0) return std::unexpected("there is no answer");
    }
}

struct Where {
    std::string device;  // its address
    std::string host;
    std::uint16_t port;
};
Where where_of(const std::string& word) {
    const std::string where = word.substr(word.find('@') + 1);  // all of it where there is none
    const std::string host = where.substr(0, where.find(':'));
    const auto port = where.contains(':') ? text_of::number(where.substr(host.size() + 1)) : kAgentPort;
    return {word.contains('@') ? word.substr(0, word.find('@')) : host, host,
            static_cast<std::uint16_t>(port.value_or(0))};
}

int make_noise(AgentConnection& agent, const std::string& address, std::uint64_t count, std::uint64_t seed) {
    std::mt19937 draw(static_cast<std::mt19937::result_type>(seed));
    std::size_t done = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Request request = qps::tests::drawn_request(draw, address);
        const auto answer = ask(agent, request);
        if (!answer) {
            fmt::print("request {}, {}: {}\n", i, write_request(1, request), answer.error());
            return 1;
        }
        done += answer->ok ? 1U : 0U;
    }
    const auto reset = ask(agent, {Verb::reset, {}});
    fmt::print("{} requests, {} could be done\n", count, done);
    return reset && reset->ok ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
    std::string secret;
    if (count > 2 && words[1] == std::string_view("--secret")) {
        std::string why;
        const auto found = read_secret(words[2], why);
        if (!found) {
            fmt::print(stderr, "agent_walk: {}\n", why);
            return 2;
        }
        secret = *found;
        count -= 2;
        words += 2;
    }
    const bool noise = count == 5 && words[1] == std::string_view("--noise");
    if (count != 3 && !noise) {
        std::fputs(
            "Usage: agent_walk [--secret FILE] [ADDRESS@]HOST[:PORT] [ADDRESS@]HOST[:PORT]\n       agent_walk [--secret FILE] --noise [ADDRESS@]HOST[:PORT] COUNT SEED\n",
            stderr);
        return 2;
    }
    qps::tests::AgentWalk walk;
    std::map<char, AgentConnection> agents;
    for (const char name : {'a', 'b'}) {
        if (noise && name == 'b') break;
        const Where where = where_of(words[noise ? 2 : name - 'a' + 1]);
        auto agent = AgentConnection::connect(where.host, where.port, secret);
        if (!agent) {
            fmt::print(stderr, "agent_walk: {}: {}\n", where.host, agent.error().sentence);
            return 2;
        }
        walk.values[std::string(1, name)] = where.device;
        agents.emplace(name, std::move(*agent));
    }
    if (noise)
        return make_noise(agents.at('a'), walk.values["a"], text_of::number(words[3]).value_or(0),
                          text_of::number(words[4]).value_or(0));
    const auto wrong = walk.go(qps::tests::agent_walk_text(),
                               [&](char agent, const Request& request) { return ask(agents.at(agent), request); });
    for (const std::string& each : wrong) fmt::print("{}\n", each);
    fmt::print("{} requests, {} answered otherwise\n", walk.asked, wrong.size());
    return wrong.empty() ? 0 : 1;
}
