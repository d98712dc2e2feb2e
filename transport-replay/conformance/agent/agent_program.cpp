// `qpscope peer agent`: an agent whose device is our own endpoint, so that checks can be tried without hardware: the program of
// live/peers that listens on TCP and gives an AgentOverVerbs what it hears.
//
// A stranger may connect and say anything: one client at a time, lines of kMostLine; another one meanwhile is told so and let go.
#include <transport-replay/conformance/agent/agent_over_verbs.hpp>
#include <transport-replay/conformance/agent/agent_program.hpp>
#include <transport-replay/live/exchange/exchange_connection.hpp>

#include <utility>

#include <fmt/format.h>

namespace qps::transport::conformance::agent {

namespace {

using namespace live;
using dissect::Bytes;
using dissect::Instant;

// One client's session, for ExchangeConnection: bytes into lines, answers into bytes.
class AgentSession {
public:
    void process(Bytes heard) {
        for (const std::byte each : heard) {
            const char c = static_cast<char>(each);
            if (c == '\n') lines_.push_back(std::exchange(heard_, {}));
            else if (heard_.size() <= kMostLine) heard_ += c;  // one more says that it is too long
        }
    }
    void closed() { over_ = true; }
    [[nodiscard]] std::vector<std::byte> take_output() {
        const auto bytes = std::as_bytes(std::span(output_));
        std::vector<std::byte> out(bytes.begin(), bytes.end());
        output_.clear();
        return out;
    }
    [[nodiscard]] Awaits awaits() const { return over_ ? Awaits::nothing : Awaits::bytes; }

    [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }
    void say(const std::string& text) { output_ += text; }
    void end() { over_ = true; }

private:
    std::string heard_;
    std::vector<std::string> lines_;  // of what one drive() read
    std::string output_;
    bool over_ = false;
};

class AgentProgram {
public:
    explicit AgentProgram(const ProgramRequest& request)
        : request_(request), port_(std::to_underlying(request.port.value_or(IpPort{kAgentPort}))) {}

    [[nodiscard]] std::expected<void, std::string> begin(Endpoint&, Instant) {
        auto listener = ExchangeListener::open(request_.exchange.tcp, port_);
        if (!listener) return std::unexpected(fmt::format("{}: {}", listener.error().device, listener.error().sentence));
        listener_ = std::move(*listener);
        return {};
    }

    void poll(Endpoint& endpoint, Instant now) {
        greet();
        if (!client_) return;
        agent_.poll(endpoint, now);
        client_->drive(session_);
        for (const std::string& line : session_.take_lines()) {
            agent_.hear(line, endpoint, now);
            ++counts_.messages;
        }
        session_.say(agent_.take_output());
        if (agent_.quitting()) session_.end();
        client_->drive(session_);
        if (client_->finished() || !client_->wants_to_read()) leave(endpoint, now);
    }

    [[nodiscard]] std::optional<Instant> poll_at() const { return client_ ? agent_.poll_at() : std::nullopt; }

    void stop(Endpoint& endpoint, Instant now) {
        stopping_ = true;
        listener_.reset();
        if (client_) leave(endpoint, now);
    }

    [[nodiscard]] bool done() const { return !client_ && (stopping_ || (request_.clients && counts_.connections >= *request_.clients)); }
    [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(said_, {}); }
    [[nodiscard]] ProgramCounts counts() const { return counts_; }
    [[nodiscard]] std::vector<Watched> watched() const {
        std::vector<Watched> all;
        if (listener_) all.push_back({.descriptor = listener_->descriptor()});
        if (client_) all.push_back({client_->descriptor(), client_->wants_to_read(), client_->wants_to_write()});
        return all;
    }

private:
    void greet() {
        while (listener_) {
            auto connection = listener_->accept();
            if (!connection) return;
            if (client_ || done()) {
                AgentSession refusal;
                refusal.say(write_refusal(0, "EBUSY", "another client is served"));
                refusal.end();
                connection->drive(refusal);
                continue;
            }
            said_.push_back(fmt::format("{} asks", connection->peer()));
            client_ = std::move(*connection);
            session_ = {};
            agent_ = {};
            ++counts_.connections;
        }
    }
    void leave(Endpoint& endpoint, Instant now) {
        agent_.reset(endpoint, now);
        said_.push_back(fmt::format("{} is gone after {} requests", client_->peer(), counts_.messages));
        client_.reset();
    }

    ProgramRequest request_;
    std::uint16_t port_;
    std::optional<ExchangeListener> listener_;
    std::optional<ExchangeConnection> client_;
    AgentSession session_;
    AgentOverVerbs agent_;
    std::vector<std::string> said_;
    ProgramCounts counts_;
    bool stopping_ = false;
};

}  // namespace

const ProgramRow& agent_program() {
    static constexpr ProgramRow kRow{
        "agent", "serve the requests of conform, as qpscope-agent does for a device", IpPort{kAgentPort}, true, false,
        [](const ProgramRequest& request) -> std::expected<Program, std::string> { return Program(AgentProgram(request)); }};
    return kRow;
}

}  // namespace qps::transport::conformance::agent
