#include <dissect/base/parse_value.hpp>
#include <transport-replay/live/exchange/perftest_script.hpp>
#include <transport-replay/live/exchange/perftest_session.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::size_t kVersionBytes = 16;
constexpr std::size_t kMtuBytes = 2;
constexpr double kOldestVersion = 5.33;  // from there on the iterations of a report have eight bytes
constexpr std::array kDone{std::byte{'d'}, std::byte{'o'}, std::byte{'n'}, std::byte{'e'}, std::byte{0}};
constexpr std::uint32_t kSmallestSweptSize = 2;

bool stops(PerftestStep step) { return step >= PerftestStep::connect; }

template <class T> std::vector<std::byte> big_endian(T value) {
    std::vector<std::byte> bytes(sizeof value);
    write_bits(bytes, 0, 8 * sizeof value, value);
    return bytes;
}

std::vector<std::byte> text_of(std::string_view text, std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < text.size() && i < size; ++i) bytes[i] = static_cast<std::byte>(text[i]);
    return bytes;
}

// Up to the first NUL.
std::string text_in(Bytes bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
        if (byte == std::byte{0}) break;
        text += static_cast<char>(byte);
    }
    return text;
}

std::uint8_t facts_of(const PerftestSettings& settings, ExchangeRole role) {
    Facts facts = settings.bidirectional ? kBothWays : kOneWay;
    facts |= settings.over_cm ? kOverCm : kOverTcp;
    if (settings.all_sizes) facts |= kAllSizes;
    if (!settings.duration) facts |= kIterations;
    if (role == ExchangeRole::client || settings.bidirectional) facts |= kActive;
    return facts;
}

}  // namespace

std::optional<std::string> refusal(const PerftestSettings& settings) {
    const std::string_view program = kPerftestPrograms[std::to_underlying(settings.test)];
    const bool asks = settings.test >= PerftestTest::read_bw;
    const bool atomics = settings.test >= PerftestTest::atomic_bw;
    if (settings.service != Service::rc && settings.service != Service::uc && settings.service != Service::ud)
        return fmt::format("{} supports RC, UC and UD only", program);
    if (asks && settings.service != Service::rc) return fmt::format("{} works over RC only", program);
    if (settings.over_cm && settings.service != Service::rc)
        return fmt::format("{} over rdma_cm uses RC only", program);
    if (settings.service == Service::ud && !is_send(settings.test))
        return fmt::format("{} does not work over UD", program);
    if (is_latency(settings.test) && settings.queue_pairs != 1) return fmt::format("{} uses one queue pair", program);
    if (is_latency(settings.test) && settings.bidirectional)
        return fmt::format("{} has no bidirectional mode", program);
    if (settings.queue_pairs == 0 || settings.queue_pairs > kMaxPerftestQueuePairs)
        return fmt::format("{} supports 1 to {} queue pairs", program, kMaxPerftestQueuePairs);
    if (settings.all_sizes && settings.duration)
        return fmt::format("{} runs all sizes or for a duration, not both", program);
    if (settings.all_sizes && atomics) return fmt::format("{} has one size, 8 bytes", program);
    if (atomics && settings.size != sizeof(std::uint64_t)) return fmt::format("{} has one size, 8 bytes", program);
    if (settings.size == 0) return fmt::format("{} has messages of at least one byte", program);
    return std::nullopt;
}

PerftestSession::PerftestSession(ExchangeRole role, const PerftestSettings& settings, std::vector<QueuePairEnd> own)
    : role_(role), settings_(settings), own_(std::move(own)), sizes_{settings.size} {
    if (auto sentence = refusal(settings)) fail(std::move(*sentence));
    else if (own_.size() != settings.queue_pairs)
        fail(fmt::format("there are {} queue pairs for -q {}", own_.size(), settings.queue_pairs));
    if (!problem_.empty()) return;
    remote_.resize(own_.size());
    lay_out_sizes();
    write_script();
    advance();
}

// -a: the powers of two; of UD those that fit into a packet.
void PerftestSession::lay_out_sizes() {
    if (!settings_.all_sizes) return;
    sizes_.clear();
    const std::uint32_t largest = settings_.service == Service::ud ? bytes_of(settings_.mtu) : kLargestSweptSize;
    for (std::uint32_t size = kSmallestSweptSize; size <= largest; size *= 2) sizes_.push_back(size);
}

// How much is said of UD depends on the path MTU, which is told on the way: written again then.
void PerftestSession::write_script() {
    script_.clear();
    const std::uint8_t facts = facts_of(settings_, role_);
    const auto add = [&](std::span<const ScriptRow> rows, std::uint32_t size_index) {
        for (const ScriptRow& row : rows) {
            if ((row.needs & facts) != row.needs) continue;
            const auto times = row.times == Times::once ? 1U : static_cast<std::uint32_t>(own_.size());
            for (std::uint32_t i = 0; i < times; ++i)
                script_.push_back({row.step, row.times == Times::once ? size_index : i});
        }
    };
    const Script& script = kScripts[std::to_underlying(settings_.test)];
    add(script_rows::kGreeting, 0);
    add(script.opening, 0);
    for (std::uint32_t i = 0; i < sizes_.size(); ++i) add(script.each_size, i);
    add(script.closing, static_cast<std::uint32_t>(sizes_.size() - 1));
}

void PerftestSession::fail(std::string sentence) {
    if (!problem_.empty()) return;
    problem_ = std::move(sentence);
    heard_.clear();
    output_.clear();
    at_ = script_.size();
}

std::size_t PerftestSession::length_of(PerftestStep step) const {
    switch (step) {
        case PerftestStep::version: return kVersionBytes;
        case PerftestStep::cycle_buffer:
        case PerftestStep::cache_line: return sizeof(std::uint32_t);
        case PerftestStep::mtu: return kMtuBytes;
        case PerftestStep::keys:
        case PerftestStep::sync: return settings_.over_cm ? kPerftestWordsBytes : kPerftestEndBytes;
        case PerftestStep::done: return kDone.size();
        default: return sizeof(std::uint64_t);
    }
}

std::vector<std::byte> PerftestSession::message(const Taken& taken) const {
    switch (taken.step) {
        case PerftestStep::version: return text_of(kPerftestVersion, kVersionBytes);
        case PerftestStep::cycle_buffer: return big_endian(settings_.cycle_buffer);
        case PerftestStep::cache_line: return big_endian(settings_.cache_line);
        case PerftestStep::mtu: return text_of(fmt::format("{}", std::to_underlying(settings_.mtu)), kMtuBytes);
        case PerftestStep::keys:
        case PerftestStep::sync: {
            const QueuePairEnd& end = own_[taken.step == PerftestStep::keys ? taken.index : 0];
            if (settings_.over_cm) {
                const auto words = perftest_words(end);
                return {words.begin(), words.end()};
            }
            const auto text = perftest_text(end);
            return {text.begin(), text.end()};
        }
        case PerftestStep::report_size: return big_endian(own_report_.size);
        case PerftestStep::report_iterations: return big_endian(own_report_.iterations);
        case PerftestStep::report_peak: return big_endian(std::bit_cast<std::uint64_t>(own_report_.peak));
        case PerftestStep::report_average: return big_endian(std::bit_cast<std::uint64_t>(own_report_.average));
        case PerftestStep::report_rate: return big_endian(std::bit_cast<std::uint64_t>(own_report_.message_rate));
        case PerftestStep::done: return {kDone.begin(), kDone.end()};
        default: return {};
    }
}

void PerftestSession::hear_version(Bytes bytes) {
    remote_version_ = text_in(bytes);
    const auto number = dissect::parse_real(remote_version_);
    if (!number || !std::ranges::all_of(remote_version_, [](char c) { return c > ' ' && c < 0x7f; })) {
        remote_version_.clear();
        return fail("the peer announces no perftest version");
    }
    if (number->first < kOldestVersion)
        fail(fmt::format("the peer has perftest version {}: expected at least {}", remote_version_, kOldestVersion));
}

void PerftestSession::hear_keys(std::uint32_t index, Bytes bytes) {
    const auto end = settings_.over_cm ? std::optional(read_perftest_words(bytes)) : read_perftest_text(bytes);
    if (!end)
        return fail(
            fmt::format("the peer's announcement of queue pair {} is not in the format of perftest", index + 1));
    QueuePairEnd& known = remote_[index];
    if (known == QueuePairEnd{}) {
        if (!settings_.over_cm && family_of(end->gid) != family_of(own_[index].gid))
            return fail("the peer's GID and ours are of different families, IPv4 and IPv6 (see its option -x)");
        known = *end;
    } else if (known != *end) {
        fail(
            "the peer's keys have changed: check that it runs the same program with the same options (-q, -a, -b, -D)");
    }
}

void PerftestSession::hear_number(PerftestStep step, Bytes bytes) {
    const auto number = read_be<std::uint64_t>(bytes, 0);
    switch (step) {
        case PerftestStep::report_size: remote_report_.size = number; break;
        case PerftestStep::report_iterations: remote_report_.iterations = number; break;
        case PerftestStep::report_peak: remote_report_.peak = std::bit_cast<double>(number); break;
        case PerftestStep::report_average: remote_report_.average = std::bit_cast<double>(number); break;
        default: remote_report_.message_rate = std::bit_cast<double>(number); break;
    }
}

void PerftestSession::hear(const Taken& taken, Bytes bytes) {
    switch (taken.step) {
        case PerftestStep::version: return hear_version(bytes);
        case PerftestStep::cycle_buffer: {
            const auto page = read_be<std::uint32_t>(bytes, 0);
            if (page > kMaxCycleBuffer)
                return fail(fmt::format("the peer's cycle buffer of {} bytes is too large", page));
            settings_.cycle_buffer = std::max(settings_.cycle_buffer, page);
            return;
        }
        case PerftestStep::cache_line: {
            const auto line = read_be<std::uint32_t>(bytes, 0);
            if (line > kMaxCycleBuffer)
                return fail(fmt::format("the peer's cache line of {} bytes is too large", line));
            settings_.cache_line = std::max(settings_.cache_line, line);
            return;
        }
        case PerftestStep::mtu: {
            const auto code = static_cast<std::uint8_t>(std::to_integer<int>(bytes[0]) - '0');
            const bool valid =
                code >= std::to_underlying(PathMtu::bytes_256) && code <= std::to_underlying(PathMtu::bytes_4096);
            if (!valid || bytes[1] != std::byte{0}) return fail("the peer announces no valid path MTU");
            settings_.mtu = std::min(settings_.mtu, static_cast<PathMtu>(code));
            lay_out_sizes();
            return write_script();
        }
        case PerftestStep::keys: keyed_ = true; return hear_keys(taken.index, bytes);
        case PerftestStep::sync: return keyed_ ? hear_keys(0, bytes) : void();  // before there are any, it says nothing
        default: return hear_number(taken.step, bytes);
    }
}

// As far as there is something to say or to hear. The client speaks first; "done" is said by both, and nobody waits for
// it.
void PerftestSession::advance() {
    while (at_ < script_.size() && !stops(script_[at_].step)) {
        const Taken taken = script_[at_];
        const bool last = taken.step == PerftestStep::done;
        if (!said_ && (role_ == ExchangeRole::client || last)) output_.push_back(message(taken));
        said_ = true;
        if (!last) {
            const std::size_t wanted = length_of(taken.step);
            if (settings_.over_cm && !heard_.empty() && heard_.size() != wanted)
                return fail(fmt::format(
                    "the peer's message has {} bytes where {} are expected: check that it runs the same program with "
                    "the same options (-q, -a, -b, -D)",
                    heard_.size(), wanted));
            if (heard_.size() < wanted) {
                if (peer_closed_) return fail("the peer closed the connection in the middle of the exchange");
                said_ = role_ == ExchangeRole::client;
                return;
            }
            const std::vector<std::byte> bytes(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(wanted));
            heard_.erase(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(wanted));
            // The answer is what we are, not what both agree on.
            if (role_ == ExchangeRole::server) output_.push_back(message(taken));
            hear(taken, bytes);
            if (!problem_.empty()) return;
        }
        said_ = false;
        ++at_;
    }
    if (at_ < script_.size()) size_index_ = script_[at_].index;
}

void PerftestSession::process(Bytes bytes) {
    if (at_ == script_.size()) return;  // the peer's "done"
    if (bytes.size() > kMaxHeard - heard_.size() || (settings_.over_cm && (bytes.empty() || !heard_.empty())))
        return fail("the peer sends more than perftest does");
    heard_.insert(heard_.end(), bytes.begin(), bytes.end());
    advance();
}

void PerftestSession::closed() {
    peer_closed_ = true;
    if (awaits() != Awaits::traffic && awaits() != Awaits::nothing)
        fail("the peer closed the connection in the middle of the exchange");
}

std::vector<std::byte> PerftestSession::take_output() {
    if (output_.empty()) return {};
    std::vector<std::byte> next = std::move(output_.front());
    output_.erase(output_.begin());
    return next;
}

void PerftestSession::proceed() {
    if (at_ == script_.size() || !stops(script_[at_].step)) return;
    ++at_;
    advance();
}

Awaits PerftestSession::awaits() const {
    if (at_ == script_.size()) return Awaits::nothing;
    switch (script_[at_].step) {
        case PerftestStep::connect: return Awaits::connect;
        case PerftestStep::receives: return Awaits::receives;
        case PerftestStep::traffic: return Awaits::traffic;
        default: return Awaits::bytes;
    }
}

}  // namespace qps::transport::live
