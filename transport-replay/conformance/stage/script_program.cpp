#include <transport-replay/conformance/stage/played_program.hpp>
#include <transport-replay/conformance/stage/script_program.hpp>

namespace qps::transport::conformance::stage {

using dissect::Instant;
using live::Endpoint;

namespace {

// Scripts, one after another.
class ScriptList {
public:
    ScriptList(ScriptProgramSettings settings, AgentChannel device, AgentChannel us)
        : settings_(std::move(settings)), stage_(settings_.stage, std::move(device), std::move(us)) {}

    void begin(Endpoint& endpoint, Instant now) { next(endpoint, now); }
    void poll(Endpoint& endpoint, Instant now) {
        stage_.poll(endpoint, now);
        while (stage_.done() && !done_) {
            if (playing_ != nullptr && settings_.on_outcome) settings_.on_outcome(*playing_, stage_.take_outcome());
            playing_ = nullptr;
            next(endpoint, now);
            if (!done_) stage_.poll(endpoint, now);
        }
    }
    [[nodiscard]] std::optional<Instant> poll_at() const { return stage_.poll_at(); }
    void stop(Endpoint& endpoint, Instant now) {
        stopped_ = true;
        stage_.stop(endpoint, now);
    }
    [[nodiscard]] bool done() const { return done_; }

private:
    void next(Endpoint& endpoint, Instant now) {
        if (stopped_ || at_ == settings_.scripts.size()) {
            done_ = true;
            return;
        }
        playing_ = settings_.scripts[at_++];
        stage_.begin(*playing_, endpoint, now);
    }

    ScriptProgramSettings settings_;
    Stage stage_;
    const script::Script* playing_ = nullptr;
    std::size_t at_ = 0;
    bool stopped_ = false;
    bool done_ = false;
};

}  // namespace

std::expected<live::Program, std::string> make_script_program(ScriptProgramSettings settings) {
    auto sessions = AgentSessions::open(settings.agent_host, settings.agent_port, settings.agent_secret);
    if (!sessions) return std::unexpected(sessions.error());
    auto list = std::make_unique<ScriptList>(std::move(settings), (*sessions)->device(), (*sessions)->us());
    return live::Program(PlayedProgram<ScriptList>(std::move(*sessions), std::move(list)));
}

}  // namespace qps::transport::conformance::stage
