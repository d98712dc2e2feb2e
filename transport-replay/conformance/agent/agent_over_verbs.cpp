#include <dissect/base/types.hpp>
#include <transport-replay/conformance/agent/agent_state.hpp>
#include <transport-replay/conformance/agent/door.hpp>

#include <utility>

#include <fmt/format.h>

namespace qps::transport::conformance::agent {

using namespace dissect;
using State = AgentState;

namespace {

// What ibverbs would have returned.
constexpr std::array<std::string_view, verbs::kVerbsErrorNames.size()> kVerbsErrno{
    "ENOENT", "ENOSPC", "ENOMEM", "EINVAL", "EINVAL", "EINVAL", "EINVAL", "EOPNOTSUPP", "EINVAL", "EBUSY"};
constexpr std::array<std::string_view, live::kCmErrorNames.size()> kCmErrno{"ENOENT", "EINVAL", "EMSGSIZE", "EINVAL",
                                                                            "ENOSPC"};

constexpr std::array kAsyncOf{
    AsyncWord::cq_err,   AsyncWord::qp_fatal,   AsyncWord::qp_req_err,        AsyncWord::qp_access_err,
    AsyncWord::comm_est, AsyncWord::sq_drained, AsyncWord::srq_limit_reached, AsyncWord::qp_last_wqe_reached};
static_assert(kAsyncOf.size() == verbs::kAsyncEventNames.size());

template <class T> void keep(std::deque<T>& all, T event) {
    if (all.size() >= kMostEvents) all.pop_front();
    all.push_back(std::move(event));
}

void add(verbs::QpCounts& sum, const verbs::QpCounts& counts) {
    sum.retransmitted += counts.retransmitted;
    sum.sequence_naks += counts.sequence_naks;
    sum.rnr_naks += counts.rnr_naks;
    sum.timeouts += counts.timeouts;
    sum.ghosts += counts.ghosts;
}

}  // namespace

std::unexpected<Refused> refused(std::string_view name, std::string_view where) {
    return std::unexpected(Refused{std::string(name), std::string(where)});
}
std::unexpected<Refused> refused(verbs::VerbsError why, std::string_view where) {
    const auto index = static_cast<std::size_t>(why);
    return refused(kVerbsErrno[index], fmt::format("{}: {}", where, verbs::kVerbsErrorNames[index]));
}
std::unexpected<Refused> refused(live::CmError why, std::string_view where) {
    const auto index = static_cast<std::size_t>(why);
    return refused(kCmErrno[index], fmt::format("{}: {}", where, live::kCmErrorNames[index]));
}
std::unexpected<Refused> unknown(std::string_view key) { return refused("ENOENT", fmt::format("no such {}", key)); }

// In the order of Verb.
const std::array<State::Function, kVerbCount> State::kFunctions{
    &State::hello,   &State::ping,       &State::reset,    &State::quit,    &State::pd,         &State::pd_free,
    &State::cq,      &State::cq_free,    &State::mr,       &State::mr_free, &State::mw,         &State::mw_free,
    &State::bind,    &State::set,        &State::fill,     &State::read,    &State::hash,       &State::compare,
    &State::srq,     &State::srq_limit,  &State::srq_free, &State::xrcd,    &State::xrcd_free,  &State::qp,
    &State::connect, &State::qp_set,     &State::qp_state, &State::qp_free, &State::recv,       &State::post,
    &State::poll,    &State::attach,     &State::detach,   &State::event,   &State::counters,   &State::kernel_log,
    &State::listen,  &State::cm_connect, &State::accept,   &State::reject,  &State::disconnect, &State::cm_event,
    &State::cm_free, &State::challenge,  &State::prove};

AgentOverVerbs::AgentOverVerbs() : state_(std::make_unique<AgentState>()) {}
AgentOverVerbs::AgentOverVerbs(AgentOverVerbs&&) noexcept = default;
AgentOverVerbs& AgentOverVerbs::operator=(AgentOverVerbs&&) noexcept = default;
AgentOverVerbs::~AgentOverVerbs() = default;

void AgentOverVerbs::hear(std::string_view line, live::Endpoint& endpoint, Instant now) {
    if (line.find_first_not_of(" \r\n") == std::string_view::npos || state_->quitting) return;
    if (state_->lines.size() >= kMostWaiting) {
        state_->output +=
            write_refusal(0, kFaultWords[std::to_underlying(Fault::line)], "too many before the answer to the first");
        state_->quitting = true;
        return;
    }
    state_->lines.emplace_back(line.substr(0, kMostLine + 1));
    state_->work_off({endpoint, now});
}

void AgentOverVerbs::poll(live::Endpoint& endpoint, Instant now) {
    const Turn turn{endpoint, now};
    state_->joins = false;
    state_->take_events(turn);
    state_->work_off(turn);
}

std::optional<Instant> AgentOverVerbs::poll_at() const {
    if (state_->joins) return live::kAtOnce;
    return state_->lines.empty() ? std::nullopt : state_->waits_until;
}
std::string AgentOverVerbs::take_output() { return std::exchange(state_->output, {}); }
bool AgentOverVerbs::quitting() const { return state_->quitting; }

void AgentOverVerbs::reset(live::Endpoint& endpoint, Instant now) {
    state_->lines.clear();
    state_->clear({endpoint, now});
}

void State::work_off(const Turn& turn) {
    while (!lines.empty() && !quitting) {
        const ParsedRequest parsed = parse_request(lines.front());
        if (parsed.request) {
            const Fields& ask = parsed.request->fields;
            if (!waits_until)
                waits_until = turn.now + microseconds(static_cast<std::int64_t>(ask.number_or(Key::wait, 0)) * 1000);
            const Later answer = (this->*kFunctions[std::to_underlying(parsed.request->verb)])(ask, turn);
            if (!answer) return;
            output += *answer ? write_answer(parsed.sequence, **answer)
                              : write_refusal(parsed.sequence, answer->error().name, answer->error().text);
        } else {
            output += write_refusal(parsed);
        }
        waits_until.reset();
        lines.pop_front();
    }
    if (quitting) lines.clear();
}

bool State::waited_long_enough(const Fields&, const Turn& turn) { return !waits_until || turn.now >= *waits_until; }

void State::take_events(const Turn& turn) {
    for (const live::ConnectionEvent& event : turn.endpoint.connections().take_events()) take_cm_event(event);
    for (const verbs::AsyncEvent& event : turn.endpoint.connections().take_async_events()) {
        Fields fields;
        fields.add(Key::event, kAsyncOf[static_cast<std::size_t>(event.type)]);
        if (event.type == verbs::AsyncEventType::cq_err) {
            for (const auto& [number, cq] : cqs.all())
                if (cq == event.cq) fields.add(Key::cq, number);
        } else if (event.type == verbs::AsyncEventType::srq_limit_reached) {
            for (const auto& [number, srq] : srqs.all())
                if (srq == event.srq) fields.add(Key::srq, number);
        } else if (const std::uint64_t number = qp_of(event.qp); number != 0) {
            fields.add(Key::qp, number);
        }
        keep(events, std::move(fields));
    }
}

std::uint64_t State::qp_of(Qpn qpn) {
    for (const auto& [number, pair] : qps.all())
        if (pair.qpn == qpn) return number;
    return 0;
}

// In the order that verbs demand; what fails is gone with the endpoint.
void State::clear(const Turn& turn) {
    verbs::Adapter& adapter = turn.adapter();
    for (auto& [number, end] : cms.all()) end_cm(end, turn);
    cms.clear();
    for (const auto& [number, pair] : qps.all()) {
        if (const auto status = adapter.query_qp(pair.qpn)) add(gone, status->counts);
        static_cast<void>(adapter.destroy_qp(pair.qpn));
    }
    qps.clear();
    for (const auto& [number, window] : windows.all()) static_cast<void>(adapter.dealloc_mw(window.window.handle));
    windows.clear();
    for (const auto& [number, srq] : srqs.all()) static_cast<void>(adapter.destroy_srq(srq));
    srqs.clear();
    for (const auto& [number, xrcd] : xrcds.all()) static_cast<void>(adapter.close_xrcd(xrcd));
    xrcds.clear();
    for (const auto& [number, cq] : cqs.all()) static_cast<void>(adapter.destroy_cq(cq));
    cqs.clear();
    for (const auto& [number, region] : regions.all()) static_cast<void>(adapter.dereg_mr(region.mr.lkey));
    regions.clear();
    memory = 0;
    for (const auto& [number, pd] : pds.all()) static_cast<void>(adapter.dealloc_pd(pd));
    pds.clear();
    if (first_pd) static_cast<void>(adapter.dealloc_pd(*std::exchange(first_pd, std::nullopt)));
    events.clear();
    cm_events.clear();
    taken.clear();
    waits_until.reset();
}

State::Later State::hello(const Fields&, const Turn& turn) {
    const verbs::AdapterSettings& settings = turn.adapter().settings();
    Fields fields;
    fields.add(Key::protocol, kProtocolVersion)
        .add(Key::agent, std::string_view("qpscope"))
        .add(Key::device, std::string_view("qpscope"));
    fields.add(Key::port, std::uint64_t{1}).add(Key::port_state, std::string_view("PORT_ACTIVE"));
    fields.add(Key::mtu, std::uint64_t{std::to_underlying(settings.mtu)} - 1);
    for (std::size_t i = 0; i < settings.addresses.size(); ++i) {
        const Address& each = settings.addresses[i];
        fields.add(Key::gid, fmt::format("{}/{}/{}{}", i, each.space == AddressSpace::roce_v1 ? "RoCEv1" : "RoCEv2",
                                         verbs::is_ipv4(each) ? "::ffff:" : "", transport::text(each)));
    }
    for (const Pkey pkey : settings.pkeys) fields.add(Key::pkey, std::uint64_t{std::to_underlying(pkey)});
    fields.add(Key::features, bit(Feature::atomic) | bit(Feature::mw_1) | bit(Feature::mw_2) | bit(Feature::flush) |
                                  bit(Feature::atomic_write) | bit(Feature::srq) | bit(Feature::multicast) |
                                  bit(Feature::cm) | bit(Feature::counters) | bit(Feature::xrc));
    fields.add(Key::max_rd_atomic, std::uint64_t{verbs::kMaxRdAtomic})
        .add(Key::max_init_rd_atomic, std::uint64_t{verbs::kMaxRdAtomic});
    fields.add(Key::max_work, std::uint64_t{verbs::kMaxQpWr}).add(Key::max_sge, std::uint64_t{verbs::kMaxSge});
    return fields;
}

State::Later State::ping(const Fields&, const Turn&) { return Fields{}; }

State::Later State::reset(const Fields&, const Turn& turn) {
    clear(turn);
    return Fields{};
}

State::Later State::quit(const Fields&, const Turn& turn) {
    clear(turn);
    quitting = true;
    return Fields{};
}

State::Later State::event(const Fields& ask, const Turn& turn) {
    if (events.empty() && !waited_long_enough(ask, turn)) return std::nullopt;
    if (events.empty()) return Fields{}.add(Key::event, AsyncWord::none);
    Fields fields = std::move(events.front());
    events.pop_front();
    return fields;
}

// Those that mean what a counter of rxe or mlx5 means have its name.
State::Later State::counters(const Fields&, const Turn& turn) {
    const live::EndpointCounts& wire = turn.endpoint.counts();
    const verbs::AdapterCounts& adapter = turn.adapter().counts();
    verbs::QpCounts sum = gone;
    for (const auto& [number, pair] : qps.all())
        if (const auto status = turn.adapter().query_qp(pair.qpn)) add(sum, status->counts);
    Fields fields;
    const auto add_counter = [&](std::string_view name, std::uint64_t value) {
        fields.add(Key::counter, fmt::format("{}:{}", name, value));
    };
    add_counter("sent_pkts", wire.packets_sent);
    add_counter("rcvd_pkts", wire.packets_received);
    add_counter("rx_icrc_encapsulated", wire.wrong_icrc);
    add_counter("malformed", wire.malformed);
    add_counter("rcvd_seq_err", sum.sequence_naks);
    add_counter("rcvd_rnr_err", sum.rnr_naks);
    add_counter("completer_retry_err", sum.timeouts);
    add_counter("retransmitted", sum.retransmitted);
    add_counter("ghosts", sum.ghosts);
    add_counter("np_ecn_marked_roce_packets", adapter.marked);
    add_counter("np_cnp_sent", adapter.cnps_sent);
    add_counter("rp_cnp_handled", adapter.cnps_received);
    add_counter("bad_pkey_cntr", adapter.of(verbs::Refusal::pkey));
    add_counter("qkey_viol_cntr", adapter.of(verbs::Refusal::qkey));
    for (std::size_t i = 0; i < verbs::kRefusalNames.size(); ++i)
        add_counter(fmt::format("refused_{}", verbs::kRefusalNames[i]), adapter.refused[i]);
    return fields;
}

State::Later State::kernel_log(const Fields&, const Turn&) {
    return Answer(refused("EOPNOTSUPP", "there is no kernel below"));
}

// Where there is a secret, the door has asked for it before a request comes here.
State::Later State::challenge(const Fields&, const Turn&) { return Answer(refused("EOPNOTSUPP", kNoSecretAsked)); }
State::Later State::prove(const Fields&, const Turn&) { return Answer(refused("EOPNOTSUPP", kNoSecretAsked)); }

}  // namespace qps::transport::conformance::agent
