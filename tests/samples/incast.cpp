#include <tests/samples/incast.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <queue>

namespace qps::tests {

using namespace dissect;

namespace {

// Times are picoseconds, so that no rounding depends on the machine: a byte takes 80 of them at 100 Gbit/s.
using Time = std::uint64_t;
constexpr Time kNanosecond = 1000, kMicrosecond = 1000 * kNanosecond, kByteTime = 80;
constexpr Time kCable = 600 * kNanosecond;          // from a host to the switch and through it, or back
constexpr Time kAnswers = 900 * kNanosecond;        // what the receiving NIC takes to answer
constexpr Time kTimeout = 4'194'304 * kNanosecond;  // local ACK timeout 10
constexpr std::uint64_t kHosts = 16, kMessages = 7, kPacketsOfMessage = 16, kMtu = 4096;
constexpr std::uint64_t kRecorded = 5;  // the sender whose link has a tap too
constexpr std::uint64_t kPackets = kMessages * kPacketsOfMessage;
constexpr std::uint64_t kAskEvery = 8;            // packets, for an ACK
constexpr std::uint64_t kFrame = kMtu + 58 + 24;  // bytes on the wire, with headers, preamble, FCS and gap
constexpr std::uint64_t kBuffer = 440'000;        // of the port of the switch, bytes
constexpr std::uint64_t kMarkFrom = 120'000, kMarkAll = 400'000;
constexpr std::size_t kSnapLength = 96;
constexpr std::uint64_t kFirstRate = 12'000, kLeastRate = 1'000, kStepRate = 400;  // of a sender, Mbit/s
constexpr Time kBetweenCnps = 50 * kMicrosecond, kRecovery = 55 * kMicrosecond;

// When the receiving host cannot take more: its NIC pauses the switch for so long.
struct Stop {
    Time at;
    Time lasts;
};
constexpr std::array kStops{Stop{142 * kMicrosecond, 11 * kMicrosecond}, Stop{231 * kMicrosecond, 16 * kMicrosecond},
                            Stop{263 * kMicrosecond, 12 * kMicrosecond}, Stop{412 * kMicrosecond, 9 * kMicrosecond}};

struct Data {
    std::uint64_t host = 0;
    std::uint64_t number = 0;  // of the packet in its connection
    bool marked = false;
    std::uint16_t identification = 0;
    [[nodiscard]] bool begins() const { return number % kPacketsOfMessage == 0; }
    [[nodiscard]] bool ends() const { return number % kPacketsOfMessage == kPacketsOfMessage - 1; }
    [[nodiscard]] bool asks() const { return number % kAskEvery == kAskEvery - 1; }
};
enum class Kind : std::uint8_t { ack, nak, cnp };
struct Reply {
    Kind kind{};
    std::uint64_t host = 0;
    std::uint64_t number = 0;    // acknowledged, or asked for
    std::uint64_t messages = 0;  // complete
    std::uint16_t identification = 0;
};

// Different start PSNs and queue pair numbers that do not follow one another, as NICs have them.
constexpr std::uint64_t first_psn(std::uint64_t host) { return (0x3a91c7 + host * 0x0b4e2d) & 0xffffff; }
constexpr std::uint64_t sender_qp(std::uint64_t host) { return 0x0006a1 + host * 0x35; }
constexpr std::uint64_t receiver_qp(std::uint64_t host) { return 0x012c40 + host * 3; }

void address(PacketSpec& spec, std::uint64_t from, std::uint64_t to) {
    const auto ip = [](std::uint64_t host) {
        return 0x0a14'0000 + (host == kHosts ? 100 : 11 + host);
    };  // 10.20.0.11 and up to 10.20.0.100
    const auto mac = [](std::uint64_t host) { return 0x02c0'ff00'0000 + 0x11 * (host + 1); };
    set(spec, "eth.src", mac(from));
    set(spec, "eth.dst", mac(to));
    set(spec, "ip.src", ip(from));
    set(spec, "ip.dst", ip(to));
    set(spec, "udp.srcport", 0xc000 + (from == kHosts ? to : from) * 0x11d % 0x3fff);
}

PacketSpec frame_of_data(const Data& data) {
    constexpr auto kWriteFirst = Opcode{0x06}, kWriteMiddle = Opcode{0x07}, kWriteLast = Opcode{0x08};
    PacketSpec spec = transport_packet(data.begins() ? kWriteFirst
                                       : data.ends() ? kWriteLast
                                                     : kWriteMiddle,
                                       Network::roce_v2_ipv4);
    address(spec, data.host, kHosts);
    set(spec, "ip.id", data.identification);
    set(spec, "ip.dsfield.dscp", 26);
    set(spec, "ip.dsfield.ecn", data.marked ? 3 : 2);
    set(spec, "infiniband.bth.m", 1);
    set(spec, "infiniband.bth.destqp", receiver_qp(data.host));
    set(spec, "infiniband.bth.psn", (first_psn(data.host) + data.number) & 0xffffff);
    set(spec, "infiniband.bth.a", data.asks() ? 1 : 0);
    if (data.begins()) {
        set(spec, "infiniband.reth.va", 0x7fa4'0000'0000 + (data.host << 28) + data.number * kMtu);
        set(spec, "infiniband.reth.r_key", 0x0018'2b00 + data.host);
        set(spec, "infiniband.reth.dmalen", kPacketsOfMessage * kMtu);
    }
    for (std::size_t i = 0; i < kMtu; ++i)
        spec.payload.push_back(static_cast<std::byte>(0xe0 + (data.number + i) % 16));
    return spec;
}

PacketSpec frame_of_reply(const Reply& reply) {
    constexpr std::uint64_t kUnlimited = 0x1f, kSequence = 0x60;  // syndromes
    const bool notifies = reply.kind == Kind::cnp;
    PacketSpec spec = transport_packet(notifies ? Opcode::cnp : Opcode::rc_acknowledge, Network::roce_v2_ipv4);
    address(spec, kHosts, reply.host);
    set(spec, "ip.id", reply.identification);
    set(spec, "ip.dsfield.dscp", notifies ? 48 : 26);
    set(spec, "ip.dsfield.ecn", notifies ? 0 : 2);
    set(spec, "infiniband.bth.destqp", sender_qp(reply.host));
    if (notifies) {
        set(spec, "infiniband.bth.becn", 1);
        return spec;
    }
    set(spec, "infiniband.bth.m", 1);
    set(spec, "infiniband.bth.psn", (first_psn(reply.host) + reply.number) & 0xffffff);
    set(spec, "infiniband.aeth.syndrome", reply.kind == Kind::nak ? kSequence : kUnlimited);
    set(spec, "infiniband.aeth.msn", reply.messages);
    return spec;
}

PacketSpec pause_of(bool stop) {
    constexpr std::uint64_t kPriority3 = 0x08;
    PacketSpec spec;
    spec.headers = {{LayerKind::ethernet}, {LayerKind::mac_control}, {LayerKind::mac_pfc}};
    address(spec, kHosts, 0);
    set(spec, "eth.dst", 0x0180c2000001);  // 802.3 31B.1
    set(spec, "macc.cbfc.enbv", kPriority3);
    set(spec, "macc.cbfc.pause_time.c3", stop ? 0xffff : 0);
    spec.trailer.resize(26);
    return spec;
}

// One that writes all its messages at once, at the rate that CNPs leave it.
struct Sender {
    std::uint64_t next = 0, acknowledged = 0;  // packets
    std::uint64_t rate = kFirstRate;
    Time free = 0;         // when its pace lets it send
    Time raised = 0;       // its rate, or cut it
    Time heard = 0;        // since when its ACK timer runs
    bool waiting = false;  // an event will have it send
    std::uint16_t identification = 0;
};

struct Receiver {
    std::uint64_t expected = 0;
    bool asked = false;  // for what is missing
    Time notified = 0;
    bool has_notified = false;
};

class Incast {
public:
    Incast() {
        for (std::uint64_t host = 0; host < kHosts; ++host) {
            Sender& sender = senders_[host];
            sender.identification = static_cast<std::uint16_t>(host * 4099 + 17);
            sender.free = sender.raised =
                (1 + host * 7 % kHosts) * 900 * kNanosecond;  // they do not begin at the same moment
            wake(host);
        }
        for (const Stop& stop : kStops) {
            at(stop.at, [this] { pause(true); });
            at(stop.at + stop.lasts, [this] { pause(false); });
        }
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            now_ = event.time;
            event.act();
        }
    }

    struct Seen {
        Time time = 0;
        PacketSpec spec;
    };
    std::vector<Seen> at_receiver, at_sender;

private:
    struct Event {
        Time time;
        std::uint64_t order;
        std::function<void()> act;
        [[nodiscard]] bool operator<(const Event& other) const {
            return std::pair(time, order) > std::pair(other.time, other.order);
        }  // the first is on top
    };
    void at(Time time, std::function<void()> act) { events_.push({time, order_++, std::move(act)}); }

    void wake(std::uint64_t host) {
        Sender& sender = senders_[host];
        if (sender.waiting || sender.next == kPackets) return;
        sender.waiting = true;
        at(std::max(now_, sender.free), [this, host] { send(host); });
    }
    void send(std::uint64_t host) {
        Sender& sender = senders_[host];
        sender.waiting = false;
        if (sender.next == kPackets) return;
        while (now_ - sender.raised >= kRecovery) {
            sender.rate = std::min(sender.rate + kStepRate, kFirstRate);
            sender.raised += kRecovery;
        }
        const Data data{host, sender.next++, false, sender.identification++};
        if (host == kRecorded) at_sender.push_back({now_, frame_of_data(data)});
        constexpr std::uint64_t kLineRate = 100'000;
        sender.free = now_ + kFrame * kByteTime * kLineRate / sender.rate;
        at(now_ + kCable, [this, data] { enter(data); });
        wake(host);
    }
    // The ACK timer begins anew whenever the receiver is heard of.
    void expect(std::uint64_t host) {
        senders_[host].heard = now_;
        at(now_ + kTimeout, [this, host] {
            Sender& sender = senders_[host];
            if (sender.acknowledged == kPackets || now_ - sender.heard < kTimeout) return;
            sender.next = sender.acknowledged;
            wake(host);
            expect(host);
        });
    }

    // At the port of the switch: marked by how much waits there, lost if there is no room.
    void enter(Data data) {
        if (queued_ + kFrame > kBuffer) return;
        const std::uint64_t over = queued_ > kMarkFrom ? queued_ - kMarkFrom : 0;
        data.marked = over * 997 / (kMarkAll - kMarkFrom) > (data.number * 389 + data.host * 127) % 997;
        queued_ += kFrame;
        queue_.push_back(data);
        if (!leaving_) leave();
    }
    void leave() {
        leaving_ = !queue_.empty() && !paused_;
        if (!leaving_) return;
        const Data data = queue_.front();
        queue_.pop_front();
        at(now_ + kFrame * kByteTime, [this, data] {
            queued_ -= kFrame;
            at_receiver.push_back({now_, frame_of_data(data)});
            at(now_ + kAnswers, [this, data] { take(data); });
            leave();
        });
    }
    void pause(bool stop) {
        at_receiver.push_back({now_, pause_of(stop)});
        at(now_ + kCable, [this, stop] {
            paused_ = stop;
            if (!leaving_) leave();
        });
    }

    void take(const Data& data) {
        Receiver& receiver = receivers_[data.host];
        if (data.marked && (!receiver.has_notified || now_ - receiver.notified >= kBetweenCnps)) {
            receiver.has_notified = true;
            receiver.notified = now_;
            answer({Kind::cnp, data.host});
        }
        if (data.number > receiver.expected) {
            if (!receiver.asked)
                answer({Kind::nak, data.host, receiver.expected, receiver.expected / kPacketsOfMessage});
            receiver.asked = true;
            return;
        }
        if (data.number == receiver.expected) {
            ++receiver.expected;
            receiver.asked = false;
        }
        if (data.asks()) answer({Kind::ack, data.host, receiver.expected - 1, receiver.expected / kPacketsOfMessage});
    }
    void answer(Reply reply) {
        reply.identification = ++identification_;
        at_receiver.push_back({now_, frame_of_reply(reply)});
        at(now_ + kCable * 2, [this, reply] { hear(reply); });
    }
    void hear(const Reply& reply) {
        Sender& sender = senders_[reply.host];
        if (reply.host == kRecorded) at_sender.push_back({now_, frame_of_reply(reply)});
        if (reply.kind == Kind::cnp) {
            sender.rate = std::max(kLeastRate, sender.rate * 5 / 8);
            sender.raised = now_;
            return;
        }
        expect(reply.host);
        sender.acknowledged = std::max(sender.acknowledged, reply.kind == Kind::ack ? reply.number + 1 : reply.number);
        if (reply.kind != Kind::nak) return;
        sender.rate = std::max(kLeastRate, sender.rate / 2);
        sender.next = reply.number;
        wake(reply.host);
    }

    std::priority_queue<Event> events_;
    std::uint64_t order_ = 0;
    Time now_ = 0;
    std::array<Sender, kHosts> senders_{};
    std::array<Receiver, kHosts> receivers_{};
    std::deque<Data> queue_;
    std::uint64_t queued_ = 0;          // bytes
    std::uint16_t identification_ = 0;  // of the receiver
    bool leaving_ = false, paused_ = false;
};

std::vector<SamplePacket> recorded(std::vector<Incast::Seen> seen, Time clock) {
    std::ranges::stable_sort(seen, {}, &Incast::Seen::time);
    std::vector<SamplePacket> packets;
    Time before = 0;
    for (Incast::Seen& one : seen) {
        const Time time = (one.time + clock) / kNanosecond;
        packets.push_back({std::move(one.spec), kSnapLength, time - before});
        before = time;
    }
    return packets;
}

}  // namespace

std::vector<SamplePacket> incast_at_receiver() { return recorded(Incast().at_receiver, 0); }
std::vector<SamplePacket> incast_at_sender() { return recorded(Incast().at_sender, 3'217 * kMicrosecond); }

}  // namespace qps::tests
