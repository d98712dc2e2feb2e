// Fuzzer of the stateful replay: a capture of any bytes becomes recorded conversations; one of them is played by both
// its ends, over a wire that the input loses, doubles and changes frames of. What is recorded agrees with itself, what
// is refused is refused with a sentence, what is played ends, what is compared is what was recorded, and what the
// endpoints say is right.
//
// The input: a byte of settings, one that chooses the connection, one for the number of faults, that many faults of
// kFaultBytes (a frame has one at most, see Wire::carry), then a capture. Its ICRCs are called good, or no change of it
// would be followed.
#include <dissect/capture/capture_file.hpp>
#include <tests/fuzz/followed.hpp>
#include <tests/fuzz/mutators/sealed.hpp>
#include <tests/support/forgery.hpp>
#include <tests/support/hub.hpp>
#include <transport-replay/live/replay/conversation_collector.hpp>
#include <transport-replay/live/replay/conversation_player.hpp>
#include <transport-replay/model/timeline.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace {

using namespace qps;
using namespace dissect;
using namespace transport;
using namespace transport::live;
using fuzz::demand;
using tests::WireBytes;

constexpr Address kAsks = ipv4_address(0xc0000201), kAnswers = ipv4_address(0xc0000202);
constexpr IpPort kPort{7174};
constexpr std::size_t kFaultBytes = 4;
constexpr std::size_t kMostPackets = 2000;         // of a capture
constexpr std::size_t kMostMessages = 128;         // of what is played; and what they ask for, or a run takes seconds
constexpr std::uint64_t kMostBytes = 1U << 20;     // of a conversation and its memory
constexpr int kMostTurns = 20'000;                 // of both ends
constexpr Duration kMostTime{600'000'000'000};     // of the clock of the test; then they are told to stop
constexpr Duration kMostStopping{60'000'000'000};  // CM gives up by then
constexpr Duration kPatience{500'000'000};         // who is not ready is asked every 320 us, and for ever
constexpr Instant kStart{1'800'000'000'000'000'000};  // any

struct Input {
    std::uint8_t settings = 0;
    std::uint8_t connection = 0;
    std::span<const std::uint8_t> faults;
    Bytes capture;
};

Input parted(std::span<const std::uint8_t> bytes) {
    constexpr std::size_t kHead = 3;
    if (bytes.size() < kHead) return {};
    const auto rest = bytes.subspan(kHead);
    const std::size_t faults = std::min<std::size_t>(bytes[2] * kFaultBytes, rest.size());
    return {bytes[0], bytes[1], rest.first(faults), std::as_bytes(rest.subspan(faults))};
}

// Calls each(packet) for every packet of the capture.
void for_each(Bytes capture, const auto& each) {
    auto file = CaptureFile::from_memory(capture, "fuzz");
    if (!file) return;
    Batch batch;
    Packet packet;
    std::size_t packets = 0;
    while (file->read(batch))
        for (const Frame& frame : batch.frames) {
            if (++packets > kMostPackets) return;
            decode(frame, packet);
            each(packet);
        }
}

Observation observed(const Packet& packet) {
    Observation observation;
    observe(packet, observation);
    observation.icrc = CrcStatus::good;
    return observation;
}

// One connection of the capture, as everybody reads it: once for the connections, once more for what they carried.
std::optional<RecordedConversation> recorded(const Input& input) {
    Analysis first;
    for_each(input.capture, [&](const Packet& packet) { first.observe(observed(packet)); });
    const Timeline timeline = first.finish();
    if (timeline.connections.empty()) return {};
    const ConnectionId uid = timeline.connections[input.connection % timeline.connections.size()].uid;
    struct Ended {
        ConnectionId connection{};
        End requester{};
        Message message;
    };
    std::vector<Ended> ended;
    ConversationCollector collector(timeline, uid);
    Analysis second({.message = [&](ConnectionId connection, End requester, const Message& message) {
        ended.push_back({connection, requester, message});
    }});
    const auto hand_on = [&] {
        for (const Ended& each : ended) collector.message(each.connection, each.requester, each.message);
        ended.clear();
    };
    for_each(input.capture, [&](const Packet& packet) {
        const Observation observation = observed(packet);
        collector.packet(observation, second.observe(observation));
        hand_on();
    });
    static_cast<void>(second.finish());
    hand_on();
    auto conversation = collector.finish();
    if (!conversation) {
        demand(!conversation.error().empty());
        return {};
    }
    return std::move(*conversation);
}

// What recorded_conversation.hpp says of it: in the order of first packets, one that was recorded late aside, and with
// holes of zeros.
void check(const RecordedConversation& conversation) {
    std::array<FrameIndex, 2> latest{};
    FrameIndex before{};
    for (const RecordedMessage& each : conversation.messages) {
        FrameIndex& frame = latest[static_cast<std::size_t>(each.from)];
        frame = std::max(frame, each.message.first_frame);
        demand(frame >= before);
        before = frame;
        std::uint64_t end = 0;
        for (const ByteRange& hole : each.payload.holes) {
            demand(hole.length != 0 && hole.offset >= end && hole.end() <= each.payload.bytes.size());
            end = hole.end();
            const auto bytes = Bytes(each.payload.bytes).subspan(hole.offset, hole.length);
            demand(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; }));
        }
    }
}

bool is_small(const RecordedConversation& conversation) {
    std::uint64_t bytes = 0;
    for (const RecordedMessage& each : conversation.messages) {
        bytes += each.payload.bytes.size() + (each.message.access ? each.message.access->length : 0);
        if (bytes > kMostBytes) return false;
    }
    return conversation.messages.size() <= kMostMessages;
}

bool is_small(const ConversationPart& part) {
    std::uint64_t bytes = 0;
    for (const MemoryBlock& block : part.memory.blocks) bytes += block.initial.size();
    for (const PlannedReceive& receive : part.receives)
        if (receive.room > kMostBytes) return false;
    return bytes <= kMostBytes;
}

// Two endpoints, and what happens to the frames between them.
class Wire {
public:
    explicit Wire(std::span<const std::uint8_t> faults)
        : faults_(faults), endpoints_{endpoint(kAsks, 1), endpoint(kAnswers, 2)}, known_{} {
        hub_->watch = [](std::size_t, Bytes frame) { hear(frame); };
    }
    [[nodiscard]] live::Endpoint& operator[](std::size_t side) { return endpoints_[side]; }
    void poll(std::size_t side, Instant now) {
        endpoints_[side].poll(now);
        carry(1 - side);
        known_[side] = hub_->inboxes[side].size();
    }

private:
    live::Endpoint endpoint(const Address& address, std::uint64_t last) {
        const std::uint64_t mac = 0x0200'0000'0000 + last;
        HostSettings host{.mac = Mac{mac}, .addresses = {{address, 24}}, .detect_duplicates = false};
        return {tests::HubDevice(hub_, mac), {.host = std::move(host), .seed = last}, kStart};
    }
    static void hear(Bytes bytes) {
        Frame frame;
        frame.bytes = bytes;
        frame.wire_length = static_cast<std::uint32_t>(bytes.size());
        Packet packet;
        decode(frame, packet);
        for (const Layer& layer : packet.layers()) demand(layer.fault == Fault::none);
        if (packet.has_transport()) demand(packet.icrc.status == CrcStatus::good);
    }
    void carry(std::size_t to);
    void harm(std::deque<WireBytes>& inbox, std::size_t which, std::span<const std::uint8_t> fault);

    std::shared_ptr<tests::Hub> hub_ = std::make_shared<tests::Hub>();
    std::span<const std::uint8_t> faults_;
    std::array<live::Endpoint, 2> endpoints_;
    std::array<std::size_t, 2> known_;  // frames in an inbox that had their fault, or none
};

// The frames that are new there: a fault each, while there are any; most faults are none.
void Wire::carry(std::size_t to) {
    std::deque<WireBytes>& inbox = hub_->inboxes[to];
    for (std::size_t which = known_[to]; which < inbox.size() && faults_.size() >= kFaultBytes; ++which) {
        const std::size_t before = inbox.size();
        harm(inbox, which, faults_.first(kFaultBytes));
        faults_ = faults_.subspan(kFaultBytes);
        which = which + inbox.size() - before;  // a copy has none of its own; one that is lost has its place taken
    }
    known_[to] = inbox.size();
}

// What happens, and where; what is written there. The last: 0 leaves it as it is, or nobody would get to the end.
void Wire::harm(std::deque<WireBytes>& inbox, std::size_t which, std::span<const std::uint8_t> fault) {
    enum class Kind : std::uint8_t { none, lose, twice, change, change_field, cut };
    const auto kind = static_cast<Kind>(fault[0] % 6);
    WireBytes& frame = inbox[which];
    const std::size_t at = tests::kBthAt + fault[1];
    const std::uint8_t value = fault[2];
    const bool sealed = (fault[3] & 1) == 0;
    switch (kind) {
        case Kind::none: return;
        case Kind::lose: inbox.erase(inbox.begin() + static_cast<std::ptrdiff_t>(which)); return;
        case Kind::twice: inbox.insert(inbox.begin() + static_cast<std::ptrdiff_t>(which), WireBytes(frame)); return;
        case Kind::change:
            if (at < frame.size()) frame[at] = std::byte{value};
            break;
        case Kind::change_field: tests::put_number(frame, at, 4, value * 0x0101'0101ULL); break;
        case Kind::cut: frame.resize(std::min<std::size_t>(frame.size(), tests::kBthAt + value)); break;
    }
    if (sealed && frame.size() > tests::kIpAt + 1 && frame[tests::kIpAt - 2] == std::byte{0x08} &&
        frame[tests::kIpAt - 1] == std::byte{0})
        tests::seal(frame);
}

// Both ends of it, until they are done, or time is up and they were told to stop.
class Play {
public:
    Play(const Input& input, const RecordedConversation& conversation, ConversationPart asks, ConversationPart answers)
        : conversation_(conversation),
          wire_(input.faults),
          players_{player(std::move(answers), settings_of(input, false)),
                   player(std::move(asks), settings_of(input, true))} {}

    void run(bool tells_keys) {
        if (!begin(0)) return;
        if (tells_keys) players_[1].map_keys(players_[0].untold_keys());
        if (!begin(1)) return;
        if (tells_keys) players_[0].map_keys(players_[1].untold_keys());
        if (!go_on(kStart + kMostTime)) {
            for (std::size_t i = 0; i < 2; ++i) players_[i].stop(wire_[side(i)], now_);
            turns_ = 0;
            demand(go_on(now_ + kMostStopping));
        }
        for (ConversationPlayer& each : players_) check(each);
    }

private:
    static PlayerSettings settings_of(const Input& input, bool connects) {
        PlayerSettings settings{.port = kPort,
                                .speed = (input.settings & 1) != 0 ? 1.0 : 1000.0,
                                .fast = (input.settings & 2) != 0,
                                .patience = kPatience};
        if (connects) settings.connect = Target{.address = kAnswers, .port = kPort};
        return settings;
    }
    // The first player answers.
    static constexpr std::size_t side(std::size_t player) { return 1 - player; }
    ConversationPlayer player(ConversationPart part, PlayerSettings settings) {
        return ConversationPlayer(conversation_, std::move(part), std::move(settings));
    }
    bool begin(std::size_t which) {
        const auto begun = players_[which].begin(wire_[side(which)], now_);
        demand(begun.has_value() || !begun.error().empty());
        return begun.has_value();
    }
    bool go_on(Instant end) {
        while (!players_[0].done() || !players_[1].done()) {
            if (now_ >= end || ++turns_ >= kMostTurns) return false;
            Instant next = end;
            for (std::size_t i = 0; i < 2; ++i) {
                wire_.poll(side(i), now_);
                players_[i].poll(wire_[side(i)], now_);
                static_cast<void>(players_[i].take_lines());
            }
            for (std::size_t i = 0; i < 2; ++i)
                for (const auto& due : {wire_[i].poll_at(), players_[i].poll_at()})
                    if (due) next = std::min(next, *due);
            now_ = std::max(next, now_ + nanoseconds(200));
        }
        return true;
    }
    void check(const ConversationPlayer& player) const {
        const ReplayComparison& compared = player.comparison();
        demand(compared.messages.size() == conversation_.messages.size());
        if (player.done()) demand(compared.end != ReplayEnd::running);
        std::uint64_t differences = 0;
        for (const ComparedMessage& each : compared.messages)
            for (const Difference& difference : each.differences) {
                demand(!sentence(difference).empty());
                ++differences;
            }
        demand(compared.differences() >= differences && compared.extra.size() <= compared.extra_count);
    }

    const RecordedConversation& conversation_;
    Instant now_ = kStart;
    int turns_ = 0;
    Wire wire_;
    std::array<ConversationPlayer, 2> players_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Input input = parted({data, size});
    const auto conversation = recorded(input);
    if (!conversation) return 0;
    check(*conversation);
    if (!is_small(*conversation)) return 0;
    auto asks = part_of(*conversation, conversation->requester);
    auto answers = part_of(*conversation, other(conversation->requester));
    demand((asks || !asks.error().empty()) && (answers || !answers.error().empty()));
    if (!asks || !answers || !is_small(*asks) || !is_small(*answers)) return 0;
    Play(input, *conversation, std::move(*asks), std::move(*answers)).run((input.settings & 4) != 0);
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    return qps::fuzz::mutate_capture(
        data, size, most, seed,
        std::min(size, parted({data, size}).capture.empty() ? size : size - parted({data, size}).capture.size()));
}
