// PlayedProgram: a program of a live endpoint around whatever plays scripts by the seams of its talks: a list of them, the suite.
//
// Play has begin(), poll(), poll_at(), stop() and done(), as Stage has them; it is polled until there is nothing more to do at once.
#pragma once

#include <transport-replay/conformance/stage/talks.hpp>

#include <algorithm>

namespace qps::transport::conformance::stage {

template <class Play>
class PlayedProgram {
public:
    PlayedProgram(std::unique_ptr<Talks> talks, std::unique_ptr<Play> play) : talks_(std::move(talks)), play_(std::move(play)) {}

    [[nodiscard]] std::expected<void, std::string> begin(live::Endpoint& endpoint, dissect::Instant now) {
        play_->begin(endpoint, now);
        return {};
    }
    void poll(live::Endpoint& endpoint, dissect::Instant now) {
        talks_->drive();
        static_cast<void>(talks_->poll(endpoint, now));
        play_->poll(endpoint, now);
        at_once_ = talks_->poll(endpoint, now);
        talks_->drive();
        if (play_->done()) talks_->reset(endpoint, now);
    }
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const {
        if (at_once_) return live::kAtOnce;
        const auto own = talks_->poll_at(), play = play_->poll_at();
        return own && play ? std::min(*own, *play) : own ? own : play;
    }
    void stop(live::Endpoint& endpoint, dissect::Instant now) { play_->stop(endpoint, now); }
    [[nodiscard]] bool done() const { return play_->done(); }
    [[nodiscard]] std::vector<std::string> take_lines() { return {}; }
    [[nodiscard]] live::ProgramCounts counts() const { return {}; }
    [[nodiscard]] std::vector<live::Watched> watched() const { return talks_->watched(); }

private:
    std::unique_ptr<Talks> talks_;
    std::unique_ptr<Play> play_;  // after the talks: its seams point there
    bool at_once_ = false;        // our own agent has answered
};

}  // namespace qps::transport::conformance::stage
