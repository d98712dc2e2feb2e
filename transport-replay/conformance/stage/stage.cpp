#include <dissect/packet/render_value.hpp>
#include <transport-replay/conformance/stage/run.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance::stage {

using namespace dissect;
using script::Side;
using script::Statement;

namespace {

constexpr std::size_t kStepsAtOnce = 512;      // lines of one poll(); then arrivals have their turn
constexpr Duration kReachable{3'000'000'000};  // an address that nobody has by then is nobody's
constexpr Duration kFarewell{1'000'000'000};   // for the end of connections that the CM made
constexpr Duration kFeltPause{1'000'000};      // a script that sent nothing for so long may fail because of that

bool mentions(const script::Block& block, const auto& wanted) {
    return std::ranges::any_of(block, [&](const Statement& line) {
        if (wanted(line)) return true;
        if (const auto* either = std::get_if<script::Either>(&line.body))
            return std::ranges::any_of(either->branches,
                                       [&](const script::Block& each) { return mentions(each, wanted); });
        if (const auto* repeat = std::get_if<script::Repeat>(&line.body)) return mentions(repeat->body, wanted);
        if (const auto* each = std::get_if<script::ForEach>(&line.body)) return mentions(each->body, wanted);
        if (const auto* given = std::get_if<script::GivenThat>(&line.body)) return mentions(given->body, wanted);
        if (const auto* condition = std::get_if<script::If>(&line.body))
            return mentions(condition->then, wanted) || mentions(condition->otherwise, wanted);
        return false;
    });
}

bool uses_management(const Statement& line, bool agent) {
    const auto is = [](const std::string& qp) { return qp == "gsi"; };
    if (const auto* inject = std::get_if<script::Inject>(&line.body)) return is(inject->qp);
    if (const auto* expect = std::get_if<script::Expect>(&line.body)) return is(expect->qp);
    if (const auto* nothing = std::get_if<script::Nothing>(&line.body)) return is(nothing->qp);
    if (const auto* made = std::get_if<script::MakeQp>(&line.body)) return made->kind == script::EndKind::managed;
    if (const auto* alive = std::get_if<script::Alive>(&line.body)) return alive->qp.empty() && !agent;
    return false;
}

std::uint64_t ipv4_number(const Address& address) {
    return live::family_of(address) == live::Family::ipv4 ? live::ipv4_bits(address) : 0;
}

}  // namespace

Run::Run(const script::Script& script, const Given& given, live::Endpoint& endpoint, Instant now)
    : script_(script), given_(given), endpoint_(&endpoint), now_(now), began_(now), event_(now) {
    const StageSettings& settings = given_.settings;
    uses_management_ =
        mentions(script.body, [&](const Statement& line) { return uses_management(line, given_.device.there()); });
    uses_counters_ = mentions(script.body, [](const Statement& line) {
        const auto* agent = std::get_if<script::AgentLine>(&line.body);
        return agent != nullptr && agent->act == script::Act::counter;
    });
    uses_us_ = mentions(script.body, [](const Statement& line) {
        const auto* agent = std::get_if<script::AgentLine>(&line.body);
        const auto* made = std::get_if<script::MakeQp>(&line.body);
        return (agent != nullptr && agent->side == Side::us) ||
               (made != nullptr && made->kind == script::EndKind::verbs);
    });
    route_.network = settings.roce_v1                                         ? Network::roce_v1
                     : live::family_of(settings.device) == live::Family::ipv4 ? Network::roce_v2_ipv4
                                                                              : Network::roce_v2_ipv6;
    route_.destination =
        live::in_space(settings.device, settings.roce_v1 ? AddressSpace::roce_v1 : AddressSpace::roce_v2);
    route_.source = {};
    management_.guid = live::link_local_of(endpoint.host().mac()).bits[1];
    paused_before_ = endpoint.pauses().paused(now);
    // Of time too: a device remembers for a while what the same numbers were said for in an earlier run.
    management_.drawn = settings.seed * 1'000'003 + given_.number * 1009 + static_cast<std::uint64_t>(now);
}

std::uint64_t Run::draw() { return mix(given_.settings.seed * 0x9e37'79b9 + given_.number * 7919 + ++drawn_); }

void Run::end(Verdict verdict, std::string reason, std::string detail) {
    if (phase_ == Phase::leaving || phase_ == Phase::over) return;
    const auto given = std::ranges::find_if(cursors_, [](const Cursor& cursor) { return cursor.given != nullptr; });
    if (given != cursors_.end() && (verdict == Verdict::fail || verdict == Verdict::inconclusive)) {
        outcome_.exchange.clear();  // of a failure
        verdict = Verdict::inconclusive;
        reason = fmt::format("blocked by {}: {}", given->given->check, reason);
    }
    if (const Duration paused = endpoint_->pauses().paused(now_) - paused_before_;
        verdict == Verdict::fail && paused >= kFeltPause) {
        outcome_.exchange.clear();
        verdict = Verdict::inconclusive;
        const std::string lasted = human_time(static_cast<double>(std::to_underlying(paused)) * 1e-9);
        reason = fmt::format("PAUSE or PFC frames held back our packets for {}: {}", lasted, reason);
    }
    outcome_.verdict = verdict;
    outcome_.reason = std::move(reason);
    outcome_.detail = std::move(detail);
    outcome_.took = now_ - began_;
    asked_.clear();
    phase_ = Phase::leaving;
}

Step Run::cannot(std::string_view why) {
    end(Verdict::inconclusive, fmt::format("{}: {}", here(), why));
    return Step::ended;
}

void Run::record(Bytes bytes, Instant time, Sender sender) {
    if (outcome_.frames.size() < kMostRecorded) outcome_.frames.push_back({{bytes.begin(), bytes.end()}, time, sender});
    else ++outcome_.frames_lost;
}

std::optional<std::uint64_t> Run::number(const script::Expression& expression) {
    auto value = variables_.value_of(expression);
    if (!value) cannot(value.error());
    return value ? std::optional(*value) : std::nullopt;
}

std::optional<Duration> Run::duration(const script::Expression& expression) {
    const auto value = number(expression);
    constexpr std::uint64_t kLongest = 3'600'000'000'000;  // an hour: nobody waits longer for a check
    if (!value) return std::nullopt;
    return Duration{static_cast<std::int64_t>(std::min(*value, kLongest))};
}

bool Run::wait_until(Instant due) {
    if (now_ >= due) return false;
    waits_.at = due;
    return true;
}

// The way to the device: MAC addresses, our own address.
void Run::reach() {
    const live::Reach reach = endpoint_->host().complete(route_, 0, now_);
    if (reach == live::Reach::ready) {
        phase_ = Phase::asking;
        return ask_around();
    }
    if (reach == live::Reach::resolving || (reach == live::Reach::no_source && !endpoint_->host().settled())) {
        if (now_ < began_ + kReachable) return;
    }
    end(Verdict::inconclusive, fmt::format("{} is not reachable: {}", text(given_.settings.device),
                                           live::kReaches[static_cast<std::size_t>(reach)]));
}

// Agents begin with nothing made; the device's is asked once what it can do, and for its counters where the script
// looks at them.
void Run::ask_around() {
    if (uses_us_ && given_.us.there()) ask(Side::us, Question(agent::Verb::reset), [](const agent::ParsedAnswer&) {});
    if (!given_.device.there()) return;
    ask(Side::device, Question(agent::Verb::reset), [](const agent::ParsedAnswer&) {});
    if (!given_.features)
        ask(Side::device, Question(agent::Verb::hello), [this](const agent::ParsedAnswer& answer) {
            given_.features = answer.fields.number_or(agent::Key::features, 0);
            for (const agent::Key key :
                 {agent::Key::device, agent::Key::driver, agent::Key::firmware, agent::Key::kernel, agent::Key::agent})
                if (const std::string_view value = answer.fields.text(key); !value.empty())
                    given_.facts.push_back({std::string(agent::row_of(key).name), std::string(value)});
        });
    if (uses_counters_)
        ask(Side::device, Question(agent::Verb::counters),
            [this](const agent::ParsedAnswer& answer) { keep_counters(answer); });
}

bool Run::has(agent::Feature feature) const { return given_.features && (*given_.features & agent::bit(feature)) != 0; }

// What the script needs and is not there; empty: nothing.
std::string Run::missing_need() {
    const StageSettings& settings = given_.settings;
    const bool ipv4 = live::family_of(settings.device) == live::Family::ipv4;
    const auto there = [&](const std::string& need) {
        if (need == "agent") return given_.device.there();
        if (need == "cm") return settings.port.has_value();
        if (need == "ipv4") return ipv4 && !settings.roce_v1;
        if (need == "ipv6") return !ipv4 && !settings.roce_v1;
        if (need == "roce_v1") return settings.roce_v1;
        if (need == "roce_v2") return !settings.roce_v1;
        if (need == "raw") return !endpoint_->device().limits().resolves_addresses;
        for (std::size_t i = 0; i < agent::kFeatureWords.size(); ++i)
            if (need == agent::kFeatureWords[i] && has(static_cast<agent::Feature>(i))) return true;
        return std::ranges::find(settings.features, need) != settings.features.end();
    };
    for (const std::string& need : script_.needs)
        if (!there(need))
            return need == "agent" ? std::string(kNoAgent)
                   : need == "cm"  ? "the port of the device is unknown (--port)"
                   : need == agent::kFeatureWords[static_cast<std::size_t>(agent::Feature::xrc)] &&
                           given_.device.there()
                       ? std::string(kNoExtended)
                       : fmt::format("it needs \"{}\", which is missing", need);
    return {};
}

void Run::prepare() {
    if (const std::string why = missing_need(); !why.empty()) return end(Verdict::not_applicable, why);
    const StageSettings& settings = given_.settings;
    variables_.set("patience", static_cast<std::uint64_t>(settings.patience));
    variables_.set("port", static_cast<std::uint64_t>(settings.port.value_or(live::IpPort{})));
    variables_.set("seed", settings.seed);
    variables_.set("dut.ip", ipv4_number(route_.destination));
    variables_.set("us.ip", ipv4_number(route_.source));
    variables_.set_bytes("dut.gid", gid_of(route_.destination));
    variables_.set_bytes("us.gid", gid_of(route_.source));
    for (const DefinedVariable& each : settings.defined) variables_.set(each.name, each.value);
    ScriptQp& gsi = queue_pairs_["gsi"];
    gsi.name = "gsi";
    gsi.service = Service::ud;
    gsi.management = true;
    gsi.ours = gsi.theirs = kGsiQpn;
    gsi.qkey = live::kGsiQkey;
    if (uses_management_) static_cast<void>(endpoint_->claim(kGsiQpn));
    enter(script_.body, nullptr, nullptr, 1);
    event_ = began_ = now_;
    paused_before_ = endpoint_->pauses().paused(now_);
    phase_ = Phase::playing;
}

void Run::take_arrivals() {
    for (live::ClaimedFrame& frame : endpoint_->take_claimed()) {
        Packet packet;
        Frame whole;
        whole.bytes = frame.bytes;
        whole.wire_length = static_cast<std::uint32_t>(frame.bytes.size());
        decode(whole, packet);
        record(frame.bytes, frame.time, Sender::device);
        for (auto& [name, qp] : queue_pairs_)
            if (qp.ours == packet.dest_qp && qp.arrived.size() < kMostArrived) {
                qp.arrived.push_back(std::move(frame));
                break;
            }
    }
}

void Run::take_answers() {
    while (!asked_.empty()) {
        const Side side = asked_.front().side;
        auto answer = channel(side).take_answer(asked_.front().sequence);
        if (!answer) {
            const std::string problem = channel(side).problem ? channel(side).problem() : std::string{};
            const char* whose = side == Side::device ? "the device's agent" : "our own agent";
            outcome_.silent = outcome_.silent || side == Side::device;
            if (!problem.empty())
                return end(Verdict::inconclusive, fmt::format("{}: {} is not reachable: {}", here(), whose, problem));
            if (now_ >= asked_.front().until)
                return end(Verdict::inconclusive,
                           fmt::format("{}: {} does not answer \"{}\"", here(), whose, asked_.front().words));
            outcome_.silent = false;
            return;
        }
        Asked asked = std::move(asked_.front());
        asked_.pop_front();
        event_ = std::max(event_, now_);
        if (!answer->ok && phase_ != Phase::leaving) {
            cannot(fmt::format("the agent refuses \"{}\": {} {}", asked.words, answer->error, answer->text));
            return;
        }
        if (asked.then) asked.then(*answer);
    }
}

void Run::enter(const script::Block& block, const script::Repeat* repeat, const script::ForEach* each,
                std::uint64_t rounds) {
    if (rounds == 0 || block.empty()) return;
    cursors_.push_back(
        {.block = &block, .next = 0, .repeat = repeat, .each = each, .given = nullptr, .round = 0, .rounds = rounds});
    Cursor& cursor = cursors_.back();
    if (repeat != nullptr && !repeat->variable.empty()) variables_.set(repeat->variable, 0);
    if (each != nullptr)
        if (const auto value = number(each->values[cursor.round])) variables_.set(each->variable, *value);
}

// The line that has its turn; nothing where the script is over.
const Statement* Run::current() {
    while (!cursors_.empty()) {
        Cursor& cursor = cursors_.back();
        if (cursor.next < cursor.block->size()) return &(*cursor.block)[cursor.next];
        if (++cursor.round >= cursor.rounds) {
            cursors_.pop_back();
            continue;
        }
        cursor.next = 0;
        if (cursor.repeat != nullptr && !cursor.repeat->variable.empty())
            variables_.set(cursor.repeat->variable, cursor.round);
        if (cursor.each != nullptr)
            if (const auto value = number(cursor.each->values[cursor.round]))
                variables_.set(cursor.each->variable, *value);
    }
    return nullptr;
}

Step Run::play_line(const Statement& line) {
    if (!waits_.begun) {
        waits_ = {.begun = true};
        if (line.delay_by) {
            const auto by = duration(*line.delay_by);
            if (!by) return Step::ended;
            waits_.until = (line.delay == script::DelayKind::after_start ? began_ : event_) + *by;
        }
    }
    if (line.delay_by && waits_.until && wait_until(*waits_.until)) return Step::wait;
    waits_.at.reset();
    return std::visit([this](const auto& body) { return play(body); }, line.body);
}

void Run::play() {
    for (std::size_t i = 0; i < kStepsAtOnce && phase_ == Phase::playing; ++i) {
        const Statement* line = current();
        if (phase_ != Phase::playing) return;
        if (line == nullptr) return end(Verdict::pass, {});
        if (++steps_ > kMostSteps) {
            cannot(fmt::format("more than {} lines played", kMostSteps));
            return;
        }
        const std::size_t depth = cursors_.size();
        const Step step = play_line(*line);
        if (phase_ != Phase::playing || step != Step::next) return;
        waits_ = {};
        // A line that opened a block stands behind it.
        if (depth > 0 && depth <= cursors_.size()) ++cursors_[depth - 1].next;
    }
    waits_.at = now_;  // there is more to do at once
}

// Connections are taken down, what was claimed is given back, agents forget what they made.
void Run::leave() {
    if (!farewell_) {
        farewell_ = now_ + kFarewell;
        for (auto& [name, qp] : queue_pairs_)
            if (qp.their_comm != 0) {
                management_.our_comm = qp.our_comm;
                management_.their_comm = qp.their_comm;
                static_cast<void>(
                    send_line(fmt::format("DREQ remote_qp={}", std::to_underlying(qp.theirs)), queue_pairs_["gsi"]));
            }
        if (given_.device.there() && !outcome_.silent) ask(Side::device, Question(agent::Verb::reset), nullptr);
        if (uses_us_ && given_.us.there()) ask(Side::us, Question(agent::Verb::reset), nullptr);
    }
    for (auto& [name, qp] : queue_pairs_) {
        for (const live::ClaimedFrame& frame : qp.arrived) {
            Packet packet;
            Frame whole;
            whole.bytes = frame.bytes;
            decode(whole, packet);
            if (qp.management && find(packet, LayerKind::cm_drep) != nullptr)
                for (auto& [other, connected] : queue_pairs_) connected.their_comm = 0;
        }
        qp.arrived.clear();
    }
    const bool connected =
        std::ranges::any_of(queue_pairs_, [](const auto& each) { return each.second.their_comm != 0; });
    if ((connected || !asked_.empty()) && now_ < *farewell_) return;
    for (auto& [name, qp] : queue_pairs_) endpoint_->release(qp.ours);
    phase_ = Phase::over;
}

void Run::poll(live::Endpoint& endpoint, Instant now) {
    endpoint_ = &endpoint;
    now_ = now;
    waits_.at.reset();
    take_arrivals();
    take_answers();
    if (phase_ == Phase::reaching) reach();
    if (phase_ == Phase::asking && asked_.empty()) prepare();
    if (phase_ == Phase::playing) play();
    if (phase_ == Phase::leaving) leave();
}

void Run::stop(live::Endpoint& endpoint) {
    endpoint_ = &endpoint;
    cursors_.clear();  // no line is to blame
    end(Verdict::inconclusive, "interrupted");
}

std::optional<Instant> Run::poll_at() const {
    if (phase_ == Phase::over) return std::nullopt;
    std::optional<Instant> first = waits_.at;
    const auto consider = [&](Instant at) {
        if (!first || at < *first) first = at;
    };
    if (phase_ == Phase::reaching) consider(began_ + kReachable);
    if (!asked_.empty()) consider(asked_.front().until);
    if (phase_ == Phase::leaving) consider(farewell_.value_or(live::kAtOnce));
    return first;
}

Stage::Stage(const StageSettings& settings, AgentChannel device, AgentChannel us)
    : settings_(settings), device_(std::move(device)), us_(std::move(us)) {}
Stage::Stage(Stage&&) noexcept = default;
Stage& Stage::operator=(Stage&&) noexcept = default;
Stage::~Stage() = default;

void Stage::begin(const script::Script& script, live::Endpoint& endpoint, Instant now) {
    run_ = std::make_unique<Run>(script,
                                 Run::Given{.settings = settings_,
                                            .device = device_,
                                            .us = us_,
                                            .features = features_,
                                            .facts = facts_,
                                            .number = ++runs_},
                                 endpoint, now);
}
void Stage::poll(live::Endpoint& endpoint, Instant now) {
    if (run_ && !run_->over()) run_->poll(endpoint, now);
}
std::optional<Instant> Stage::poll_at() const { return run_ ? run_->poll_at() : std::nullopt; }
void Stage::stop(live::Endpoint& endpoint, Instant) {
    if (run_) run_->stop(endpoint);
}
bool Stage::done() const { return !run_ || run_->over(); }
ScriptOutcome Stage::take_outcome() {
    ScriptOutcome outcome = run_ ? run_->take_outcome() : ScriptOutcome{};
    run_.reset();
    return outcome;
}

}  // namespace qps::transport::conformance::stage
