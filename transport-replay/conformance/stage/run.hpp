// A script being played: where it stands, what it knows, what it waits for. Of stage/ alone.
//
// Steps are functions of the line and of time that say whether the next line has its turn; each keeps what it waits for
// in Waits, which is empty when a line begins.
#pragma once

#include <transport-replay/conformance/stage/comparison.hpp>
#include <transport-replay/conformance/stage/packet_maker.hpp>
#include <transport-replay/conformance/stage/stage.hpp>

#include <map>

namespace qps::transport::conformance::stage {

enum class Step : std::uint8_t { next, wait, ended };
enum class Phase : std::uint8_t { reaching, asking, playing, leaving, over };

// A block of the script and the place in it; of repeats, how often it has still to be played.
struct Cursor {
    const script::Block* block = nullptr;
    std::size_t next = 0;
    const script::Repeat* repeat = nullptr;
    const script::ForEach* each = nullptr;
    const script::GivenThat* given = nullptr;
    std::uint64_t round = 0;
    std::uint64_t rounds = 1;
};

struct Region {
    std::uint64_t mr = 0;  // the agent's number
    std::uint64_t va = 0;
    std::uint64_t length = 0;
    std::optional<std::uint64_t> seed;  // that it was filled with when it was made; none: zeros
};

using Answered = std::function<void(const agent::ParsedAnswer& answer)>;
struct Asked {
    script::Side side{};
    std::uint32_t sequence = 0;
    dissect::Instant until{};
    std::string words;  // what was asked
    Answered then;
};

// What the line that is played waits for.
struct Waits {
    bool begun = false;
    std::size_t part = 0;  // of a line with several steps
    std::optional<dissect::Instant> at{};
    std::optional<dissect::Instant> until{};
    dissect::Psn psn{};
    std::vector<std::byte> request{};  // of a connection: it may have to go out again
    std::string others{};              // events that came in place of the wanted one
};

// A question to an agent in the making; keys are those of the protocol's table.
class Question {
public:
    explicit Question(agent::Verb verb) : request_{.verb = verb, .fields = {}} {}
    // The value as a person types it; remembered where it is none.
    Question& put(std::string_view key, std::string_view value);
    Question& put(std::string_view key, std::uint64_t value) { return put(key, std::to_string(value)); }
    [[nodiscard]] const agent::Request& request() const { return request_; }
    [[nodiscard]] const std::string& problem() const { return problem_; }

private:
    agent::Request request_;
    std::string problem_;
};

// The packet of a frame: it borrows these bytes, which have to stay.
[[nodiscard]] dissect::Packet decoded(dissect::Bytes bytes);

class Run {
public:
    struct Given {
        const StageSettings& settings;
        const AgentChannel& device;
        const AgentChannel& us;
        std::optional<std::uint64_t>& features;
        std::vector<ReportFact>& facts;
        std::uint64_t number;  // of the run: what is drawn differs
    };
    Run(const script::Script& script, const Given& given, live::Endpoint& endpoint, dissect::Instant now);
    void poll(live::Endpoint& endpoint, dissect::Instant now);
    void stop(live::Endpoint& endpoint);
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;
    [[nodiscard]] bool over() const { return phase_ == Phase::over; }
    [[nodiscard]] ScriptOutcome take_outcome() { return std::move(outcome_); }

private:
    // stage.cpp: phases, the walk through blocks, what arrives
    void reach();
    void ask_around();
    void prepare();
    void play();
    void leave();
    void take_arrivals();
    void take_answers();
    Step play_line(const script::Statement& line);
    [[nodiscard]] const script::Statement* current();
    void enter(const script::Block& block, const script::Repeat* repeat, const script::ForEach* each,
               std::uint64_t rounds);
    void end(Verdict verdict, std::string reason, std::string detail = {});
    Step cannot(std::string_view why);  // the tester, not the device
    [[nodiscard]] std::string missing_need();
    [[nodiscard]] bool has(agent::Feature feature) const;
    void record(dissect::Bytes bytes, dissect::Instant time, Sender sender);
    [[nodiscard]] std::optional<std::uint64_t> number(
        const script::Expression& expression);  // ends the run where it has no value
    [[nodiscard]] std::optional<dissect::Duration> duration(const script::Expression& expression);
    [[nodiscard]] bool wait_until(dissect::Instant due);

    // packet_steps.cpp
    Step play(const script::Inject& line);
    Step play(const script::Expect& line);
    Step play(const script::Nothing& line);
    Step play(const script::Allow& line);
    Step play(const script::Either& line);
    Step play(const script::Alive& line);
    Step alive_half(ScriptQp& qp);
    Step alive_device();
    struct Met {
        bool there = false;  // something has come
        bool holds = false;
        dissect::Instant time{};
        std::vector<Difference> differences;
        bool early = false, late = false;
    };
    [[nodiscard]] std::optional<Met> meet(const script::Expect& line, ScriptQp& qp);
    void accept(const script::Expect& line, ScriptQp& qp);
    [[nodiscard]] const live::ClaimedFrame* first_of(ScriptQp& qp);  // that is not allowed to come anyway
    struct Bounds {
        std::optional<dissect::Instant> earliest;
        dissect::Instant latest{};
    };
    [[nodiscard]] std::optional<Bounds> bounds_of(const script::Window& window);
    [[nodiscard]] bool send(const std::vector<std::byte>& bytes);
    [[nodiscard]] std::optional<MadePacket> make(const script::PacketLine& packet, ScriptQp& qp);
    [[nodiscard]] bool send_line(const std::string& words, ScriptQp& qp);
    void note_sent(ScriptQp& qp, const MadePacket& made);
    void note_received(ScriptQp& qp, const dissect::Packet& packet);
    void note_management(const dissect::Packet& packet);
    [[nodiscard]] ScriptQp* qp_named(const std::string& name);

    // plain_steps.cpp
    Step play(const script::Let& line);
    Step play(const script::Repeat& line);
    Step play(const script::ForEach& line);
    Step play(const script::GivenThat& line);
    Step play(const script::If& line);
    Step play(const script::Require& line);
    Step play(const script::Assert& line);
    Step play(const script::Trust& line);
    Step play(const script::Fail& line);
    Step play(const script::Wait& line);
    Step play(const script::Mark& line);

    // setting_up.cpp
    Step play(const script::MakeQp& line);
    Step play(const script::Release& line);
    Step connect_managed(const script::MakeQp& line, ScriptQp& qp);
    void make_at_agents(const script::MakeQp& line, ScriptQp& qp);
    void connect_both(const script::MakeQp& line, ScriptQp& qp);
    void make_extended(const script::MakeQp& line, ScriptQp& qp);
    void make_serving(const script::MakeQp& line, ScriptQp& qp, std::function<void()> then);
    void free_extended(ScriptQp& qp);
    void put_half(Question& question, script::Side side, const ScriptQp& qp, bool completes) const;
    void connect_at(script::Side side, const script::MakeQp& line, const ScriptQp& qp);
    void free_half(ScriptQp& qp);
    void define_qp(const ScriptQp& qp);
    [[nodiscard]] std::optional<std::string> setting(const script::Settings& settings, std::string_view key);
    [[nodiscard]] std::optional<std::uint64_t> number_of(const script::Settings& settings, std::string_view key);
    [[nodiscard]] std::uint64_t draw();

    // agent_steps.cpp
    Step play(const script::AgentLine& line);
    void ask(script::Side side, const Question& question, Answered then);
    [[nodiscard]] const AgentChannel& channel(script::Side side) const {
        return side == script::Side::device ? given_.device : given_.us;
    }
    void begin_agent_line(const script::AgentLine& line);
    void make_region(script::Side side, const std::string& name, const script::Settings& settings, std::uint64_t length,
                     std::function<void(const Region&)> then);
    void receive(const script::AgentLine& line);
    void post(const script::AgentLine& line);
    void post_from(const script::AgentLine& line, const Region& region);
    void poll_completion(const script::AgentLine& line);
    void poll_no_completion(const script::AgentLine& line);
    void ask_state(const script::AgentLine& line);
    void ask_event(const script::AgentLine& line);
    void look_at_memory(const script::AgentLine& line);
    void fill(const script::AgentLine& line);
    void ask_counter(const script::AgentLine& line);
    [[nodiscard]] std::string end_named(const std::string& words) const;
    void ask_anything(const script::AgentLine& line);
    void compare_completion(const script::AgentLine& line, std::string_view text);
    [[nodiscard]] std::optional<std::uint64_t> queue_pair_of(const script::AgentLine& line);
    struct Part {
        std::uint64_t offset = 0;
        std::uint64_t length = 0;
    };
    [[nodiscard]] std::optional<Part> part_of(const script::AgentLine& line, const Region& region);
    [[nodiscard]] std::string region_name(script::Side side, const std::string& name) const;
    void keep_counters(const agent::ParsedAnswer& answer);

    // telling.cpp
    [[nodiscard]] std::string here() const;  // "rsp-05.script:12"
    void fail_packet(std::string_view name, const script::PacketLine& packet, const Met& met,
                     const live::ClaimedFrame* came, const std::optional<Bounds>& bounds);
    void fail_silent(std::string_view name, std::string_view expected, const Bounds& bounds);
    void fail_unexpected(ScriptQp& qp, const live::ClaimedFrame& came, dissect::Duration lasting);
    [[nodiscard]] std::string values_in(const script::Expression& expression) const;
    void fail_agent(const std::string& expected, const std::string& came, std::string reason);
    [[nodiscard]] std::string before_it(std::string_view name, const live::ClaimedFrame* came = nullptr);
    void note_missing(std::string expected);
    [[nodiscard]] std::string decoded_line(const live::ClaimedFrame& frame, const ScriptQp& qp, Sender sender);

    const script::Script& script_;
    Given given_;
    live::Endpoint* endpoint_ = nullptr;  // of the poll that runs
    dissect::Instant now_{};
    dissect::Instant began_{};
    dissect::Instant event_{};           // of the line before
    dissect::Duration paused_before_{};  // of the endpoint, when the script began
    Phase phase_ = Phase::reaching;
    Route route_;
    std::vector<Cursor> cursors_;
    Waits waits_;
    std::deque<Asked> asked_;
    std::map<std::string, ScriptQp> queue_pairs_;
    std::map<std::string, Region> regions_;  // "dut m", "us x"
    std::map<std::pair<script::Side, std::uint64_t>, std::uint64_t>
        domains_;                                    // protection domains: a script's number to the agent's
    std::map<std::string, std::uint64_t> counters_;  // of the device, when the script began
    Variables variables_;
    Management management_;
    ScriptOutcome outcome_;
    std::uint64_t steps_ = 0;
    std::uint64_t drawn_ = 0;
    bool uses_management_ = false;
    bool uses_counters_ = false;
    bool uses_us_ = false;
    std::optional<dissect::Instant> farewell_;  // until when the end of connections is waited for
};

}  // namespace qps::transport::conformance::stage
