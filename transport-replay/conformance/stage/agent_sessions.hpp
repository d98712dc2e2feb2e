// AgentSessions: whom a live tester asks: the agent beside the device, over TCP, and one over the endpoint's own
// adapter.
//
//   auto sessions = AgentSessions::open("10.77.0.11", agent::kAgentPort);           // no host: there is no agent
//   beside the device Stage stage(settings, (*sessions)->device(), (*sessions)->us());           // channels point to
//   the sessions, which stay where they are
//
// Whatever an agent says is its client's to judge. A session that is over can be begun anew: a device that died may
// come back.
#pragma once

#include <transport-replay/conformance/agent/agent_connection.hpp>
#include <transport-replay/conformance/agent/agent_over_verbs.hpp>
#include <transport-replay/conformance/stage/agent_channel.hpp>
#include <transport-replay/live/peers/program.hpp>

#include <memory>

namespace qps::transport::conformance::stage {

class AgentSessions {
public:
    // Fails where the agent's name is nobody's.
    [[nodiscard]] static std::expected<std::unique_ptr<AgentSessions>, std::string> open(
        const std::string& host, std::uint16_t port, const std::string& secret = {});
    AgentSessions(const AgentSessions&) = delete;
    AgentSessions& operator=(const AgentSessions&) = delete;

    [[nodiscard]] AgentChannel device();
    [[nodiscard]] AgentChannel us();

    // Hears and says what there is; never waits.
    void drive();
    // Our own agent has its turn. Whether it has answered now.
    bool poll(live::Endpoint& endpoint, dissect::Instant now);
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const { return used_ ? agent_.poll_at() : std::nullopt; }
    // What our own agent made is gone.
    void reset(live::Endpoint& endpoint, dissect::Instant now);
    [[nodiscard]] std::vector<live::Watched> watched() const;

private:
    [[nodiscard]] std::string problem_of_device() const;
    AgentSessions(std::string host, std::uint16_t port, std::string secret)
        : host_(std::move(host)), port_(port), secret_(std::move(secret)) {}

    std::string host_;
    std::uint16_t port_;
    std::string secret_;
    std::optional<agent::AgentConnection> device_;
    agent::AgentOverVerbs agent_;
    agent::AgentClient client_;
    std::string heard_;
    bool used_ = false;  // who was never asked keeps the endpoint's events
};

}  // namespace qps::transport::conformance::stage
