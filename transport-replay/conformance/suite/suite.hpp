// Suite: every active check against a device, sans I/O as Stage is: its scripts one after another, and a verdict a
// check.
//
//   Suite suite({.stage = {.device = address}, .scripts = pointers_to(scripts)}, dut, us);      // the scripts outlive
//   it suite.begin(endpoint, now); while (!suite.done()) { endpoint.arrive(now); suite.poll(endpoint, now);
//   endpoint.depart(now); ... until suite.poll_at() } const Report report = suite.take_report();
//
// Before the first script and after each that touched it, the device has to show that it lives: its agent answers, and
// a fresh queue pair acknowledges; without an agent, its manager of connections rejects a request that nobody serves.
// One that does not has died of the script before: its checks fail, whatever the script said, and no profile excuses
// that. When the device comes back in time, the rest is played; else the rest is inconclusive. One whose queue pair 1
// alone falls silent goes on: the report says since when.
//
// What an attacker could feed: whatever a device and its agent may say, which is the stage's to judge. Results are rows
// of the catalogue, and nothing else is kept.
#pragma once

#include <transport-replay/checks/profile.hpp>
#include <transport-replay/conformance/stage/stage.hpp>

namespace qps::transport::conformance {

inline constexpr dissect::Duration kUsualReturn{
    30'000'000'000};  // a driver that resets its device takes less; a host takes more
inline constexpr dissect::Duration kBetweenKnocks{1'000'000'000};  // at one that is gone
inline constexpr dissect::Duration kKnockPatience{3'000'000'000};  // of an agent that says but that it lives
inline constexpr std::size_t kKnocks = 3;  // without an answer: one may be lost, a busy agent may be late

enum class SuiteEventKind : std::uint8_t {
    played,
    died,
    came_back,
    given_up,
    deaf
};  // deaf: queue pair 1 answers no more
struct SuiteEvent {
    SuiteEventKind kind{};
    const script::Script* script = nullptr;         // that was played, or is blamed; none: it never lived
    const stage::ScriptOutcome* outcome = nullptr;  // of `played`; as long as the call lasts
    std::size_t number = 0;                         // of the script, from 1
    std::size_t of = 0;
    std::string sentence;  // of the rest
};

struct SuiteSettings {
    stage::StageSettings stage;
    std::vector<const script::Script*> scripts;  // in the order of play; outlive the suite
    std::vector<const CheckRow*> only{};         // none: all
    Profile profile{};
    bool (*belongs)(CheckFamily family) = is_of_roce;  // what is judged, of scripts and of packets
    const script::Script* sign_of_life =
        nullptr;  // that the device lives; none: of any device of RoCE. Outlives the suite
    dissect::Duration comes_back{kUsualReturn};  // how long a device that died is waited for
    std::function<void(const SuiteEvent& event)> on_event{};
};

class Suite {
public:
    Suite(SuiteSettings settings, const stage::AgentChannel& device, stage::AgentChannel us);

    void begin(live::Endpoint& endpoint, dissect::Instant now);
    // After Endpoint::arrive(), before depart().
    void poll(live::Endpoint& endpoint, dissect::Instant now);
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;
    // What was not played is inconclusive.
    void stop(live::Endpoint& endpoint, dissect::Instant now);
    [[nodiscard]] bool done() const { return phase_ == Phase::over; }
    // The device never answered, or died and did not come back: part of it was not played.
    [[nodiscard]] bool lost() const { return lost_; }
    // Why it is taken for one that never answered; empty: it did.
    [[nodiscard]] const std::string& silence() const { return silence_; }
    // A result for each check that is wanted, in the order of the catalogue: what scripts decide, and what their
    // packets show of the device. Call it once.
    [[nodiscard]] Report take_report();

private:
    enum class Phase : std::uint8_t { playing, knocking, waiting, over };
    enum class Hearing : std::uint8_t { unknown, hears, deaf };  // whether requests for connection are answered
    struct Entry {
        CheckResult result;
        bool fatal = false;  // the device died of it
    };

    void next(live::Endpoint& endpoint, dissect::Instant now);
    void knock(live::Endpoint& endpoint, dissect::Instant now);
    void request(live::Endpoint& endpoint, dissect::Instant now);
    void finish_request(bool answered);
    void wait(dissect::Instant now);
    void finish_script(live::Endpoint& endpoint, dissect::Instant now);
    void finish_knock(live::Endpoint& endpoint, dissect::Instant now);
    void end(dissect::Instant now, const std::string& rest);
    void note(const script::Script& script, const stage::ScriptOutcome& outcome);
    void note_exchange(const script::Script& script, const stage::ScriptOutcome& outcome);
    void blame(const std::string& reason, const std::string& detail);
    void notify(SuiteEventKind kind, std::string sentence) const;
    [[nodiscard]] bool is_wanted(const CheckRow& check) const;
    [[nodiscard]] Entry* entry_of(const std::string& id);

    SuiteSettings settings_;
    stage::AgentChannel device_;
    stage::Stage stage_;     // of the checks
    stage::Stage knocking_;  // of the question whether it lives: more impatient
    script::Script sign_of_life_;
    script::Script request_;  // that queue pair 1 answers
    Hearing hearing_ = Hearing::unknown;
    bool requesting_ = false;                    // the knock is a request
    std::string deaf_since_;                     // ids of checks; empty: it never was, or always
    std::vector<std::optional<Entry>> entries_;  // by place in the catalogue; none: not wanted
    std::vector<bool> played_;                   // by the same place
    const script::Script* last_ = nullptr;
    std::size_t at_ = 0;
    std::size_t knocks_ = 0;
    std::optional<dissect::Instant> gone_since_;
    dissect::Instant began_{};
    dissect::Instant knock_at_{};
    dissect::Duration took_{};
    Phase phase_ = Phase::over;
    std::string silence_;
    bool socket_ = false;  // packets come through a UDP socket, which has its own ports
    bool stopped_ = false;
    bool lost_ = false;
};

}  // namespace qps::transport::conformance
