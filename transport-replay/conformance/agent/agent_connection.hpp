// AgentConnection: an AgentClient and the TCP connection to its agent. System calls are those of live/exchange.
//
//   auto agent = AgentConnection::connect("10.77.0.11", kAgentPort, secret);    // empty: the agent must ask for none
//   const auto asked = agent->client().ask({Verb::hello, {}});
//   for (;;) { agent->drive(); if (auto answer = agent->client().take_answer(asked)) ...; poll(agent->descriptor(),
//   ...) }
//
// How long to wait for an answer is the caller's business: a device that died may take its agent with it.
#pragma once

#include <transport-replay/conformance/agent/agent_client.hpp>
#include <transport-replay/live/exchange/exchange_connection.hpp>

namespace qps::transport::conformance::agent {

class AgentConnection {
public:
    [[nodiscard]] static std::expected<AgentConnection, live::Problem> connect(const std::string& host,
                                                                               std::uint16_t port = kAgentPort,
                                                                               const std::string& secret = {}) {
        auto connection = live::ExchangeConnection::connect(host, port);
        if (!connection) return std::unexpected(connection.error());
        AgentConnection agent(std::move(*connection));
        if (!secret.empty()) agent.client_.prove(secret);
        return agent;
    }

    // Hears what is there and says what is to be said; never waits.
    void drive() {
        connection_.drive(client_);
        if (const auto& problem = connection_.problem(); problem && client_.problem().empty()) client_.closed();
    }
    [[nodiscard]] AgentClient& client() { return client_; }
    [[nodiscard]] int descriptor() const { return connection_.descriptor(); }
    [[nodiscard]] bool wants_to_read() const { return !connection_.finished() && connection_.wants_to_read(); }
    [[nodiscard]] bool wants_to_write() const { return !connection_.finished() && connection_.wants_to_write(); }
    // Nothing more will be answered; why.
    [[nodiscard]] bool finished() const { return connection_.finished(); }
    [[nodiscard]] bool lost() const {
        return connection_.problem().has_value();
    }  // the connection: it is not the agent that objects
    [[nodiscard]] std::string problem() const {
        return connection_.problem() ? connection_.problem()->sentence : client_.problem();
    }

private:
    explicit AgentConnection(live::ExchangeConnection connection) : connection_(std::move(connection)) {}

    live::ExchangeConnection connection_;
    AgentClient client_;
};

}  // namespace qps::transport::conformance::agent
