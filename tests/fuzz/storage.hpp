// What fuzzers of storage protocols do with their input: the bytes as one message with every field read, then as a
// conversation: the first byte of each piece says who sends, what it is, and how long.
#pragma once

#include <dissect/packet/render_value.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/fuzz/bytewise.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <cstdlib>
#include <memory>

namespace qps::fuzz {

inline void decode_all_fields(dissect::Bytes bytes, dissect::UlpProtocol protocol) {
    const auto block = std::make_unique<std::byte[]>(bytes.size());  // so that a sanitizer sees one byte too far
    std::ranges::copy(bytes, block.get());
    dissect::Packet packet;
    dissect::decode_message({block.get(), bytes.size()}, {.protocol = protocol, .from_active = true}, packet);
    std::string text;
    for (const dissect::Layer& layer : packet.layers()) {
        if (std::size_t{layer.offset} + layer.length > bytes.size()) std::abort();
        for (const dissect::Field& field : dissect::header(layer.kind).fields)
            if (const auto value = dissect::value_of(packet, layer, field)) dissect::append_words(text, field, *value);
    }
}

class Storage {
public:
    explicit Storage(transport::UlpHints hints) : ulp_(std::move(hints)) {}

    // A message, a transfer, or a message of which the capture has a part.
    void play(Bytewise& input) {
        const std::uint8_t what = input.byte();
        const transport::End from = (what & 1) != 0 ? transport::End::b : transport::End::a;
        const std::uint8_t length = input.byte();
        const auto bytes = std::as_bytes(input.take((what & 2) != 0 ? length * std::size_t{4} : length));
        const dissect::Instant now{static_cast<std::int64_t>(++frame_) * 1000};
        if ((what & 4) != 0) return transfer(bytes, from, now, (what & 8) != 0);
        transport::UlpMessage message;
        message.connection = transport::ConnectionId{1};
        message.from = from;
        message.bytes = bytes;
        message.length = bytes.size() + ((what & 16) != 0 ? what : 0);
        message.begun = message.time = now;
        message.first_frame = message.last_frame = dissect::FrameIndex{frame_};
        message.psn = dissect::Psn(static_cast<std::uint32_t>(frame_));
        ulp_.deliver(message, tracker_, sink_);
    }
    void finish() { static_cast<void>(ulp_.finish({}, sink_)); }

private:
    void transfer(dissect::Bytes bytes, transport::End from, dissect::Instant now, bool read) {
        transport::Transfer moved;
        moved.connection = transport::ConnectionId{1};
        moved.requester = from;
        moved.read = read;
        moved.access = {dissect::read_be<std::uint64_t>(bytes, 0),
                        dissect::Rkey{dissect::read_be<std::uint32_t>(bytes, 8)}, 512};
        moved.bytes = moved.access.length;
        moved.begun = moved.time = now;
        moved.first_frame = moved.last_frame = dissect::FrameIndex{frame_};
        ulp_.transferred(moved);
    }

    transport::Tracker tracker_{false};
    transport::UlpTracker ulp_;
    std::uint64_t frame_ = 0;
    // Every word of every operation.
    transport::OperationSink sink_ = [](const transport::UlpOperation& operation) {
        const transport::ProtocolRow& row = transport::row_of(operation.protocol);
        if (row.operation_name != nullptr && row.operation_name(operation.code).empty()) std::abort();
        if (row.describe != nullptr) static_cast<void>(row.describe(operation));
        if (row.status != nullptr) static_cast<void>(row.status(operation));
    };
};

inline void decode_and_follow(std::span<const std::uint8_t> data, dissect::UlpProtocol protocol) {
    decode_all_fields(std::as_bytes(data), protocol);
    for (const bool hinted : {true, false}) {
        Storage storage(hinted ? transport::UlpHints{{1, protocol}} : transport::UlpHints{});
        Bytewise input(data);
        while (!input.empty()) storage.play(input);
        storage.finish();
    }
}

}  // namespace qps::fuzz
