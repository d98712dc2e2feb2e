#include <transport-replay/conformance/stage/agent_sessions.hpp>

#include <fmt/format.h>

namespace qps::transport::conformance::stage {

using dissect::Instant;
using live::Endpoint;

std::expected<std::unique_ptr<AgentSessions>, std::string> AgentSessions::open(const std::string& host,
                                                                               std::uint16_t port,
                                                                               const std::string& secret) {
    std::unique_ptr<AgentSessions> sessions(new AgentSessions(host, port, secret));
    if (host.empty()) return sessions;
    auto connected = agent::AgentConnection::connect(host, port, secret);
    if (!connected) return std::unexpected(fmt::format("{}: {}", connected.error().device, connected.error().sentence));
    sessions->device_ = std::move(*connected);
    return sessions;
}

AgentChannel AgentSessions::device() {
    if (!device_) return {};
    return {.ask = [this](const agent::Request& request) { return device_->client().ask(request); },
            .take_answer = [this](std::uint32_t sequence) { return device_->client().take_answer(sequence); },
            .problem = [this] { return problem_of_device(); },
            .renew =
                [this] {
                    // A name that nobody knows any more leaves the old session, which is over.
                    if (auto connected = agent::AgentConnection::connect(host_, port_, secret_))
                        device_ = std::move(*connected);
                }};
}

// Where nobody was reached: who was wanted, and how it is started.
std::string AgentSessions::problem_of_device() const {
    std::string problem = device_->problem();
    if (!device_->lost()) return problem;
    return fmt::format("{} port {}: {} (to start it there: qpscope-agent --device NAME --listen {} --secret FILE)",
                       host_, port_, problem, host_);
}

AgentChannel AgentSessions::us() {
    return {.ask = [this](const agent::Request& request) { return client_.ask(request); },
            .take_answer = [this](std::uint32_t sequence) { return client_.take_answer(sequence); },
            .problem = [this] { return client_.problem(); }};
}

void AgentSessions::drive() {
    if (device_) device_->drive();
}

bool AgentSessions::poll(Endpoint& endpoint, Instant now) {
    const std::vector<std::byte> asked = client_.take_output();
    if (!asked.empty()) used_ = true;
    for (const std::byte each : asked) {
        heard_ += static_cast<char>(each);
        if (heard_.back() == '\n') agent_.hear(std::exchange(heard_, {}), endpoint, now);
    }
    if (!used_) return false;
    agent_.poll(endpoint, now);
    const std::string said = agent_.take_output();
    client_.process(std::as_bytes(std::span(said)));
    return !said.empty();
}

void AgentSessions::reset(Endpoint& endpoint, Instant now) {
    if (used_) agent_.reset(endpoint, now);
}

std::vector<live::Watched> AgentSessions::watched() const {
    if (!device_ || device_->finished()) return {};
    return {{device_->descriptor(), device_->wants_to_read(), device_->wants_to_write()}};
}

}  // namespace qps::transport::conformance::stage
