// A walk through the agent's verbs, as text: what two agents are asked and what they must answer. The same walk is gone
// with our own agents over a simulated link and, in the lab, with qpscope-agent on real kernels.
//
//   a mr len=4096 access=write -> $m=mr $va=va      ask agent a; keep two values of the answer
//   b read mr=$m off=0 len=2 -> data==0102           a value must be this
//   a poll qp=$q wait=5000 -> wc~:success:send: #wc==1   some value of a key must contain this; how many there must be
//   a qp_free qp=99 -> error==ENOENT                 it must be refused, with this name
//   a kernel_log -> any                              it may be refused
//   if xrc ... end                                   lines for devices that both have it, as `hello` says
#pragma once

#include <transport-replay/conformance/agent/line.hpp>

#include <expected>
#include <functional>
#include <map>
#include <random>
#include <string>

namespace qps::tests {

struct AgentWalk {
    // Of agent 'a' or 'b'; a sentence where there is no answer at all.
    using Ask = std::function<std::expected<transport::conformance::agent::ParsedAnswer, std::string>(
        char agent, const transport::conformance::agent::Request& request)>;
    std::map<std::string, std::string> values;  // without $; `a` and `b` are the agents' addresses
    std::size_t asked = 0;

    // What went otherwise, each with its line; empty: nothing.
    [[nodiscard]] std::vector<std::string> go(std::string_view text, const Ask& ask);

private:
    [[nodiscard]] std::string with_values(std::string_view text) const;
    [[nodiscard]] static std::expected<bool, std::string> both_have(std::string_view feature, const Ask& ask);
    [[nodiscard]] std::string judge(std::string_view expectation,
                                    const transport::conformance::agent::ParsedAnswer& answer,
                                    transport::conformance::agent::Verb verb);
};

// Any request but quit, within the bounds of the table and without waits: small numbers mostly, so that some of it can
// be done.
[[nodiscard]] transport::conformance::agent::Request drawn_request(std::mt19937& draw, std::string_view address);

// The walk of the repository.
[[nodiscard]] std::string agent_walk_text();

}  // namespace qps::tests
