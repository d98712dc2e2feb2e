// Messages handed to an UlpTracker as who reassembles them would: one connection, time going on by a millisecond a
// message.
#pragma once

#include <tests/support/wire_bytes.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace qps::tests {

class Delivered {
public:
    static constexpr transport::ConnectionId kConnection{1};

    explicit Delivered(transport::UlpHints hints = {}) : tracker_(false), ulp_(std::move(hints)) {}

    void send(transport::End from, const Octets& bytes, std::optional<std::uint32_t> immediate = {}) {
        transport::UlpMessage message;
        message.connection = kConnection;
        message.from = from;
        message.bytes = bytes;
        message.length = bytes.size();
        message.begun = message.time = dissect::Instant{static_cast<std::int64_t>(++frame_) * 1'000'000};
        message.first_frame = message.last_frame = dissect::FrameIndex{frame_};
        message.psn = dissect::Psn(static_cast<std::uint32_t>(frame_));
        message.immediate = immediate;
        ulp_.deliver(message, tracker_, sink_);
    }
    // A WRITE or READ of that end.
    void transfer(transport::End requester, const transport::RemoteAccess& access, bool read = false) {
        transport::Transfer transfer{.connection = kConnection,
                                     .requester = requester,
                                     .read = read,
                                     .access = access,
                                     .bytes = access.length,
                                     .begun = dissect::Instant{static_cast<std::int64_t>(++frame_) * 1'000'000},
                                     .time = dissect::Instant{static_cast<std::int64_t>(frame_) * 1'000'000},
                                     .first_frame = dissect::FrameIndex{frame_},
                                     .last_frame = dissect::FrameIndex{frame_},
                                     .immediate = {},
                                     .payload = {}};
        ulp_.transferred(transfer);
    }
    void connected(const transport::CmAttempt& attempt) { ulp_.connected(kConnection, attempt, tracker_, sink_); }
    [[nodiscard]] transport::UlpTracker& ulp() { return ulp_; }
    [[nodiscard]] transport::UlpReport finish(const transport::CmReport& cm = {}) { return ulp_.finish(cm, sink_); }

    std::vector<transport::UlpOperation> operations;  // in the order they ended

private:
    transport::Tracker tracker_;
    transport::UlpTracker ulp_;
    std::uint64_t frame_ = 0;
    transport::OperationSink sink_ = [this](const transport::UlpOperation& operation) {
        operations.push_back(operation);
    };
};

// An attempt at a connection with that private data.
[[nodiscard]] inline transport::CmAttempt attempt_with(const Octets& active, const Octets& passive = {}) {
    transport::CmAttempt attempt;
    const auto fill = [](transport::PrivateData& data, const Octets& bytes) {
        std::copy_n(bytes.begin(), std::min(bytes.size(), data.first.size()), data.first.begin());
        data.room = 56;
        data.used = static_cast<std::uint16_t>(std::min<std::size_t>(bytes.size(), 56));
    };
    fill(attempt.active.private_data, active);
    fill(attempt.passive.private_data, passive);
    attempt.ip = transport::CmIpService{.protocol = 6, .port = 7471, .addressed = true};
    return attempt;
}

// Messages that are of no protocol: zeros, text, a pattern, noise.
[[nodiscard]] inline std::vector<Octets> plain_messages() {
    std::vector<Octets> all;
    std::uint64_t noise = 88172645463325252ULL;
    for (const std::size_t length :
         {std::size_t{1}, std::size_t{4}, std::size_t{48}, std::size_t{64}, std::size_t{200}, std::size_t{4096}}) {
        all.emplace_back(length);
        Octets text(length), counting(length), random(length);
        for (std::size_t i = 0; i < length; ++i) {
            text[i] = static_cast<std::byte>('a' + i % 26);
            counting[i] = static_cast<std::byte>(i);
            noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
            random[i] = static_cast<std::byte>(noise);
        }
        all.push_back(std::move(text));
        all.push_back(std::move(counting));
        all.push_back(std::move(random));
    }
    return all;
}

}  // namespace qps::tests
