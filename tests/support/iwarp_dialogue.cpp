#include <dissect/ulp/crc32c.hpp>
#include <tests/support/iwarp_dialogue.hpp>

#include <algorithm>

namespace qps::tests {

using namespace dissect;
using namespace transport;

namespace {

void put(Block& to, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;) to.push_back(static_cast<std::byte>(value >> 8 * i));
}
void put(Block& to, Bytes bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

constexpr std::uint8_t kTagged = 0x80, kLast = 0x40, kDdp = 1, kRdmap = 0x40;

Block tagged(std::uint8_t opcode, std::uint32_t stag, std::uint64_t offset, bool last, Bytes payload) {
    Block made;
    put(made, kTagged | (last ? kLast : 0) | kDdp, 1);
    put(made, kRdmap | opcode, 1);
    put(made, stag, 4);
    put(made, offset, 8);
    put(made, payload);
    return made;
}

Block untagged(std::uint8_t opcode, std::uint32_t queue, const ulpdu::SegmentPosition& place, Bytes payload,
               std::uint32_t reserved = 0) {
    Block made;
    put(made, (place.last ? kLast : 0) | kDdp, 1);
    put(made, kRdmap | opcode, 1);
    put(made, reserved, 4);
    put(made, queue, 4);
    put(made, place.msn, 4);
    put(made, place.mo, 4);
    put(made, payload);
    return made;
}

}  // namespace

namespace ulpdu {

Block send(const SegmentPosition& place, Bytes payload, std::optional<std::uint32_t> invalidate) {
    return untagged(invalidate ? 4 : 3, 0, place, payload, invalidate.value_or(0));
}
Block write(std::uint32_t stag, std::uint64_t offset, bool last, Bytes payload) {
    return tagged(0, stag, offset, last, payload);
}
Block read_response(std::uint32_t stag, std::uint64_t offset, bool last, Bytes payload) {
    return tagged(2, stag, offset, last, payload);
}

Block read_request(std::uint32_t msn, const Read& read) {
    Block made;
    put(made, read.sink, 4);
    put(made, read.sink_offset, 8);
    put(made, read.length, 4);
    put(made, read.source, 4);
    put(made, read.source_offset, 8);
    return untagged(1, 1, {.msn = msn}, made);
}

Block atomic_request(std::uint32_t msn, const Atomic& atomic) {
    Block made;
    put(made, atomic.operation, 4);
    put(made, atomic.identifier, 4);
    put(made, atomic.stag, 4);
    put(made, atomic.offset, 8);
    put(made, atomic.operand, 8);
    put(made, ~std::uint64_t{0}, 8);
    put(made, atomic.compare, 8);
    put(made, ~std::uint64_t{0}, 8);
    return untagged(10, 1, {.msn = msn}, made);
}

Block atomic_response(std::uint32_t msn, std::uint32_t identifier, std::uint64_t original) {
    Block made;
    put(made, identifier, 4);
    put(made, original, 8);
    return untagged(11, 3, {.msn = msn}, made);
}

Block immediate(std::uint32_t msn, std::uint64_t value) {
    Block made;
    put(made, value, 8);
    return untagged(8, 0, {.msn = msn}, made);
}

Block terminate(std::uint8_t layer, std::uint8_t type, std::uint8_t code, std::uint8_t headers, Bytes rest) {
    Block made;
    put(made, std::uint64_t{layer} << 4 | type, 1);
    put(made, code, 1);
    put(made, std::uint64_t{headers} << 5, 1);
    put(made, 0, 1);
    put(made, rest);
    return untagged(7, 2, {}, made);
}

}  // namespace ulpdu

Block IwarpDialogue::set_up(bool reply, Bytes private_data, bool rejected) const {
    Block made = block(reply ? "MPA ID Rep Frame" : "MPA ID Req Frame");
    constexpr std::uint8_t kMarkers = 0x80, kCrc = 0x40, kRejected = 0x20, kEnhanced = 0x10;
    put(made,
        (settings_.markers ? kMarkers : 0) | (settings_.crc ? kCrc : 0) | (rejected ? kRejected : 0) |
            (settings_.revision > 1 ? kEnhanced : 0),
        1);
    put(made, settings_.revision, 1);
    put(made, private_data.size(), 2);
    put(made, private_data);
    return made;
}

void IwarpDialogue::connect(Bytes private_data, Bytes reply_data, bool rejected) {
    --sent_[0];
    segment(End::a, {}, TcpFlags::syn);
    ++sent_[0];
    --sent_[1];
    segment(End::b, {}, TcpFlags::syn | TcpFlags::ack);
    ++sent_[1];
    acknowledge(End::a);
    segment(End::a, set_up(false, private_data));
    segment(End::b, set_up(true, reply_data, rejected));
}

Block IwarpDialogue::fpdu(End from, Bytes ulpdu) {
    Block plain;
    put(plain, ulpdu.size(), 2);
    put(plain, ulpdu);
    while (plain.size() % 4 != 0) put(plain, 0, 1);
    std::uint32_t& position = in_fpdus_[static_cast<std::size_t>(from)];
    Block made;
    const auto mark = [&] {
        constexpr std::uint32_t kInterval = 512;
        if (settings_.markers && settings_.sends_markers && position % kInterval == 0) {
            const std::size_t back = made.size();
            put(made, back, 4);
            position += 4;
        }
    };
    for (std::size_t i = 0; i < plain.size(); i += 4, position += 4) {
        mark();
        put(made, slice(plain, i, 4));
    }
    mark();
    put(made, settings_.crc ? crc32c(made) : 0, 4);
    position += 4;
    return made;
}

std::size_t IwarpDialogue::segment(End from, Bytes data, std::uint8_t flags) {
    constexpr std::uint16_t kIp = 20, kTcp = 20, kClient = 40000;
    const bool a = from == End::a;
    Block frame;
    put(frame, a ? 0x020000000002 : 0x020000000001, 6);
    put(frame, a ? 0x020000000001 : 0x020000000002, 6);
    put(frame, 0x0800, 2);
    put(frame, 0x4500, 2);
    put(frame, kIp + kTcp + data.size(), 2);
    put(frame, ip_id_++, 2);
    put(frame, 0x4000, 2);
    put(frame, 0x4006, 2);
    put(frame, 0, 2);
    put(frame, a ? 0x0a000001 : 0x0a000002, 4);
    put(frame, a ? 0x0a000002 : 0x0a000001, 4);
    put(frame, a ? kClient : settings_.port, 2);
    put(frame, a ? settings_.port : kClient, 2);
    put(frame, sent_[a ? 0 : 1], 4);
    put(frame, (flags & TcpFlags::ack) != 0 ? sent_[a ? 1 : 0] : 0, 4);
    put(frame, kTcp / 4 << 4, 1);
    put(frame, flags, 1);
    put(frame, 0xffff, 2);
    put(frame, 0, 4);
    put(frame, data);
    frames.push_back(std::move(frame));
    sent_[a ? 0 : 1] += static_cast<std::uint32_t>(data.size()) + ((flags & TcpFlags::fin) != 0 ? 1 : 0);
    return frames.size();
}

std::size_t Followed::count(Verb verb, Outcome outcome) const {
    const auto fits = [&](const Ended& ended) {
        return ended.message.verb == verb && ended.message.outcome == outcome;
    };
    return static_cast<std::size_t>(std::ranges::count_if(messages, fits));
}

Followed follow(const std::vector<Block>& frames, std::size_t captured, UlpHints hints) {
    Followed followed;
    AnalysisSettings settings;
    settings.hints = std::move(hints);
    settings.message = [&](ConnectionId connection, End requester, const Message& message) {
        followed.messages.push_back({connection, requester, message});
    };
    Analysis analysis(std::move(settings));
    Packet packet;
    Observation observation;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const Block kept(frames[i].begin(),
                         frames[i].begin() + static_cast<std::ptrdiff_t>(std::min(captured, frames[i].size())));
        Frame frame;
        frame.bytes = kept;
        frame.wire_length = static_cast<std::uint32_t>(frames[i].size());
        frame.index = FrameIndex{i + 1};
        constexpr std::int64_t kApart = 1000;
        frame.time = Instant{static_cast<std::int64_t>(i + 1) * kApart};
        decode(frame, packet);
        observe(packet, observation);
        followed.episodes.push_back(analysis.observe(observation));
    }
    followed.timeline = analysis.finish();
    return followed;
}

Block pattern(std::size_t length, std::uint8_t first) {
    Block made(length);
    for (std::size_t i = 0; i < length; ++i) made[i] = static_cast<std::byte>(first + i * 7);
    return made;
}

Block joined(const Block& a, const Block& b) {
    Block made = a;
    made.insert(made.end(), b.begin(), b.end());
    return made;
}

Block block(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

}  // namespace qps::tests
