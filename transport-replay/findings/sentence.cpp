#include <transport-replay/findings/sentence.hpp>
#include <transport-replay/report/fact_text.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

namespace {

struct Fragment {
    std::string_view name;
    std::string_view text;
};
constexpr std::array kFragments{
    Fragment{"stall", "{stalled}[ in total, {longest_stall} at worst]"},
    Fragment{
        "resent",
        "{retransmitted:packet} ({retransmitted_bytes}[, {new_to_tap} of them new to the tap][, {rests_of_reads} of them for the rest of a READ])"},
    // Of an ACK timeout: how long was waited, and what that says of the timer.
    Fragment{
        "timer",
        ", [single_wait?after|at intervals of] at least {interval}[exponent? ({>exponent}[, {>negotiated}])|[ ({>negotiated})]]"},
    Fragment{
        "exponent",
        "local ACK timeout exponent {exponent}[ to {longest_exponent}][, {exponent_time}: {agreeing_waits} waits agree on it]"},
    Fragment{"negotiated", "CM negotiated {negotiated_exponent}, {negotiated_time}"},
    // Of a requester that sent no more before it had given up, and what ended it.
    Fragment{
        "stopped",
        "[stopped_after?; then nothing more was sent, after [rnr_naks?{stopped_after:RNR NAK}|{stopped_after:transmission}]"
        "[endless_retries?, although CM negotiated RNR retries without end| of {allowed_transmissions}]: the queue pair of {requester:host} was "
        "destroyed, as by a process that was killed, and did not give up (no completion status [rnr_naks?13|12])]"},
    // What was seen of a responder that did not answer.
    Fragment{
        "silence",
        "[silence=answered?an answer from {responder:host} was captured, so it was lost between the tap and {requester:host}]"
        "[silence=fell_silent?{responder:host} had answered on this connection before]"
        "[silence=cnps?{responder:host} answered with {cnps:CNP} alone: requests reached it]"
        "[silence=other_start?{responder:host} never answered on this connection, whose first captured request has PSN {starting_psn}, where CM announced "
        "{announced_psn}]"
        "[silence=elsewhere?{responder:host} never answered on this connection but sends other traffic to {requester:host}]"
        "[silence=stalled_too?{responder:host} never answered on this connection; others to {requester:host} stalled at the same time]"
        "[silence=absent?no RDMA packet from {responder:host} to {requester:host} was captured]"},
    // Of a request that was refused, and of the last one before it that was not.
    Fragment{
        "request",
        "[operation?[operation=RDMA WRITE?an|[operation=RDMA READ?an|[operation=ATOMIC WRITE?an|a]]] {operation} of {length:length}[ at {address:hex} with "
        "R_Key {r_key:key}]|[ambiguous?a request of one of several queue pairs with the same PSNs|a request that was not captured]]"},
    Fragment{
        "last_valid",
        "[; the last valid access was {last_valid_length:length} at {last_valid_address:hex} with R_Key {last_valid_r_key:key}]"},
    // Of packets of a sender whose ICRC is wrong.
    Fragment{
        "wrong_icrc",
        "{packets} of {all_packets:packet} from {host} ({share}) [packets=1?has|have] a wrong ICRC[, in {connections:connection}]"},
    Fragment{"answered", "[answered?packets are answered nevertheless|nothing is answered]"},
    // Of pauses: who asked for them, and what became of the traffic.
    Fragment{
        "asked_to_pause",
        "{pauser} sent [paused_priority?PFC for priority {paused_priority}|802.3x PAUSE for the whole link] on interface {interface} ({xoff_frames} XOFF, "
        "{xon_frames} XON)"},
    Fragment{
        "paused_traffic",
        "[paused_traffic=went_on?{late_packets:packet} to it followed more than {reaction_time} into a pause]"
        "[paused_traffic=silent?[packets_to_pauser?who sends to it|traffic of the link] was silent from before its first XOFF until after its last, for "
        "{traffic_silence}, and went on: traffic stopped]"
        "[paused_traffic=none?the capture has no packet[paused_priority? of that priority] to that address after it: whether traffic stopped is undecided]"
        "[paused_traffic=stopped?nothing was sent to it meanwhile: traffic stopped]"
        "[paused_traffic=speed_unknown?whether traffic stopped is undecided: the speed of the link is not known (--link-speed)]"
        "[paused_traffic=too_short?whether traffic stopped is undecided: no pause was longer than the time to react]"},
    // Of ICMP errors: whether anything was missed.
    Fragment{"after_errors", "[retransmission=missed?; {from_host} retransmitted {retransmitted:packet} to it]"
                             "[retransmission=refused?; {from_host} retransmitted packets to it after RNR NAKs only]"
                             "[retransmission=none?; no captured packet was retransmitted]"},
    // Of the two ends of a link: how a difference stays one.
    Fragment{
        "lasting",
        "[willing_end?{willing_end} is willing to take the other's, but repeated its own {repeated:times} within {repeated_within}|neither is willing to "
        "take the other's]"},
    Fragment{"announcer", "{announcer}[ ({announcer_name})]"},
    Fragment{"partner", "{partner}[ ({partner_name})]"},
    // Of lost packets: where.
    Fragment{"place", "[, {place}][, {places:each}]"},
    // Of attempts at connections: what was asked for, and how many were alike.
    Fragment{
        "service",
        "[service_port?port {service_port}|[service_id?service id {service_id:hex}|a service that was not captured]]"},
    Fragment{"more_attempts", "[ (and {more_attempts:more attempt})]"},
    // Of collectives: how many steps were judged, and what their group is.
    Fragment{"steps", "[all_reduces?{judged_steps:all-reduce}|{judged_steps:step}]"},
    Fragment{"ranks", "[{library} ]{pattern} [job_ranks?({ranks} of {job_ranks:rank} seen)|of {ranks:rank}]"},
    // Of sessions of upper-layer protocols: the two ends, which a capture need not have.
    Fragment{"active", "[active_side?{active_side:host}|the active side]"},
    Fragment{"passive", "[passive_side?{passive_side:host}|the passive side]"},
};

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

// One pass over a template: what it says of the facts, and what is wrong with it.
class Reading {
public:
    using IsFact = std::function<bool(std::string_view)>;
    Reading(std::string_view text, const Facts& facts, const IsFact* is_fact)
        : rest_(text), facts_(facts), is_fact_(is_fact) {}

    // What stands up to one of `ends`, which stays unread; none: up to the end of the template.
    std::string read(std::string_view ends, bool& whole) {
        std::string out;
        while (!rest_.empty() && !ends.contains(rest_.front())) {
            const char c = take();
            if (c == '{') out += fact(whole);
            else if (c == '[') out += group();
            else if (c == '\\' && !rest_.empty()) out += take();
            else if (c == ']' || c == '}' || c == '|') note(fmt::format("'{}' without its beginning", c));
            else out += c;
        }
        return out;
    }
    [[nodiscard]] const std::string& fault() const { return fault_; }

private:
    char take() {
        const char c = rest_.front();
        rest_.remove_prefix(1);
        return c;
    }
    void note(std::string text) {
        if (fault_.empty()) fault_ = std::move(text);
    }
    const Fact* known(std::string_view name) {
        if (is_fact_ != nullptr && !(*is_fact_)(name)) note(fmt::format("no fact '{}'", name));
        return find_fact(facts_, name);
    }

    std::string fact(bool& whole) {
        const std::size_t end = rest_.find('}');
        if (end == std::string_view::npos) {
            note("'{' without its end");
            rest_ = {};
            return {};
        }
        const std::string_view named = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        if (named.starts_with('>')) return fragment(named.substr(1), whole);
        const std::size_t colon = std::min(named.find(':'), named.size());
        const Fact* const found = known(named.substr(0, colon));
        if (found != nullptr) return fact_text(*found, named.substr(std::min(colon + 1, named.size())));
        whole = false;
        return {};
    }

    std::string fragment(std::string_view name, bool& whole) {
        const auto row = std::ranges::find(kFragments, name, &Fragment::name);
        if (row == kFragments.end()) {
            note(fmt::format("no fragment '{}'", name));
            return {};
        }
        Reading inner(row->text, facts_, is_fact_);
        std::string out = inner.read({}, whole);
        if (!inner.fault().empty()) note(inner.fault());
        return out;
    }

    // Whether the condition of a group holds; nothing: it has none.
    std::optional<bool> condition() {
        const std::size_t name = static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_name) - rest_.begin());
        if (name == 0 || name == rest_.size()) return {};
        if (rest_[name] == '?' || rest_[name] == '!') {
            const bool there = known(rest_.substr(0, name)) != nullptr;
            const bool wanted = rest_[name] == '?';
            rest_.remove_prefix(name + 1);
            return there == wanted;
        }
        const std::size_t mark = rest_.find('?');
        if (rest_[name] != '=' || mark == std::string_view::npos) return {};
        const Fact* const found = known(rest_.substr(0, name));
        const std::string_view value = rest_.substr(name + 1, mark - name - 1);
        rest_.remove_prefix(mark + 1);
        return found != nullptr && fact_text(*found) == value;
    }

    std::string group() {
        const std::optional<bool> holds = condition();
        bool whole = true, other_whole = true;
        std::string body = read("|]", whole), other;
        if (!rest_.empty() && rest_.front() == '|') {
            take();
            other = read("]", other_whole);
        }
        if (rest_.empty()) note("'[' without its end");
        else take();
        if (holds.value_or(whole)) return whole ? body : std::string();
        return other_whole ? other : std::string();
    }

    std::string_view rest_;
    const Facts& facts_;
    const IsFact* is_fact_;
    std::string fault_;
};

}  // namespace

std::string sentence(std::string_view text, const Facts& facts) {
    bool whole = true;
    return Reading(text, facts, nullptr).read({}, whole);
}

std::string fault_of(std::string_view text, const std::function<bool(std::string_view)>& is_fact) {
    const Facts none;
    bool whole = true;
    Reading reading(text, none, &is_fact);
    static_cast<void>(reading.read({}, whole));
    return reading.fault();
}

}  // namespace qps::transport
