// UlpDialogue: messages and transfers of one connection handed to an UlpTracker, whatever would have carried them.
#pragma once

#include <transport-replay/ulp/ulp_tracker.hpp>

#include <vector>

namespace qps::tests {

class UlpDialogue {
public:
    static constexpr transport::ConnectionId kConnection{1};
    static constexpr std::int64_t kStep = 1000;  // ns from one event to the next

    explicit UlpDialogue(transport::UlpHints hints = {}) : tracker_(std::move(hints)) {}

    UlpDialogue& say(transport::End from, const std::vector<std::byte>& bytes) {
        transport::UlpMessage message;
        message.connection = kConnection;
        message.from = from;
        message.bytes = bytes;
        message.length = bytes.size();
        message.begun = message.time = now();
        message.first_frame = message.last_frame = frame();
        message.psn = dissect::Psn{frame_};
        tracker_.deliver(message, connections_, sink_);
        return *this;
    }
    // Memory of `owner` is READ or WRITten by the other end.
    UlpDialogue& move(transport::End owner, bool read, const transport::RemoteAccess& memory, std::uint64_t bytes,
                      dissect::Bytes payload = {}) {
        transport::Transfer transfer;
        transfer.connection = kConnection;
        transfer.requester = transport::other(owner);
        transfer.read = read;
        transfer.access = memory;
        transfer.bytes = bytes;
        transfer.begun = transfer.time = now();
        transfer.first_frame = transfer.last_frame = frame();
        transfer.payload = payload;
        tracker_.transferred(transfer);
        return *this;
    }
    void finish() { report = tracker_.finish({}, sink_); }

    std::vector<transport::UlpOperation> operations;  // as they ended
    transport::UlpReport report;                      // after finish()

private:
    dissect::Instant now() { return dissect::Instant{time_ += kStep}; }
    dissect::FrameIndex frame() { return dissect::FrameIndex{++frame_}; }

    std::int64_t time_ = 0;
    std::uint32_t frame_ = 0;
    transport::Tracker connections_{false};
    transport::UlpTracker tracker_;
    transport::OperationSink sink_ = [this](const transport::UlpOperation& operation) {
        operations.push_back(operation);
    };
};

}  // namespace qps::tests
