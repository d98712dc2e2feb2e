#include <dissect/base/types.hpp>
#include <transport-replay/management/exchanges.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::array<std::string_view, 5> kOutcomeNames{"open", "answered", "refused", "unanswered", "incomplete"};

bool expects_answer(ManagementMethod method) {
    switch (method) {
        case ManagementMethod::get:
        case ManagementMethod::set:
        case ManagementMethod::report:
        case ManagementMethod::get_table:
        case ManagementMethod::get_trace_table:
        case ManagementMethod::get_multi:
        case ManagementMethod::remove: return true;
        default: return false;
    }
}

// The answer to a Set is a GetResp too.
bool answers(ManagementMethod answer, ManagementMethod request) {
    return answer == request || (answer == ManagementMethod::get && request == ManagementMethod::set) ||
           (answer == ManagementMethod::get_table && request == ManagementMethod::get_trace_table);
}

}  // namespace

std::string_view name(ExchangeOutcome outcome) { return kOutcomeNames[std::to_underlying(outcome)]; }

Exchanges::Key Exchanges::key_of(const ManagementDatagram& datagram, const Address& requester,
                                 const Address& responder) {
    return {datagram.transaction, requester, responder,
            static_cast<std::uint32_t>(std::to_underlying(datagram.management_class)) << 16 | datagram.attribute};
}

void Exchanges::observe(const ManagementDatagram& datagram, const RmppStep& rmpp, const Observation& observation) {
    if (rmpp.rmpp && !rmpp.data) return take_rmpp(rmpp, datagram.attribute, observation);
    if (datagram.response) return take_answer(datagram, rmpp, observation);
    if (rmpp.rmpp) return;  // a request of several segments: its first was one, and answers are matched to that
    if (expects_answer(datagram.method)) take_request(datagram, observation);
}

void Exchanges::take_request(const ManagementDatagram& datagram, const Observation& observation) {
    const FlowKey& flow = observation.flow;
    const Key key = key_of(datagram, flow.source, flow.destination);
    const std::uint8_t hop_pointer = datagram.route ? datagram.route->hop_pointer : std::uint8_t{0};
    if (const auto found = waiting_.find(key); found != waiting_.end()) {
        Waiting& waiting = found->second;
        Exchange& exchange = waiting.exchange;
        if (waiting.hop_pointer != hop_pointer) return;
        const bool again = exchange.modifier == datagram.modifier && exchange.method == datagram.method &&
                           (!datagram.route || exchange.path == datagram.route->path);
        if (again && !waiting.answered) {
            if (exchange.retries < UINT16_MAX) ++exchange.retries;
            exchange.last_request = observation.frame;
            exchange.last_requested = observation.time;
            if (ExchangeSum* sum = sum_of(exchange)) ++sum->retries;
            return;
        }
        end(waiting, waiting.answered ? ExchangeOutcome::incomplete : ExchangeOutcome::unanswered);
        waiting_.erase(found);
    }
    if (waiting_.size() >= kMaxOpenExchanges) make_room();
    Waiting& waiting = waiting_[key];
    waiting.hop_pointer = hop_pointer;
    Exchange& exchange = waiting.exchange;
    exchange.uid = uids_++;
    exchange.management_class = datagram.management_class;
    exchange.method = datagram.method;
    exchange.attribute = datagram.attribute;
    exchange.modifier = datagram.modifier;
    exchange.transaction = datagram.transaction;
    exchange.requester = flow.source;
    exchange.responder = flow.destination;
    if (datagram.route) exchange.path = datagram.route->path;
    exchange.request = exchange.last_request = observation.frame;
    exchange.requested = exchange.last_requested = observation.time;
    if (ExchangeSum* sum = sum_of(exchange)) ++sum->requests;
}

// The requests that have waited longest, an eighth of them at a time: one of each would cost a search each.
void Exchanges::make_room() {
    std::vector<std::uint32_t> uids;
    for (const auto& [key, waiting] : waiting_) uids.push_back(waiting.exchange.uid);
    const auto last = uids.begin() + static_cast<std::ptrdiff_t>(uids.size() / 8);
    std::ranges::nth_element(uids, last);
    const std::uint32_t youngest = *last;
    boost::unordered::erase_if(waiting_, [&](auto& entry) {
        if (entry.second.exchange.uid > youngest) return false;
        end(entry.second, entry.second.answered ? ExchangeOutcome::incomplete : ExchangeOutcome::unanswered);
        return true;
    });
}

void Exchanges::take_answer(const ManagementDatagram& datagram, const RmppStep& rmpp, const Observation& observation) {
    const FlowKey& flow = observation.flow;
    const auto found = waiting_.find(key_of(datagram, flow.destination, flow.source));
    if (found == waiting_.end() || !answers(datagram.method, found->second.exchange.method)) {
        const bool first_of_several = !rmpp.rmpp || rmpp.transfer.segments + rmpp.transfer.repeated <= 1;
        if (first_of_several && datagram.method != ManagementMethod::trap) ++unasked_;
        return;
    }
    Waiting& waiting = found->second;
    Exchange& exchange = waiting.exchange;
    if (!waiting.answered) {
        waiting.answered = true;
        exchange.answer = observation.frame;
        exchange.status = datagram.status;
        if (datagram.route) exchange.return_path = datagram.route->return_path;
        if (observation.has_time) {
            exchange.latency = std::max(Duration{}, observation.time - exchange.last_requested);
            if (ExchangeSum* sum = sum_of(exchange)) {
                sum->fastest = sum->timed == 0 ? *exchange.latency : std::min(sum->fastest, *exchange.latency);
                sum->slowest = std::max(sum->slowest, *exchange.latency);
                sum->latency_sum = sum->latency_sum + *exchange.latency;
                ++sum->timed;
            }
        }
    }
    if (rmpp.rmpp) exchange.rmpp = rmpp.transfer;
    if (rmpp.rmpp && !rmpp.transfer.complete && !rmpp.transfer.given_up) return;
    end(waiting, exchange.status != 0                   ? ExchangeOutcome::refused
                 : rmpp.rmpp && !rmpp.transfer.complete ? ExchangeOutcome::incomplete
                                                        : ExchangeOutcome::answered);
    waiting_.erase(found);
}

// ACKs, STOPs and ABORTs of an answer that has not ended.
void Exchanges::take_rmpp(const RmppStep& rmpp, std::uint16_t attribute, const Observation& observation) {
    ManagementDatagram what;
    what.management_class = rmpp.key->management_class;
    what.transaction = rmpp.key->transaction;
    what.attribute = attribute;
    const FlowKey& flow = observation.flow;
    auto found = waiting_.find(key_of(what, flow.source, flow.destination));
    if (found == waiting_.end()) found = waiting_.find(key_of(what, flow.destination, flow.source));
    if (found == waiting_.end()) return;
    Waiting& waiting = found->second;
    waiting.exchange.rmpp = rmpp.transfer;
    if (!rmpp.transfer.stopped) return;
    end(waiting, ExchangeOutcome::incomplete);
    waiting_.erase(found);
}

void Exchanges::end(Waiting& waiting, ExchangeOutcome outcome) {
    Exchange& exchange = waiting.exchange;
    exchange.outcome = outcome;
    if (ExchangeSum* sum = sum_of(exchange)) {
        if (outcome == ExchangeOutcome::unanswered) ++sum->unanswered;
        else if (outcome == ExchangeOutcome::refused) ++sum->refused;
        else if (outcome == ExchangeOutcome::answered) ++sum->answered;
    }
    if (ended_.size() < kMaxExchanges) ended_.push_back(exchange);
    else ++dropped_;
}

ExchangeSum* Exchanges::sum_of(const Exchange& exchange) {
    const auto found = std::ranges::find_if(sums_, [&](const ExchangeSum& sum) {
        return sum.management_class == exchange.management_class && sum.method == exchange.method &&
               sum.attribute == exchange.attribute;
    });
    if (found != sums_.end()) return &*found;
    if (sums_.size() >= kMaxExchangeSums) return nullptr;
    ExchangeSum& sum = sums_.emplace_back();
    sum.management_class = exchange.management_class;
    sum.method = exchange.method;
    sum.attribute = exchange.attribute;
    return &sum;
}

void Exchanges::finish(Instant now, ManagementReport& report) {
    for (auto& [key, waiting] : waiting_) {
        if (waiting.answered) end(waiting, ExchangeOutcome::incomplete);
        else
            end(waiting, now - waiting.exchange.last_requested > kAnswerTime ? ExchangeOutcome::unanswered
                                                                             : ExchangeOutcome::open);
    }
    waiting_.clear();
    std::ranges::sort(ended_, {}, &Exchange::uid);
    report.sums = std::move(sums_);
    report.exchanges = std::move(ended_);
    report.exchanges_dropped = dropped_;
    report.unasked = unasked_;
}

}  // namespace qps::transport
