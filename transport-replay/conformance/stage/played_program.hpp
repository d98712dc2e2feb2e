// PlayedProgram: a program of a live endpoint around whatever plays scripts by the channels of its sessions: a list of
// them, the suite.
//
// Play has begin(), poll(), poll_at(), stop() and done(), as Stage has them; it is polled until there is nothing more
// to do at once.
#pragma once

#include <transport-replay/conformance/stage/agent_sessions.hpp>

#include <algorithm>

namespace qps::transport::conformance::stage {

template <class Play> class PlayedProgram {
public:
    PlayedProgram(std::unique_ptr<AgentSessions> sessions, std::unique_ptr<Play> play)
        : sessions_(std::move(sessions)), play_(std::move(play)) {}

    [[nodiscard]] std::expected<void, std::string> begin(live::Endpoint& endpoint, dissect::Instant now) {
        play_->begin(endpoint, now);
        return {};
    }
    void poll(live::Endpoint& endpoint, dissect::Instant now) {
        sessions_->drive();
        static_cast<void>(sessions_->poll(endpoint, now));
        play_->poll(endpoint, now);
        at_once_ = sessions_->poll(endpoint, now);
        sessions_->drive();
        if (play_->done()) sessions_->reset(endpoint, now);
    }
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const {
        if (at_once_) return live::kAtOnce;
        const auto own = sessions_->poll_at(), play = play_->poll_at();
        return own && play ? std::min(*own, *play) : own ? own : play;
    }
    void stop(live::Endpoint& endpoint, dissect::Instant now) { play_->stop(endpoint, now); }
    [[nodiscard]] bool done() const { return play_->done(); }
    [[nodiscard]] std::vector<std::string> take_lines() { return {}; }
    [[nodiscard]] live::ProgramCounts counts() const { return {}; }
    [[nodiscard]] std::vector<live::Watched> watched() const { return sessions_->watched(); }

private:
    std::unique_ptr<AgentSessions> sessions_;
    std::unique_ptr<Play> play_;  // after the sessions: its channels point there
    bool at_once_ = false;        // our own agent has answered
};

}  // namespace qps::transport::conformance::stage
