#include <transport-replay/conformance/agent/agent_connection.hpp>
#include <transport-replay/conformance/agent/agent_over_verbs.hpp>
#include <transport-replay/conformance/stage/script_program.hpp>

#include <fmt/format.h>

namespace qps::transport::conformance::stage {

using dissect::Instant;
using live::Endpoint;

namespace {

// An agent over our own adapter, and who asks it.
class OwnAgent {
public:
    [[nodiscard]] AgentSeam seam() {
        return {.ask = [this](const agent::Request& request) { return client_.ask(request); },
                .take_answer = [this](std::uint32_t sequence) { return client_.take_answer(sequence); },
                .problem = [this] { return client_.problem(); }};
    }
    // Whether there is an answer now.
    bool poll(Endpoint& endpoint, Instant now) {
        const std::vector<std::byte> asked = client_.take_output();
        if (!asked.empty()) used_ = true;
        for (const std::byte each : asked) {
            heard_ += static_cast<char>(each);
            if (heard_.back() == '\n') agent_.hear(std::exchange(heard_, {}), endpoint, now);
        }
        if (!used_) return false;  // who has no agent keeps the endpoint's events
        agent_.poll(endpoint, now);
        const std::string said = agent_.take_output();
        client_.process(std::as_bytes(std::span(said)));
        return !said.empty();
    }
    void reset(Endpoint& endpoint, Instant now) {
        if (used_) agent_.reset(endpoint, now);
    }
    [[nodiscard]] std::optional<Instant> poll_at() const { return used_ ? agent_.poll_at() : std::nullopt; }

private:
    agent::AgentOverVerbs agent_;
    agent::AgentClient client_;
    std::string heard_;
    bool used_ = false;
};

// What stays where it is while the program is moved: seams point to it.
struct Talks {
    std::optional<agent::AgentConnection> device;
    OwnAgent own;

    [[nodiscard]] AgentSeam device_seam() {
        if (!device) return {};
        return {.ask = [this](const agent::Request& request) { return device->client().ask(request); },
                .take_answer = [this](std::uint32_t sequence) { return device->client().take_answer(sequence); },
                .problem = [this] { return device->finished() || !device->problem().empty() ? device->problem() : std::string{}; }};
    }
};

class ScriptProgram {
public:
    ScriptProgram(ScriptProgramSettings settings, std::unique_ptr<Talks> talks)
        : settings_(std::move(settings)),
          talks_(std::move(talks)),
          stage_(std::make_unique<Stage>(settings_.stage, talks_->device_seam(), talks_->own.seam())) {}

    [[nodiscard]] std::expected<void, std::string> begin(Endpoint& endpoint, Instant now) {
        next(endpoint, now);
        return {};
    }
    void poll(Endpoint& endpoint, Instant now) {
        if (talks_->device) talks_->device->drive();
        static_cast<void>(talks_->own.poll(endpoint, now));
        stage_->poll(endpoint, now);
        while (stage_->done() && !done_) {
            finish();
            next(endpoint, now);
            if (!done_) stage_->poll(endpoint, now);
        }
        at_once_ = talks_->own.poll(endpoint, now);
        if (talks_->device) talks_->device->drive();
        if (done_) talks_->own.reset(endpoint, now);
    }
    [[nodiscard]] std::optional<Instant> poll_at() const {
        if (at_once_) return live::kAtOnce;
        const auto own = talks_->own.poll_at(), stage = stage_->poll_at();
        return own && stage ? std::min(*own, *stage) : own ? own : stage;
    }
    void stop(Endpoint& endpoint, Instant now) {
        stopped_ = true;
        stage_->stop(endpoint, now);
    }
    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] std::vector<std::string> take_lines() { return {}; }
    [[nodiscard]] live::ProgramCounts counts() const { return {}; }
    [[nodiscard]] std::vector<live::Watched> watched() const {
        if (!talks_->device || talks_->device->finished()) return {};
        return {{talks_->device->descriptor(), talks_->device->wants_to_read(), talks_->device->wants_to_write()}};
    }

private:
    void next(Endpoint& endpoint, Instant now) {
        if (stopped_ || at_ == settings_.scripts.size()) {
            done_ = true;
            return;
        }
        playing_ = settings_.scripts[at_++];
        stage_->begin(*playing_, endpoint, now);
    }
    void finish() {
        if (playing_ != nullptr && settings_.told) settings_.told(*playing_, stage_->take_outcome());
        playing_ = nullptr;
    }

    ScriptProgramSettings settings_;
    std::unique_ptr<Talks> talks_;
    std::unique_ptr<Stage> stage_;
    const script::Script* playing_ = nullptr;
    std::size_t at_ = 0;
    bool at_once_ = false;  // our own agent has answered
    bool stopped_ = false;
    bool done_ = false;
};

}  // namespace

std::expected<live::Program, std::string> make_script_program(ScriptProgramSettings settings) {
    auto talks = std::make_unique<Talks>();
    if (!settings.agent_host.empty()) {
        auto connected = agent::AgentConnection::connect(settings.agent_host, settings.agent_port);
        if (!connected) return std::unexpected(fmt::format("{}: {}", connected.error().device, connected.error().sentence));
        talks->device = std::move(*connected);
    }
    return live::Program(ScriptProgram(std::move(settings), std::move(talks)));
}

}  // namespace qps::transport::conformance::stage
