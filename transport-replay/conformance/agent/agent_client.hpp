// AgentClient: who asks an agent, sans I/O: requests in, lines out; what was heard in, answers out.
//
//   AgentClient client;
//   const std::uint32_t mr = client.ask({Verb::mr, Fields{}.add(Key::len, 8192)});
//   send(client.take_output());  ...  client.process(heard);                           // AgentConnection does both
//   if (auto answer = client.take_answer(mr)) if (answer->ok) va = *answer->fields.number(Key::va); else
//   say(answer->error, answer->text);
//
// Answers come in the order of requests. Whatever is no answer to the oldest of them that is open ends the session with
// a problem(): an agent that is out of step can be believed nothing. What it says is bounded by the protocol's table
// and by kMostLine; requests that are not answered yet by kMostAsked.
#pragma once

#include <dissect/base/bytes.hpp>
#include <transport-replay/conformance/agent/line.hpp>
#include <transport-replay/live/exchange/pingpong_session.hpp>

#include <deque>

namespace qps::transport::conformance::agent {

inline constexpr std::size_t kMostAsked = 4096;  // requests under way, and answers that nobody took

class AgentClient {
public:
    // Before the first ask(): proves that it knows the secret, and demands the same of the agent. Requests wait for
    // that.
    void prove(std::string secret);
    // The number of the request, never 0; 0 where there are too many, or the session is over.
    [[nodiscard]] std::uint32_t ask(const Request& request);

    [[nodiscard]] std::vector<std::byte> take_output();
    void process(dissect::Bytes heard);
    void closed();

    // The answer to a request, once it is there.
    [[nodiscard]] std::optional<ParsedAnswer> take_answer(std::uint32_t sequence);
    // Not answered yet.
    [[nodiscard]] std::size_t open() const { return asked_.size(); }
    // Why the session is over; empty: it is not.
    [[nodiscard]] const std::string& problem() const { return problem_; }
    [[nodiscard]] live::Awaits awaits() const { return problem_.empty() ? live::Awaits::bytes : live::Awaits::nothing; }

private:
    struct Asked {
        std::uint32_t sequence = 0;
        Verb verb{};
    };
    enum class Proof : std::uint8_t { done, challenged, proved };  // what has been said of it; done: nothing is awaited
    void hear(std::string_view line);
    void hear_proof(const ParsedAnswer& answer);
    void say(Verb verb, const Fields& fields);

    std::string secret_;
    std::string own_nonce_;
    std::string agent_nonce_;
    Proof proof_ = Proof::done;
    std::string held_;  // requests that wait for the proof
    std::string output_;
    std::string heard_;  // of a line that has not ended, at most kMostLine
    std::deque<Asked> asked_;
    std::deque<ParsedAnswer> answers_;
    std::uint32_t last_ = 0;
    std::string problem_;
};

}  // namespace qps::transport::conformance::agent
