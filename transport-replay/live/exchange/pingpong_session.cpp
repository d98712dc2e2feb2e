#include <transport-replay/live/exchange/pingpong_session.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::array kPingpongDone{std::byte{'d'}, std::byte{'o'}, std::byte{'n'}, std::byte{'e'}, std::byte{0}};

}  // namespace

PingPongSession::PingPongSession(ExchangeRole role, std::vector<QueuePairEnd> own)
    : role_(role), own_(std::move(own)), may_send_ends_(role == ExchangeRole::client) {
    if (own_.size() > kSrqPingPongEnds) own_.resize(kSrqPingPongEnds);
    if (own_.empty()) fail("no queue pair to announce");
}

bool PingPongSession::take(PingPongEvent event) {
    const auto next = step(kPingPongMachine, state_, event);
    if (next) state_ = *next;
    return next.has_value();
}

void PingPongSession::fail(std::string sentence) {
    if (take(PingPongEvent::nonsense)) problem_ = std::move(sentence);
}

void PingPongSession::hear_end() {
    const auto end = read_pingpong_text(heard_);
    heard_.clear();
    if (!end) return fail(fmt::format("the peer's announcement of queue pair {} is not in the format of ibv_*_pingpong", remote_.size() + 1));
    remote_.push_back(*end);
    if (remote_.size() < own_.size()) return;
    take(PingPongEvent::all_ends);
    says_done_ = role_ == ExchangeRole::client;
}

void PingPongSession::process(Bytes bytes) {
    for (const std::byte byte : bytes) {
        switch (state_) {
            case PingPongState::hears_ends:
                heard_.push_back(byte);
                if (heard_.size() == kPingPongEndBytes) hear_end();
                break;
            case PingPongState::hears_done:
                heard_.push_back(byte);
                if (!std::ranges::equal(heard_, Bytes(kPingpongDone).first(heard_.size())))
                    return fail("the peer sent something other than \"done\"");
                if (heard_.size() == kPingpongDone.size()) take(PingPongEvent::done);
                break;
            default: return fail("the peer sends more than ibv_*_pingpong does");
        }
    }
}

void PingPongSession::closed() {
    if (state_ == PingPongState::hears_ends) fail("the peer closed the connection before it announced its queue pairs");
    if (state_ == PingPongState::hears_done) fail("the peer closed the connection before it sent \"done\"");
}

std::vector<std::byte> PingPongSession::take_output() {
    if (state_ == PingPongState::failed) return {};
    if (may_send_ends_ && ends_sent_ < own_.size()) {
        const auto text = pingpong_text(own_[ends_sent_++]);
        return {text.begin(), text.end()};
    }
    if (!std::exchange(says_done_, false)) return {};
    return {kPingpongDone.begin(), kPingpongDone.end()};
}

void PingPongSession::proceed() {
    if (awaits() != Awaits::connect && awaits() != Awaits::traffic) return;
    take(role_ == ExchangeRole::server ? PingPongEvent::proceed_as_server : PingPongEvent::proceed_as_client);
    may_send_ends_ = true;
}

Awaits PingPongSession::awaits() const {
    switch (state_) {
        case PingPongState::hears_ends:
        case PingPongState::hears_done: return Awaits::bytes;
        case PingPongState::connects: return Awaits::connect;
        case PingPongState::exchanges: return Awaits::traffic;
        case PingPongState::over:
        case PingPongState::failed: break;
    }
    return Awaits::nothing;
}

}  // namespace qps::transport::live
