// Two agents over two endpoints of ours on a simulated link, under virtual time, each with the client that asks it.
#pragma once

#include <tests/support/program_pair.hpp>
#include <transport-replay/conformance/agent/agent_client.hpp>
#include <transport-replay/conformance/agent/agent_over_verbs.hpp>

#include <fmt/format.h>

namespace qps::tests {

class AgentWorld {
public:
    explicit AgentWorld(const PairSettings& settings = {}) : pair(settings) {}

    struct Side {
        transport::conformance::agent::AgentOverVerbs agent{};
        transport::conformance::agent::AgentClient client{};
        std::string heard{};
    };

    // Until the answer is there, however long that takes; a sentence where it never comes.
    std::expected<transport::conformance::agent::ParsedAnswer, std::string> ask(
        char which, const transport::conformance::agent::Request& request) {
        Side& asked = which == 'a' ? a : b;
        const std::uint32_t sequence = asked.client.ask(request);
        for (int turns = 0; turns < 200'000; ++turns) {
            const bool due = turn();
            if (auto answer = asked.client.take_answer(sequence)) return *answer;
            if (!asked.client.problem().empty()) return std::unexpected(asked.client.problem());
            if (!due) break;
        }
        return std::unexpected("no answer comes");
    }
    // As a line is typed, without its number.
    std::expected<transport::conformance::agent::ParsedAnswer, std::string> ask(char which, std::string_view line) {
        const auto parsed = transport::conformance::agent::parse_request("1 " + std::string(line));
        if (!parsed.request) return std::unexpected(transport::conformance::agent::write_refusal(parsed));
        return ask(which, *parsed.request);
    }
    // The number that a request is answered with, by key.
    std::uint64_t number(char which, std::string_view line, transport::conformance::agent::Key key) {
        const auto answer = ask(which, line);
        return answer && answer->ok ? answer->fields.number_or(key, 0) : 0;
    }

    // Time moves on, where nobody has just asked something, and everybody has a turn. False: nothing is due ever again.
    bool turn() {
        const bool asked = a.client.open() + b.client.open() > open_;
        if (!asked && !due_) return false;
        if (!asked) pair.now = std::max(pair.now, *due_);
        tend(a, pair.server);
        tend(b, pair.client);
        due_.reset();
        for (const auto& at : {pair.server.poll_at(), pair.client.poll_at(), a.agent.poll_at(), b.agent.poll_at()})
            if (at && (!due_ || *at < *due_)) due_ = at;
        open_ = a.client.open() + b.client.open();
        return true;
    }

    ProgramPair pair;
    Side a;  // at pair.server
    Side b;  // at pair.client

private:
    std::optional<dissect::Instant> due_;
    std::size_t open_ = 0;  // requests, after the last turn

    void tend(Side& side, transport::live::Endpoint& endpoint) {
        for (const std::byte each : side.client.take_output()) {
            side.heard += static_cast<char>(each);
            if (side.heard.back() == '\n') side.agent.hear(std::exchange(side.heard, {}), endpoint, pair.now);
        }
        endpoint.poll(pair.now);
        side.agent.poll(endpoint, pair.now);
        endpoint.depart(pair.now);
        const std::string said = side.agent.take_output();
        side.client.process(std::as_bytes(std::span(said)));
    }
};

}  // namespace qps::tests
