// Stage: plays a script with a device, sans I/O: packets by an Endpoint, questions by agents, time by its caller.
//
//   Stage stage({.device = address}, dut, us);
//   stage.begin(script, endpoint, now);                       // the script outlives its run
//   while (!stage.done()) { endpoint.arrive(now); stage.poll(endpoint, now); endpoint.depart(now); ... until
//   stage.poll_at() } const ScriptOutcome outcome = stage.take_outcome();
//
// A queue pair that the script plays itself is claimed at the endpoint; verbs halves and `us` lines are the adapter's,
// by the agent `us`. What a script needs and is not there makes it not applicable; what the tester cannot do,
// inconclusive: `fail` is said of the device alone, with the line, what came, and what differs.
//
// The device and its agent are strangers: whatever comes is compared or dropped. Bounded are the frames kept
// (kMostRecorded), those that wait for their line (kMostArrived a queue pair), steps (kMostSteps), and how long an
// agent may think (kAgentPatience).
#pragma once

#include <transport-replay/checks/verdict.hpp>
#include <transport-replay/conformance/script/script.hpp>
#include <transport-replay/conformance/stage/agent_channel.hpp>
#include <transport-replay/conformance/stage/script_qp.hpp>

#include <memory>

namespace qps::transport::conformance::stage {

inline constexpr std::string_view kNoExtended = "the device has no XRC";  // as its agent says
inline constexpr std::string_view kNoAgent =
    "no agent of the device (--agent)";                 // why a script that needs one is not applicable
inline constexpr std::size_t kMostRecorded = 1U << 14;  // frames of a run: a storm and what it is answered with
inline constexpr std::size_t kMostArrived = 1U << 13;   // as many as the endpoint keeps
inline constexpr std::uint64_t kMostSteps = 1U << 20;   // lines played: repeats included
inline constexpr dissect::Duration kAgentPatience{15'000'000'000};  // above the longest wait of its protocol

struct DefinedVariable {
    std::string name;
    std::uint64_t value = 0;
};

struct StageSettings {
    Address device{};  // of the device under test
    bool roce_v1 = false;
    dissect::Duration patience{500'000'000};  // how long a line waits that says nothing else
    dissect::Duration agent_patience{kAgentPatience};
    std::uint64_t seed = 1;
    std::optional<live::IpPort> port{};   // where the device listens for connections
    std::vector<std::string> features{};  // what scripts may need, besides what shows by itself and what the agent says
    std::vector<DefinedVariable> defined{};
};

struct RecordedFrame {
    std::vector<std::byte> bytes;
    dissect::Instant time{};
    Sender sender{};
};

struct ScriptOutcome {
    Verdict verdict = Verdict::inconclusive;
    std::string reason;          // one sentence
    std::string detail;          // several lines: the script's line, what came, what differs, what was before
    std::uint64_t examined = 0;  // lines that demanded something of the device, and got it
    bool silent = false;         // the device does not answer any more
    dissect::Duration took{};
    std::vector<RecordedFrame> frames;   // to and from queue pairs that the script played itself
    std::uint64_t frames_lost = 0;       // beyond kMostRecorded
    std::vector<ExchangeStep> exchange;  // of a failure: what was before it, and what came or did not
};

class Run;

class Stage {
public:
    Stage(const StageSettings& settings, AgentChannel device, AgentChannel us);
    Stage(Stage&&) noexcept;
    Stage& operator=(Stage&&) noexcept;
    ~Stage();

    void begin(const script::Script& script, live::Endpoint& endpoint, dissect::Instant now);
    void begin(const script::Script&& script, live::Endpoint& endpoint,
               dissect::Instant now) = delete;  // gone before its run
    // After Endpoint::arrive(), before depart().
    void poll(live::Endpoint& endpoint, dissect::Instant now);
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;
    // The run is given up; done() once queue pairs are given back.
    void stop(live::Endpoint& endpoint, dissect::Instant now);
    [[nodiscard]] bool done() const;
    [[nodiscard]] ScriptOutcome take_outcome();
    // What the device's agent said of it, once it was asked: "device", "firmware", ...
    [[nodiscard]] const std::vector<ReportFact>& facts() const { return facts_; }

private:
    StageSettings settings_;
    AgentChannel device_;
    AgentChannel us_;
    std::vector<ReportFact> facts_;
    std::optional<std::uint64_t> features_;  // of the agent; none: not asked yet
    std::uint64_t runs_ = 0;
    std::unique_ptr<Run> run_;
};

}  // namespace qps::transport::conformance::stage
