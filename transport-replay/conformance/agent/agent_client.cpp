#include <transport-replay/conformance/agent/agent_client.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::conformance::agent {

using namespace dissect;

std::uint32_t AgentClient::ask(const Request& request) {
    if (!problem_.empty() || asked_.size() + answers_.size() >= kMostAsked) return 0;
    last_ = last_ == 0xffff'ffff ? 1 : last_ + 1;
    output_ += write_request(last_, request);
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
        problem_ = answer.error.empty() ? "unsolicited answer from the agent" : fmt::format("{}: {}", answer.error, answer.text);
        return;
    }
    const Asked first = asked_.front();
    ParsedAnswer answer = parse_answer(first.verb, line);
    const std::string_view verb = row_of(first.verb).name;
    if (answer.fault != Fault::none) {
        problem_ = fmt::format("invalid answer from the agent to {}: {} {}", verb, kFaultWords[std::to_underlying(answer.fault)], answer.text);
    } else if (answer.sequence == 0 && !answer.ok) {
        problem_ = fmt::format("{}: {}", answer.error, answer.text);
    } else if (answer.sequence != first.sequence) {
        problem_ = fmt::format("the agent answered request {}, expected {}", answer.sequence, first.sequence);
    } else {
        asked_.pop_front();
        answers_.push_back(std::move(answer));
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
