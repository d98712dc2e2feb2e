// AgentOverVerbs: an agent whose device is an Endpoint of ours: the same lines as qpscope-agent, without hardware.
//
//   AgentOverVerbs agent;
//   for (;;) {                                                      // as often as anything is due
//       endpoint.arrive(now); agent.poll(endpoint, now);
//       if (heard) agent.hear("1 qp kind=rc", endpoint, now);       // a line, with or without its end
//       endpoint.depart(now); send(agent.take_output());
//   }
//
// Requests are done in order; one that waits (poll, event, cm_event with `wait`) keeps those behind it waiting, until
// something came or its time is over. The endpoint is the agent's alone: it takes every event. reset() before the
// endpoint outlives the agent: its regions show the agent's memory.
//
// Every line is a stranger's: bounded by the protocol's table, kMostLine and kMostWaiting.
#pragma once

#include <transport-replay/conformance/agent/line.hpp>
#include <transport-replay/live/endpoint.hpp>

#include <deque>
#include <map>
#include <memory>

namespace qps::transport::conformance::agent {

inline constexpr std::size_t kMostWaiting =
    1024;  // lines that wait for the one before them; then the client is too fast
inline constexpr std::size_t kMostEvents = 1024;  // not taken by the client; the oldest go

struct AgentState;  // agent_state.hpp, nobody's but the agent's

class AgentOverVerbs {
public:
    AgentOverVerbs();
    AgentOverVerbs(AgentOverVerbs&&) noexcept;
    AgentOverVerbs& operator=(AgentOverVerbs&&) noexcept;
    ~AgentOverVerbs();

    void hear(std::string_view line, live::Endpoint& endpoint, dissect::Instant now);
    // Takes events, ends waits. After the endpoint's own poll().
    void poll(live::Endpoint& endpoint, dissect::Instant now);
    // When a wait is over of its own accord; kAtOnce where a request can be done now.
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;
    // Answers, each a line with its end.
    [[nodiscard]] std::string take_output();
    // `quit` was said.
    [[nodiscard]] bool quitting() const;
    // Everything that was made is gone, and lines that wait.
    void reset(live::Endpoint& endpoint, dissect::Instant now);

private:
    std::unique_ptr<AgentState> state_;
};

}  // namespace qps::transport::conformance::agent
