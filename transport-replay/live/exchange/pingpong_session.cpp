#include <transport-replay/live/exchange/pingpong_session.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::array kPingpongDone{std::byte{'d'}, std::byte{'o'}, std::byte{'n'}, std::byte{'e'}, std::byte{0}};
constexpr std::array kFarewell{std::byte{'E'}, std::byte{'N'}, std::byte{'D'}, std::byte{0}};

}  // namespace

PingPongSession::PingPongSession(ExchangeRole role, std::vector<QueuePairEnd> own, PingPongFormat format)
    : role_(role), format_(format), own_(std::move(own)), may_send_ends_(role == ExchangeRole::client) {
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
    const auto end = format_ == PingPongFormat::xrc ? read_xrc_pingpong_text(heard_) : read_pingpong_text(heard_);
    heard_.clear();
    if (!end)
        return fail(fmt::format("the peer's announcement of queue pair {} is not in the format of ibv_*_pingpong",
                                remote_.size() + 1));
    remote_.push_back(*end);
    if (remote_.size() < own_.size()) return;
    take(PingPongEvent::all_ends);
    says_done_ = role_ == ExchangeRole::client && format_ == PingPongFormat::plain;
}

// Whether that was the whole word, which ends with a NUL.
bool PingPongSession::hear_word(std::byte byte, Bytes word) {
    heard_.push_back(byte);
    const bool right = heard_.size() <= word.size() && std::ranges::equal(heard_, word.first(heard_.size()));
    if (!right)
        fail(fmt::format("the peer sent something other than \"{}\"", reinterpret_cast<const char*>(word.data())));
    return right && heard_.size() == word.size();
}

// A client is through before we are; nothing is taken of it until then.
void PingPongSession::hear_farewell() {
    if (state_ != PingPongState::hears_farewell || heard_.size() < kFarewell.size()) return;
    says_farewell_ = role_ == ExchangeRole::server;
    take(PingPongEvent::farewell);
}

void PingPongSession::process(Bytes bytes) {
    for (const std::byte byte : bytes) {
        switch (state_) {
            case PingPongState::hears_ends:
                heard_.push_back(byte);
                if (heard_.size() == (format_ == PingPongFormat::xrc ? kXrcPingPongEndBytes : kPingPongEndBytes))
                    hear_end();
                break;
            case PingPongState::hears_done:
                if (hear_word(byte, kPingpongDone)) take(PingPongEvent::done);
                break;
            case PingPongState::exchanges:
            case PingPongState::hears_farewell:
                if (format_ != PingPongFormat::xrc) return;  // nobody waits for anything
                if (hear_word(byte, kFarewell)) hear_farewell();
                break;
            default: return fail("the peer sends more than ibv_*_pingpong does");
        }
    }
}

void PingPongSession::closed() {
    if (state_ == PingPongState::hears_ends) fail("the peer closed the connection before it announced its queue pairs");
    if (state_ == PingPongState::hears_done) fail("the peer closed the connection before it sent \"done\"");
    if (state_ == PingPongState::hears_farewell) fail("the peer closed the connection before it sent \"END\"");
}

std::vector<std::byte> PingPongSession::take_output() {
    if (state_ == PingPongState::failed) return {};
    if (may_send_ends_ && ends_sent_ < own_.size()) {
        const QueuePairEnd& end = own_[ends_sent_++];
        if (format_ == PingPongFormat::xrc) {
            const auto text = xrc_pingpong_text(end);
            return {text.begin(), text.end()};
        }
        const auto text = pingpong_text(end);
        return {text.begin(), text.end()};
    }
    if (std::exchange(says_farewell_, false)) return {kFarewell.begin(), kFarewell.end()};
    if (!std::exchange(says_done_, false)) return {};
    return {kPingpongDone.begin(), kPingpongDone.end()};
}

void PingPongSession::proceed() {
    if (awaits() != Awaits::connect && awaits() != Awaits::traffic) return;
    if (format_ == PingPongFormat::xrc) {
        says_farewell_ = state_ == PingPongState::exchanges && role_ == ExchangeRole::client;
        take(PingPongEvent::proceed_with_xrc);
        hear_farewell();
    } else {
        take(role_ == ExchangeRole::server ? PingPongEvent::proceed_as_server : PingPongEvent::proceed_as_client);
    }
    may_send_ends_ = true;
}

Awaits PingPongSession::awaits() const {
    switch (state_) {
        case PingPongState::hears_ends:
        case PingPongState::hears_done:
        case PingPongState::hears_farewell: return Awaits::bytes;
        case PingPongState::connects: return Awaits::connect;
        case PingPongState::exchanges: return Awaits::traffic;
        case PingPongState::over:
        case PingPongState::failed: break;
    }
    return Awaits::nothing;
}

}  // namespace qps::transport::live
