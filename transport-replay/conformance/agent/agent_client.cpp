#include <transport-replay/conformance/agent/agent_client.hpp>
#include <transport-replay/conformance/agent/secret.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::conformance::agent {

using namespace dissect;

void AgentClient::prove(std::string secret) {
    secret_ = std::move(secret);
    own_nonce_ = draw_nonce();
    if (own_nonce_.empty()) problem_ = "no random numbers from the system";
    proof_ = Proof::challenged;
    say(Verb::challenge, {});
}

void AgentClient::say(Verb verb, const Fields& fields) {
    last_ = last_ == 0xffff'ffff ? 1 : last_ + 1;
    output_ += write_request(last_, {verb, fields});
    asked_.push_front({last_, verb});
}

std::uint32_t AgentClient::ask(const Request& request) {
    if (!problem_.empty() || asked_.size() + answers_.size() >= kMostAsked) return 0;
    last_ = last_ == 0xffff'ffff ? 1 : last_ + 1;
    (proof_ == Proof::done ? output_ : held_) += write_request(last_, request);
    asked_.push_back({last_, request.verb});
    return last_;
}

std::vector<std::byte> AgentClient::take_output() {
    const auto bytes = std::as_bytes(std::span(output_));
    std::vector<std::byte> out(bytes.begin(), bytes.end());
    output_.clear();
    return out;
}

void AgentClient::process(Bytes heard) {
    for (const std::byte each : heard) {
        if (!problem_.empty()) return;
        const char c = static_cast<char>(each);
        if (c == '\n') {
            hear(std::exchange(heard_, {}));
        } else if (heard_.size() < kMostLine) {
            heard_ += c;
        } else {
            problem_ = "unterminated line from the agent";
        }
    }
}

void AgentClient::hear(std::string_view line) {
    if (asked_.empty()) {
        // An agent that serves somebody else says so unasked.
        const ParsedAnswer answer = parse_answer(Verb::ping, line);
        problem_ = answer.error.empty() ? "unsolicited answer from the agent"
                                        : fmt::format("{}: {}", answer.error, answer.text);
        return;
    }
    const Asked first = asked_.front();
    ParsedAnswer answer = parse_answer(first.verb, line);
    const std::string_view verb = row_of(first.verb).name;
    if (answer.fault != Fault::none) {
        problem_ = fmt::format("invalid answer from the agent to {}: {} {}", verb,
                               kFaultWords[std::to_underlying(answer.fault)], answer.text);
    } else if (answer.sequence == 0 && !answer.ok) {
        problem_ = fmt::format("{}: {}", answer.error, answer.text);
    } else if (answer.sequence != first.sequence) {
        problem_ = fmt::format("the agent answered request {}, expected {}", answer.sequence, first.sequence);
    } else {
        asked_.pop_front();
        if (proof_ != Proof::done) return hear_proof(answer);
        answers_.push_back(std::move(answer));
    }
}

// An agent that asks for no secret may be anybody's.
void AgentClient::hear_proof(const ParsedAnswer& answer) {
    if (!answer.ok) {
        problem_ = answer.error == "EOPNOTSUPP" || answer.error == kFaultWords[std::to_underlying(Fault::verb)]
                       ? "the agent asks for no secret: give it one, or omit --agent-secret"
                       : fmt::format("{}: {}", answer.error, answer.text);
    } else if (proof_ == Proof::challenged) {
        proof_ = Proof::proved;
        agent_nonce_ = answer.fields.text(Key::nonce);
        const std::string own = proof_of(secret_, Prover::client, agent_nonce_, own_nonce_);
        say(Verb::prove, Fields{}.add(Key::nonce, std::string_view(own_nonce_)).add(Key::proof, std::string_view(own)));
    } else if (!same_proof(answer.fields.text(Key::proof),
                           proof_of(secret_, Prover::agent, agent_nonce_, own_nonce_))) {
        problem_ = "the agent does not know the secret";
    } else {
        proof_ = Proof::done;
        output_ += std::exchange(held_, {});
    }
}

void AgentClient::closed() {
    if (problem_.empty()) problem_ = "the agent closed the connection";
}

std::optional<ParsedAnswer> AgentClient::take_answer(std::uint32_t sequence) {
    const auto found = std::ranges::find(answers_, sequence, &ParsedAnswer::sequence);
    if (found == answers_.end()) return std::nullopt;
    ParsedAnswer answer = std::move(*found);
    answers_.erase(found);
    return answer;
}

}  // namespace qps::transport::conformance::agent
