#include <transport-replay/conformance/agent/door.hpp>

#include <chrono>
#include <thread>

#include <agent/agent.hpp>
#include <fcntl.h>

namespace qps::agent {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kNap{100};  // between looks at a queue: well below what a check measures

AsyncWord word_of(ibv_event_type type) {
    switch (type) {
        case IBV_EVENT_CQ_ERR: return AsyncWord::cq_err;
        case IBV_EVENT_QP_FATAL: return AsyncWord::qp_fatal;
        case IBV_EVENT_QP_REQ_ERR: return AsyncWord::qp_req_err;
        case IBV_EVENT_QP_ACCESS_ERR: return AsyncWord::qp_access_err;
        case IBV_EVENT_COMM_EST: return AsyncWord::comm_est;
        case IBV_EVENT_SQ_DRAINED: return AsyncWord::sq_drained;
        case IBV_EVENT_SRQ_LIMIT_REACHED: return AsyncWord::srq_limit_reached;
        case IBV_EVENT_QP_LAST_WQE_REACHED: return AsyncWord::qp_last_wqe_reached;
        case IBV_EVENT_DEVICE_FATAL: return AsyncWord::device_fatal;
        case IBV_EVENT_PORT_ACTIVE: return AsyncWord::port_active;
        case IBV_EVENT_PORT_ERR: return AsyncWord::port_err;
        case IBV_EVENT_GID_CHANGE: return AsyncWord::gid_change;
        default: return AsyncWord::other;
    }
}

}  // namespace

// In the order of Verb.
const std::array<Agent::Function, kVerbCount> Agent::kFunctions{
    &Agent::hello,   &Agent::ping,       &Agent::reset_all, &Agent::quit,    &Agent::pd,         &Agent::pd_free,
    &Agent::cq,      &Agent::cq_free,    &Agent::mr,        &Agent::mr_free, &Agent::mw,         &Agent::mw_free,
    &Agent::bind,    &Agent::set,        &Agent::fill,      &Agent::read,    &Agent::hash,       &Agent::compare,
    &Agent::srq,     &Agent::srq_limit,  &Agent::srq_free,  &Agent::xrcd,    &Agent::xrcd_free,  &Agent::qp,
    &Agent::connect, &Agent::qp_set,     &Agent::qp_state,  &Agent::qp_free, &Agent::recv,       &Agent::post,
    &Agent::poll,    &Agent::attach,     &Agent::detach,    &Agent::event,   &Agent::counters,   &Agent::kernel_log,
    &Agent::listen,  &Agent::cm_connect, &Agent::accept,    &Agent::reject,  &Agent::disconnect, &Agent::cm_event,
    &Agent::cm_free, &Agent::challenge,  &Agent::prove};

Agent::Agent(Device& device) : device_(device), channel_(rdma_create_event_channel()) {
    if (channel_) fcntl(channel_->fd, F_SETFL, O_NONBLOCK);
    objects_.first_pd.reset(ibv_alloc_pd(device.context()));
    device.begin_log();
    take_async_events();  // those of clients before
    async_events_.clear();
}

std::string Agent::answer(std::string_view line) {
    const ParsedRequest parsed = parse_request(line);
    if (!parsed.request) return write_refusal(parsed);
    attend();
    const Answer answer = (this->*kFunctions[static_cast<std::size_t>(parsed.request->verb)])(parsed.request->fields);
    return answer.error.empty() ? write_answer(parsed.sequence, answer.fields)
                                : write_refusal(parsed.sequence, answer.error, answer.text);
}

void Agent::attend() {
    take_async_events();
    take_cm_events();
}

void Agent::reset() {
    attend();
    objects_.clear();
    async_events_.clear();
    cm_events_.clear();
}

void Agent::wait(const Fields& ask, const std::function<bool()>& so) {
    const auto end = Clock::now() + std::chrono::milliseconds(ask.number_or(Key::wait, 0));
    while (!so() && Clock::now() < end) {
        std::this_thread::sleep_for(kNap);
        attend();
    }
}

void Agent::take_async_events() {
    ibv_async_event event{};
    while (ibv_get_async_event(device_.context(), &event) == 0) {
        Fields fields;
        fields.add(Key::event, word_of(event.event_type));
        switch (event.event_type) {
            case IBV_EVENT_CQ_ERR:
                for (const auto& [number, cq] : objects_.cqs.all())
                    if (cq.get() == event.element.cq) fields.add(Key::cq, number);
                break;
            case IBV_EVENT_SRQ_ERR:
            case IBV_EVENT_SRQ_LIMIT_REACHED:
                for (const auto& [number, srq] : objects_.srqs.all())
                    if (srq.get() == event.element.srq) fields.add(Key::srq, number);
                break;
            case IBV_EVENT_DEVICE_FATAL:
            case IBV_EVENT_PORT_ACTIVE:
            case IBV_EVENT_PORT_ERR:
            case IBV_EVENT_LID_CHANGE:
            case IBV_EVENT_PKEY_CHANGE:
            case IBV_EVENT_SM_CHANGE:
            case IBV_EVENT_CLIENT_REREGISTER:
            case IBV_EVENT_GID_CHANGE: break;
            default:
                for (const auto& [number, pair] : objects_.qps.all()) {
                    if (pair.qp.get() != event.element.qp) continue;
                    fields.add(Key::qp, number);
                    // What an RTU says, where that was lost (12.9.7.1): librdmacm wants to be told.
                    for (const auto& [id, end] : objects_.cms.all())
                        if (event.event_type == IBV_EVENT_COMM_EST && end.qp == number)
                            rdma_notify(end.id.get(), event.event_type);
                }
        }
        ibv_ack_async_event(&event);
        if (async_events_.size() >= kMostEvents) async_events_.pop_front();
        async_events_.push_back(std::move(fields));
    }
}

Answer Agent::hello(const Fields&) { return device_.hello(); }
Answer Agent::ping(const Fields&) { return {}; }
Answer Agent::counters(const Fields&) { return device_.counters(); }
Answer Agent::kernel_log(const Fields&) { return device_.kernel_log(); }

// Where there is a secret, the door has asked for it before a request comes here.
Answer Agent::challenge(const Fields&) { return {.error = "EOPNOTSUPP", .text = std::string(kNoSecretAsked)}; }
Answer Agent::prove(const Fields&) { return {.error = "EOPNOTSUPP", .text = std::string(kNoSecretAsked)}; }

Answer Agent::reset_all(const Fields&) {
    reset();
    return {};
}

Answer Agent::quit(const Fields&) {
    reset();
    quitting_ = true;
    return {};
}

Answer Agent::event(const Fields& ask) {
    wait(ask, [&] { return !async_events_.empty(); });
    Answer answer;
    if (async_events_.empty()) {
        answer.fields.add(Key::event, AsyncWord::none);
        return answer;
    }
    answer.fields = std::move(async_events_.front());
    async_events_.pop_front();
    return answer;
}

}  // namespace qps::agent
