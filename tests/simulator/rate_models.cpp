#include <dissect/headers/infiniband.hpp>
#include <tests/simulator/rate_models.hpp>
#include <transport-replay/live/verbs/dcqcn.hpp>

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr double kHeaders = 58;  // Ethernet, IPv4, UDP, BTH, ICRC
constexpr std::uint8_t kFirst = 0x00, kMiddle = 0x01, kLast = 0x02, kAcknowledge = 0x11, kCnp = 0x81, kUnlimited = 31,
                       kSequenceNak = 0x60;
constexpr Qpn kSenderQp{0x11}, kReceiverQp{0x22};
constexpr double kStart = 1e6;  // ns

// What chance decides of a scenario, once.
struct World {
    double line = 0;    // bytes per ns
    double base = 0;    // round-trip time without queue, ns
    double packet = 0;  // bytes on the wire
    std::uint32_t payload = 0;
    std::uint32_t message = 0;            // packets
    std::uint32_t asks_every = 0;         // packets, for an acknowledgment
    double kmin = 0, kmax = 0, pmax = 0;  // marking, bytes of queue
    bool marks = true;
    double busy = 0, calm = 0;                 // mean lengths of what the others do, ns
    double others_least = 0, others_most = 0;  // of the link, while they are busy
    double jitter = 0;                         // of the pace
    double noise = 0;                          // of the way back, ns
};

class Chance {
public:
    explicit Chance(std::uint64_t seed) : engine_(seed) {}
    double between(double least, double most) { return least + (most - least) * unit(); }
    double mean(double of) { return -of * std::log(1 - unit()); }
    bool one_in(double times) { return unit() * times < 1; }
    std::uint32_t of(std::uint32_t count) { return std::min(count - 1, static_cast<std::uint32_t>(unit() * count)); }

private:
    double unit() { return static_cast<double>(engine_() >> 11) / 9007199254740992.0; }  // 2^53
    std::mt19937_64 engine_;
};

World drawn(Chance& chance, RateModel model) {
    World world;
    constexpr std::array kLines{1.25, 3.125, 5.0, 12.5};  // 10 to 100 Gbit/s
    world.line = kLines[chance.of(kLines.size())];
    world.base = chance.between(6'000, 30'000);
    world.payload = chance.one_in(3) ? 1024 : 4096;
    world.packet = world.payload + kHeaders;
    world.message = 16U << chance.of(4);
    world.asks_every = 4U << chance.of(2);
    world.kmin = world.line * chance.between(3'000, 10'000);
    world.kmax = world.kmin * chance.between(2, 5);
    world.pmax = chance.between(0.1, 1);
    world.marks = !chance.one_in(3);
    if (model == RateModel::timely || model == RateModel::swift)
        world.marks = chance.one_in(3);  // where they are used, marks seldom are
    if (model == RateModel::dcqcn) world.marks = true;
    world.busy = world.base * chance.between(4, 15);
    world.calm = world.base * chance.between(6, 30);
    world.others_least = chance.between(0.3, 0.5);
    world.others_most = chance.between(0.6, 0.9);
    world.jitter = chance.between(0, 0.04);
    world.noise = world.base * chance.between(0, 0.05);
    return world;
}

// The queue before the slowest link, which others fill too.
class Queue {
public:
    Queue(const World& world, Chance& chance) : world_(world), chance_(chance), most_(world.line * 150'000) {}
    // When a packet that comes at `now` has passed, and whether it was marked.
    std::pair<double, bool> pass(double now) {
        while (turn_ < now) {
            drain(turn_);
            others_ = others_ == 0 ? world_.line * chance_.between(world_.others_least, world_.others_most) : 0;
            turn_ += chance_.mean(others_ == 0 ? world_.calm : world_.busy);
        }
        drain(now);
        const double share = (queue_ - world_.kmin) / (world_.kmax - world_.kmin);
        const bool marked = world_.marks && share > 0 && (share >= 1 || chance_.between(0, 1) < share * world_.pmax);
        queue_ = std::min(most_, queue_ + world_.packet);
        return {now + queue_ / world_.line, marked};
    }

private:
    void drain(double until) {
        queue_ = std::clamp(queue_ + (others_ - world_.line) * (until - time_), 0.0, most_);
        time_ = until;
    }
    const World& world_;
    Chance& chance_;
    double most_;  // the others are held back then
    double queue_ = 0, time_ = kStart, turn_ = kStart, others_ = 0;
};

// What a sender is told.
struct Told {
    double time = 0;
    bool cnp = false;
    std::uint32_t psn = 0;  // that is acknowledged
    double round_trip = 0;
    bool lost = false;                                                                   // the receiver lacks this PSN
    [[nodiscard]] bool operator<(const Told& other) const { return time > other.time; }  // the soonest is on top
};

// When it may send the next packet, by what it is told.
class Sender {
public:
    Sender(const RateScenario& scenario, const World& world, Chance& chance)
        : model_(scenario.model),
          world_(world),
          rate_(world.line),
          dcqcn_({.line_rate = BitsPerSecond{static_cast<std::uint64_t>(world.line * 8e9)},
                  .min_rate = BitsPerSecond{static_cast<std::uint64_t>(world.line * 8e7)},
                  .additive = BitsPerSecond{static_cast<std::uint64_t>(world.line * chance.between(4e7, 16e7))},
                  .rate_period = Duration{static_cast<std::int64_t>(chance.between(55'000, 150'000))}}) {
        const double bdp = world.line * world.base / world.packet;
        low_ = world.base + chance.between(4'000, 12'000);
        high_ = low_ + chance.between(20'000, 60'000);
        step_ = world.line * chance.between(0.004, 0.012);
        target_ = world.base + chance.between(5'000, 15'000);
        window_ =
            model_ == RateModel::fixed_window ? std::max(4.0, bdp * chance.between(0.6, 1.5)) : std::max(2.0, bdp);
        if (model_ != RateModel::dcqcn && model_ != RateModel::swift && model_ != RateModel::fixed_window &&
            model_ != RateModel::timely)
            rate_ = world.line * chance.between(0.3, 0.8);
        increase_ = std::max(1.0, bdp * chance.between(0.01, 0.03));
        chance_ = &chance;
    }
    // By now, with so many packets under way.
    [[nodiscard]] bool may(double under_way) const { return !windowed() || under_way < window_; }
    void sent(double now) {
        if (model_ == RateModel::wandering && now > turn_) {
            turn_ = now + chance_->mean(12 * world_.base);
            rate_ = world_.line * chance_->between(0.3, 0.9);
        }
        dcqcn_.on_sent(static_cast<std::uint64_t>(world_.packet), Instant{static_cast<std::int64_t>(now)});
        const double pace = windowed() ? world_.line : rate_;
        next_ = std::max(next_, now - 1) + world_.packet / pace * (1 + chance_->between(-world_.jitter, world_.jitter));
        if (model_ != RateModel::dcqcn || !dcqcn_.limited()) return;
        next_ = std::max(next_, static_cast<double>(std::to_underlying(dcqcn_.next_send())));
    }
    void told(const Told& told) {
        if (told.lost) {
            rate_ = std::max(rate_ / 2, world_.line / 50);
        } else if (told.cnp) {
            if (model_ == RateModel::dcqcn) dcqcn_.on_cnp(Instant{static_cast<std::int64_t>(told.time)});
        } else if (model_ == RateModel::timely) {
            timely(told.round_trip);
        } else if (model_ == RateModel::swift) {
            swift(told.time, told.round_trip, world_.asks_every);
        } else if (model_ == RateModel::losses) {
            rate_ = std::min(rate_ * 1.002, world_.line);
        }
    }
    [[nodiscard]] double next() const { return next_; }

private:
    [[nodiscard]] bool windowed() const { return model_ == RateModel::swift || model_ == RateModel::fixed_window; }
    void timely(double round_trip) {
        constexpr double kGain = 0.125, kBeta = 0.8;
        const double change = before_ == 0 ? 0 : round_trip - before_;
        before_ = round_trip;
        difference_ = (1 - kGain) * difference_ + kGain * change;
        const double gradient = difference_ / world_.base;
        if (round_trip < low_) {
            rate_ += step_;
        } else if (round_trip > high_) {
            rate_ *= 1 - kBeta * (1 - high_ / round_trip);
        } else if (gradient <= 0) {
            rate_ += ++falling_ >= 5 ? 5 * step_ : step_;
        } else {
            falling_ = 0;
            rate_ *= 1 - kBeta * std::min(gradient, 1.0);
        }
        rate_ = std::clamp(rate_, world_.line / 100, world_.line);
    }
    void swift(double now, double round_trip, double acknowledged) {
        constexpr double kBeta = 0.8, kMost = 0.5;
        if (round_trip < target_) {
            window_ += increase_ / window_ * acknowledged;
        } else if (now - decreased_ > round_trip) {
            window_ *= std::max(1 - kBeta * (round_trip - target_) / round_trip, 1 - kMost);
            decreased_ = now;
        }
        window_ = std::clamp(window_, 2.0, 4 * world_.line * world_.base / world_.packet + 4);
    }

    RateModel model_;
    const World& world_;
    double rate_;  // bytes per ns
    verbs::Dcqcn dcqcn_;
    Chance* chance_ = nullptr;
    double next_ = kStart, window_ = 0, low_ = 0, high_ = 0, step_ = 0, target_ = 0, increase_ = 1, decreased_ = 0,
           before_ = 0;
    double difference_ = 0, turn_ = 0;
    int falling_ = 0;
};

class RateSimulation {
public:
    explicit RateSimulation(const RateScenario& scenario)
        : scenario_(scenario),
          chance_(scenario.seed * 8 + std::to_underlying(scenario.model)),
          world_(drawn(chance_, scenario.model)),
          queue_(world_, chance_),
          sender_(scenario, world_, chance_) {
        credits_ = limit_ = 1 + chance_.of(4);
        quota_ = world_.message * world_.packet / (world_.line * chance_.between(0.15, 0.6));
        pause_ = chance_.between(1, 20) * world_.base;
        if (scenario.model == RateModel::losses) loss_ = chance_.between(400, 1500);
    }
    std::vector<Observation> run() {
        double now = kStart;
        for (std::uint32_t sent = 0; sent < scenario_.packets; ++sent) now = send_next(now);
        hear(now + 1e9);
        std::vector<std::pair<Instant, std::size_t>> order;
        for (std::size_t i = 0; i < seen_.size(); ++i) order.emplace_back(seen_[i].time, i);
        std::ranges::sort(order);
        std::vector<Observation> recorded;
        for (const auto& [time, at] : order) {
            recorded.push_back(seen_[at]);
            recorded.back().frame = FrameIndex{recorded.size()};
        }
        return recorded;
    }

private:
    double send_next(double now) {
        hear(now);
        const bool begins = place_ == 0;
        if (begins && scenario_.model == RateModel::quota && message_ == limit_) now = await_grant();
        if (begins && scenario_.model == RateModel::idle_gaps) now += chance_.mean(pause_);
        now = std::max(now, sender_.next());
        hear(now);
        while (!sender_.may(psn_ - acknowledged_) && !told_.empty()) {
            now = std::max(now, told_.top().time);
            hear(now);
        }
        if (begins) ++message_;
        put_data(now);
        sender_.sent(now);
        return now;
    }
    void put_data(double now) {
        const bool ends = place_ + 1 == world_.message;
        const bool asks = ends || psn_ % world_.asks_every == world_.asks_every - 1;
        const auto [passed, marked] = queue_.pass(now + world_.base / 4);
        const double arrives = passed + world_.base / 4;
        const bool lost = loss_ != 0 && psn_ > 100 && !again_ && chance_.one_in(loss_);
        Observation data = made(place_ == 0 ? kFirst : ends ? kLast : kMiddle, true, psn_, seen_at(now, arrives));
        data.payload_length = world_.payload;
        data.wire_length = static_cast<std::uint32_t>(world_.packet);
        data.ack_request = asks;
        data.congestion_experienced = marked && scenario_.tap == RateTap::receiver;
        if (!lost || scenario_.tap != RateTap::receiver) seen_.push_back(data);
        again_ = false;
        if (lost) {  // the receiver asks for it with the next packet, and go-back-N begins there
            answer(arrives + world_.packet / world_.line, psn_, 0, true);
            return;
        }
        if (marked && arrives - last_cnp_ >= 50'000) {
            last_cnp_ = arrives;
            Told cnp{.time = arrives + world_.base / 2 + chance_.between(0, world_.noise), .cnp = true};
            told_.push(cnp);
            if (!scenario_.one_direction) seen_.push_back(made(kCnp, false, 0, seen_at(cnp.time, arrives)));
        }
        if (ends) ++completed_;
        if (asks) answer(arrives, psn_, now, false);
        ++psn_;
        place_ = ends ? 0 : place_ + 1;
        arrived_ = arrives;
    }
    // By the tap, of what is with the sender and with the receiver then.
    [[nodiscard]] double seen_at(double sender, double receiver) const {
        if (scenario_.tap == RateTap::link) return sender + (sender < receiver ? 1 : -1) * world_.base / 5;
        return scenario_.tap == RateTap::receiver ? receiver : sender;
    }
    void answer(double at, std::uint32_t psn, double sent, bool lost) {
        Told told{
            .time = at + world_.base / 2 + chance_.between(0, world_.noise), .psn = psn, .round_trip = 0, .lost = lost};
        told.time = std::max(told.time, last_answer_ + 1);  // in order
        last_answer_ = told.time;
        told.round_trip = told.time - sent;
        told_.push(told);
        put_answer(seen_at(told.time, at), psn, lost ? kSequenceNak : code_of(limit_ - completed_), completed_);
    }
    void put_answer(double at, std::uint32_t psn, std::uint8_t syndrome, std::uint32_t completed) {
        if (scenario_.one_direction) return;
        Observation answer = made(kAcknowledge, false, psn, at);
        answer.wire_length = 62;
        answer.acknowledgment = Acknowledgment{syndrome, Msn{completed}};
        seen_.push_back(answer);
    }
    [[nodiscard]] std::uint8_t code_of(std::uint32_t credits) const {
        if (scenario_.model != RateModel::quota) return kUnlimited;
        return static_cast<std::uint8_t>(std::ranges::lower_bound(kCredits, credits) - kCredits.begin());
    }
    // The receiver gives out credits at its own pace, a few at a time, and none before those are used up. When the
    // sender goes on.
    double await_grant() {
        granted_ = std::max(granted_ + quota_ * credits_, arrived_ + 100);
        limit_ += credits_;
        const double arrives = std::max(granted_ + world_.base / 2, last_answer_ + 1);
        hear(arrives);
        put_answer(seen_at(arrives, granted_), psn_ - 1, code_of(limit_ - completed_), completed_);
        return arrives + chance_.between(300, 2'000);
    }
    void hear(double now) {
        while (!told_.empty() && told_.top().time <= now) {
            const Told told = told_.top();
            told_.pop();
            sender_.told(told);
            if (told.lost) {
                psn_ = told.psn;
                place_ = psn_ % world_.message;
                again_ = true;
                while (!told_.empty() && !told_.top().cnp) told_.pop();
            } else if (!told.cnp) {
                acknowledged_ = std::max(acknowledged_, told.psn + 1);
            }
        }
    }
    Observation made(std::uint8_t opcode, bool data, std::uint32_t psn, double time) {
        Observation packet;
        packet.kind = ObservationKind::transport;
        packet.time = Instant{1'700'000'000'000'000'000 + static_cast<std::int64_t>(time)};
        constexpr Address sender{{0, 0xffff0a000001}, AddressSpace::roce_v2},
            receiver{{0, 0xffff0a000002}, AddressSpace::roce_v2};
        packet.flow = data ? FlowKey{sender, receiver, kReceiverQp, {}} : FlowKey{receiver, sender, kSenderQp, {}};
        packet.flow_hash = FlowHash{}(packet.flow);
        packet.packet_hash = mix(++numbered_);
        packet.opcode = Opcode{opcode};
        packet.psn = Psn(psn);
        packet.icrc = CrcStatus::good;
        packet.encapsulation = Encapsulation::roce_v2;
        packet.wire_length = 64;
        packet.ip_id = data ? static_cast<std::uint16_t>(++identification_) : 0;
        return packet;
    }

    RateScenario scenario_;
    Chance chance_;
    World world_;
    Queue queue_;
    Sender sender_;
    std::priority_queue<Told> told_;
    std::vector<Observation> seen_;
    std::uint32_t psn_ = 0, place_ = 0, message_ = 0, completed_ = 0, acknowledged_ = 0, limit_ = 0, credits_ = 1,
                  identification_ = 0;
    std::uint64_t numbered_ = 0;
    double last_cnp_ = 0, last_answer_ = 0, quota_ = 0, granted_ = kStart, arrived_ = kStart, pause_ = 0, loss_ = 0;
    bool again_ = false;
};

}  // namespace

std::vector<Observation> simulate_rate(const RateScenario& scenario) { return RateSimulation(scenario).run(); }

}  // namespace qps::transport
