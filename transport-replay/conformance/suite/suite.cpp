#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/conformance/script/parser.hpp>
#include <transport-replay/conformance/suite/exchange_check.hpp>
#include <transport-replay/conformance/suite/suite.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance {

using dissect::Duration;
using dissect::Instant;
using live::Endpoint;
using script::Script;
using stage::ScriptOutcome;

namespace {

constexpr std::string_view kLivesWithAgent = "title \"the device responds\"\n"
                                             "alive\n"
                                             "qp a rc mtu=256\n"
                                             "alive a\n";
constexpr std::string_view kLivesAlone = "title \"the device responds\"\n"
                                         "alive\n";

constexpr std::string_view kRequest =
    "title \"requests for connection are answered\"\n"
    "> gsi REQ service=0x0000000001060009\n"  // TCP port 9 of the RDMA IP CM service: nobody's
    "< gsi any within 1s\n";

// The texts are ours: tests play all.
Script own_script(std::string_view text) {
    auto parsed = script::parse_script("alive", text);
    return parsed ? std::move(*parsed)
                  : Script{.files = {{"alive", {}}}, .checks = {}, .title = {}, .needs = {}, .breaks = {}, .body = {}};
}

stage::StageSettings impatient(stage::StageSettings settings) {
    settings.agent_patience = kKnockPatience;
    return settings;
}

// Where several scripts judge a check, the worst of what they say counts.
constexpr int weight(Verdict verdict) {
    constexpr std::array<int, kVerdictNames.size()> kWeights{1, 3, 2, 0, 0};
    return kWeights[std::to_underlying(verdict)];
}

// Of what the packets of several scripts show a failure counts most; what the lies of the tester leave open in one,
// others decide.
constexpr int strength(Verdict verdict) {
    constexpr std::array<int, kVerdictNames.size()> kStrengths{2, 3, 1, 0, 0};
    return kStrengths[std::to_underlying(verdict)];
}

constexpr std::string_view kOfPorts = "FMT-16";
constexpr std::string_view kSocketPorts = "the way to the device is a UDP socket (--via udp), whose ports are its own";

std::string why_not_played(const CheckRow& check) {
    if (!check.exempt.empty()) return fmt::format("not checked: {}", check.exempt);
    if (check.id.starts_with("TRC")) return "of captures: qpscope check";
    return is_decided_passively(check) ? "no script exchanged such packets" : "not checked by any script";
}

std::string joined_ids(const Script& script) {
    std::string ids;
    for (const std::string& each : script.checks) ids += fmt::format("{}{}", ids.empty() ? "" : ", ", each);
    return ids;
}

}  // namespace

Suite::Suite(SuiteSettings settings, const stage::AgentChannel& device, stage::AgentChannel us)
    : settings_(std::move(settings)),
      device_(device),
      stage_(settings_.stage, device, us),
      knocking_(impatient(settings_.stage), device, std::move(us)),
      sign_of_life_(settings_.sign_of_life != nullptr ? *settings_.sign_of_life
                                                      : own_script(device_.there() ? kLivesWithAgent : kLivesAlone)),
      request_(own_script(kRequest)),
      entries_(kCheckCount),
      played_(kCheckCount) {
    std::erase_if(settings_.scripts, [&](const Script* each) {
        return std::ranges::none_of(each->checks, [&](const std::string& id) {
            const CheckRow* check = find_check(id);
            return check != nullptr && is_wanted(*check);
        });
    });
    for (const CheckRow& check : checks())
        if (is_wanted(check) && settings_.belongs(check.family)) {
            CheckResult result;
            result.check = &check;
            result.reason = why_not_played(check);
            entries_[place(check)] = Entry{.result = std::move(result)};
        }
}

bool Suite::is_wanted(const CheckRow& check) const {
    return settings_.only.empty() || std::ranges::find(settings_.only, &check) != settings_.only.end();
}

// Nothing for what is not wanted.
Suite::Entry* Suite::entry_of(const std::string& id) {
    const CheckRow* check = find_check(id);
    if (check == nullptr || !entries_[place(*check)]) return nullptr;
    return &*entries_[place(*check)];
}

void Suite::notify(SuiteEventKind kind, std::string sentence) const {
    if (settings_.on_event)
        settings_.on_event({.kind = kind,
                            .script = last_,
                            .outcome = nullptr,
                            .number = at_,
                            .of = settings_.scripts.size(),
                            .sentence = std::move(sentence)});
}

void Suite::begin(Endpoint& endpoint, Instant now) {
    began_ = now;
    knocks_ = 0;
    socket_ = endpoint.device().limits().resolves_addresses;
    if (Entry* ports = entry_of(std::string(kOfPorts)); ports != nullptr && socket_)
        ports->result.reason = kSocketPorts;
    knock(endpoint, now);
}

void Suite::next(Endpoint& endpoint, Instant now) {
    if (at_ == settings_.scripts.size()) return end(now, {});
    phase_ = Phase::playing;
    last_ = settings_.scripts[at_++];
    stage_.begin(*last_, endpoint, now);
}

void Suite::knock(Endpoint& endpoint, Instant now) {
    phase_ = Phase::knocking;
    knocking_.begin(sign_of_life_, endpoint, now);
}

void Suite::request(Endpoint& endpoint, Instant now) {
    requesting_ = true;
    phase_ = Phase::knocking;
    knocking_.begin(request_, endpoint, now);
}

// The first answer is what later ones are held against: a device may have no manager of connections at all.
void Suite::finish_request(bool answered) {
    requesting_ = false;
    if (hearing_ == Hearing::hears && !answered) {
        deaf_since_ = joined_ids(*last_);
        notify(SuiteEventKind::deaf, "connection requests are no longer answered");
    }
    hearing_ = answered ? Hearing::hears : Hearing::deaf;
}

void Suite::wait(Instant now) {
    phase_ = Phase::waiting;
    knock_at_ = now + kBetweenKnocks;
}

void Suite::poll(Endpoint& endpoint, Instant now) {
    const std::size_t most = 3 * settings_.scripts.size() + kKnocks;  // each turn ends a script, a knock or a request
    for (std::size_t i = 0; i <= most && !done(); ++i) {
        if (phase_ == Phase::waiting) {
            if (now < knock_at_) return;
            knock(endpoint, now);
        }
        stage::Stage& playing = phase_ == Phase::playing ? stage_ : knocking_;
        playing.poll(endpoint, now);
        if (!playing.done()) return;
        if (phase_ == Phase::playing) finish_script(endpoint, now);
        else finish_knock(endpoint, now);
    }
}

std::optional<Instant> Suite::poll_at() const {
    switch (phase_) {
        case Phase::playing: return stage_.poll_at();
        case Phase::knocking: return knocking_.poll_at();
        case Phase::waiting: return knock_at_;
        case Phase::over: break;
    }
    return std::nullopt;
}

void Suite::stop(Endpoint& endpoint, Instant now) {
    if (done()) return;
    stopped_ = true;
    if (phase_ == Phase::waiting) return end(now, "interrupted");
    (phase_ == Phase::playing ? stage_ : knocking_).stop(endpoint, now);
}

void Suite::finish_script(Endpoint& endpoint, Instant now) {
    const ScriptOutcome outcome = stage_.take_outcome();
    note(*last_, outcome);
    note_exchange(*last_, outcome);
    if (settings_.on_event)
        settings_.on_event({.kind = SuiteEventKind::played,
                            .script = last_,
                            .outcome = &outcome,
                            .number = at_,
                            .of = settings_.scripts.size(),
                            .sentence = {}});
    if (stopped_) return end(now, "interrupted");
    if (outcome.verdict == Verdict::not_applicable && outcome.frames.empty() && !outcome.silent)
        return next(endpoint, now);
    knocks_ = 0;
    if (outcome.silent && device_.renew) device_.renew();
    knock(endpoint, now);
}

void Suite::finish_knock(Endpoint& endpoint, Instant now) {
    const ScriptOutcome outcome = knocking_.take_outcome();
    if (stopped_) return end(now, "interrupted");
    if (requesting_) {
        finish_request(outcome.verdict == Verdict::pass);
        return next(endpoint, now);
    }
    if (outcome.verdict == Verdict::pass) {
        if (gone_since_) {
            const std::string after = fmt::format("it came back after {}", duration_text(now - *gone_since_));
            blame("; " + after, {});
            notify(SuiteEventKind::came_back, after);
            gone_since_.reset();
            hearing_ = Hearing::unknown;
        }
        // Without an agent the request was the sign of life.
        if (device_.there() && hearing_ != Hearing::deaf) return request(endpoint, now);
        return next(endpoint, now);
    }
    if (device_.renew && (outcome.silent || (device_.problem && !device_.problem().empty()))) device_.renew();
    if (!gone_since_ && ++knocks_ < kKnocks) return wait(now);
    if (last_ == nullptr) {
        lost_ = true;
        silence_ = outcome.reason;
        const std::string never = fmt::format("the device did not answer before the first check: {}", outcome.reason);
        notify(SuiteEventKind::given_up, never);
        return end(now, never);
    }
    if (!gone_since_) {
        gone_since_ = now;
        const std::string died = fmt::format("the device no longer answers: {}", outcome.reason);
        blame(died, outcome.detail);
        notify(SuiteEventKind::died, died);
    }
    if (now - *gone_since_ < settings_.comes_back) return wait(now);
    lost_ = true;
    const std::string gone = fmt::format("the device did not come back after {}", joined_ids(*last_));
    notify(SuiteEventKind::given_up, gone);
    end(now, gone);
}

// What was said of a script is said of its checks.
void Suite::note(const Script& script, const ScriptOutcome& outcome) {
    for (const std::string& id : script.checks) {
        Entry* entry = entry_of(id);
        if (entry == nullptr) continue;
        CheckResult& result = entry->result;
        const bool first = !played_[place(*result.check)];
        played_[place(*result.check)] = true;
        result.examined += outcome.examined;
        result.failures += outcome.verdict == Verdict::fail ? 1 : 0;
        result.took = result.took.value_or(Duration{}) + outcome.took;
        if (!first && weight(outcome.verdict) <= weight(result.verdict)) continue;
        result.verdict = outcome.verdict;
        result.reason = outcome.reason;
        result.detail = outcome.detail;
        result.exchange = outcome.exchange;
    }
}

// What the packets show of the device. A script decides its own checks; that they fail is shown by packets as well.
void Suite::note_exchange(const Script& script, const ScriptOutcome& outcome) {
    if (outcome.frames.empty()) return;
    const std::string name = script.files.front().name;
    const bool storage = settings_.belongs(CheckFamily::storage);
    const live::IpPort port = storage ? settings_.stage.port.value_or(live::IpPort{}) : live::IpPort{};
    for (const CheckResult& seen : check_exchange(outcome, settings_.stage.device, port)) {
        Entry* entry = entry_of(std::string(seen.check->id));
        if (entry == nullptr || seen.verdict == Verdict::not_applicable || (socket_ && seen.check->id == kOfPorts))
            continue;
        CheckResult& result = entry->result;
        const bool judged_by_script = played_[place(*result.check)];
        if (judged_by_script && seen.verdict != Verdict::fail) continue;
        result.examined += seen.examined;
        result.failures += seen.failures;
        if (strength(seen.verdict) <= strength(result.verdict)) continue;
        result.verdict = seen.verdict;
        result.reason = seen.reason.empty() ? std::string{} : fmt::format("in {}: {}", name, seen.reason);
        result.evidence = seen.evidence;
        result.exchange = seen.exchange;
    }
}

// The checks of the last script fail; what is said later is added.
void Suite::blame(const std::string& reason, const std::string& detail) {
    for (const std::string& id : last_->checks) {
        Entry* entry = entry_of(id);
        if (entry == nullptr) continue;
        CheckResult& result = entry->result;
        if (entry->fatal) {
            result.reason += reason;
            continue;
        }
        const std::string before = result.reason.empty() ? std::string(name(result.verdict)) : result.reason;
        if (result.verdict != Verdict::fail) ++result.failures;
        result.verdict = Verdict::fail;
        result.detail = fmt::format("the script itself: {}\n{}{}", before, result.detail, detail);
        result.reason = reason;
        entry->fatal = true;
    }
}

void Suite::end(Instant now, const std::string& rest) {
    for (; at_ < settings_.scripts.size(); ++at_)
        for (const std::string& id : settings_.scripts[at_]->checks)
            if (Entry* entry = entry_of(id); entry != nullptr && !played_[place(*entry->result.check)]) {
                entry->result.verdict = Verdict::inconclusive;
                entry->result.reason = rest;
            }
    took_ = now - began_;
    phase_ = Phase::over;
}

Report Suite::take_report() {
    if (!done()) end(began_, "aborted");
    Report report;
    report.subject = text(settings_.stage.device);
    report.facts = stage_.facts().empty() ? knocking_.facts() : stage_.facts();
    if (!settings_.profile.name.empty()) report.facts.push_back({"profile", settings_.profile.name});
    if (!deaf_since_.empty()) report.facts.push_back({"queue pair 1", fmt::format("no answers since {}", deaf_since_)});
    report.facts.push_back({"duration", duration_text(took_)});
    for (std::optional<Entry>& entry : entries_) {
        if (!entry) continue;
        if (!entry->fatal) apply(settings_.profile, entry->result);
        report.results.push_back(std::move(entry->result));
    }
    entries_.clear();
    return report;
}

}  // namespace qps::transport::conformance
