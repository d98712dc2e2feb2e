#include <tests/simulator/nccl_job.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/collectives/collective_tracker.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace qps::tests {

using namespace dissect;
using namespace transport;

namespace {

constexpr unsigned kSlots = 4;
constexpr std::int64_t kPsPerByte = 80;  // 100 Gbit/s

struct JobPacket {
    std::int64_t time = 0;
    std::uint32_t channel = 0;
    bool by_receiver = false;
    Opcode opcode{};
    std::uint32_t psn = 0;
    std::uint32_t length = 0;
    std::uint64_t address = 0;
    std::optional<std::uint32_t> immediate;
    std::uint64_t index = 0;  // of an offer
    std::uint64_t data = 0;   // what the payload begins with
};

// One way between two ranks. Times of the current operation by message.
struct JobChannel {
    unsigned source = 0, destination = 0;
    std::int64_t latency = 0;
    std::uint64_t offered_before = 0;  // in earlier operations
    std::uint32_t psn = 0, offer_psn = 0;
    std::int64_t free = 0;  // the sender's link
    std::int64_t last_offer = 0;
    std::vector<std::int64_t> offer{}, written{}, arrived{}, used{};
};

class JobPlayer {
public:
    explicit JobPlayer(const NcclPlan& plan)
        : plan_(plan), random_(plan.seed * 0x9e37'79b9'7f4a'7c15 + 1), done_(plan.ranks, 1'000'000'000) {
        if (plan.tree) {
            for (unsigned child = 1; child < plan.ranks; ++child) add(child, (child - 1) / 2);
            for (unsigned child = 1; child < plan.ranks; ++child) add((child - 1) / 2, child);
        } else {
            for (unsigned rank = 0; rank < plan.ranks; ++rank) add(rank, (rank + 1) % plan.ranks);
        }
    }

    NcclRun run() {
        NcclRun run;
        for (unsigned operation = 0; operation < plan_.operations; ++operation)
            run.truth.push_back(play_operation(operation));
        run.report = watch();
        return run;
    }

private:
    void add(unsigned source, unsigned destination) {
        channels_.push_back(
            {.source = source, .destination = destination, .latency = plan_.latency + below(plan_.latency + 1)});
    }
    std::int64_t below(std::int64_t bound) {
        return bound <= 0 ? 0 : static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
    }
    std::int64_t about(std::int64_t mean) {  // exponential: some are much longer
        const double uniform = (static_cast<double>(random_() >> 11) + 0.5) / 9007199254740992.0;
        return static_cast<std::int64_t>(-static_cast<double>(mean) * std::log(uniform));
    }

    NcclTruth play_operation(unsigned operation) {
        NcclTruth truth;
        const bool late = plan_.late && below(100) < plan_.late_percent;
        host_.clear();
        for (unsigned rank = 0; rank < plan_.ranks; ++rank) {
            const std::int64_t queued = done_[rank] + about(plan_.reaction);
            std::int64_t ready = queued + plan_.compute + about(plan_.noise);
            if (late && *plan_.late == rank) ready += plan_.late_by / 2 + below(plan_.late_by + 1);
            truth.ready.push_back(ready);
            host_.push_back(plan_.ahead ? queued : ready - below(plan_.reaction + 1));
        }
        std::vector<unsigned> order(plan_.ranks);
        for (unsigned rank = 0; rank < plan_.ranks; ++rank) order[rank] = rank;
        std::ranges::sort(order, {}, [&](unsigned rank) { return truth.ready[rank]; });
        truth.last = order.back();
        truth.waited = truth.ready[order.back()] - truth.ready[order[order.size() - 2]];
        const unsigned turns = plan_.turns * (plan_.larger_every != 0 && operation % plan_.larger_every == 0 ? 2 : 1);
        const unsigned messages = turns * plan_.slices * (plan_.tree ? 1 : 2 * (plan_.ranks - 1));
        pausing_ =
            below(100) < plan_.pause_percent ? std::optional(static_cast<unsigned>(below(plan_.ranks))) : std::nullopt;
        pause_at_ = static_cast<unsigned>(below(messages));
        gpu_ = truth.ready;
        for (JobChannel& channel : channels_) {
            for (auto* times : {&channel.offer, &channel.written, &channel.arrived, &channel.used})
                times->assign(messages, 0);
            channel.last_offer = host_[channel.destination];
        }
        for (unsigned message = 0; message < messages; ++message)
            plan_.tree ? step_tree(message) : step_ring(message, messages);
        for (JobChannel& channel : channels_) {
            for (unsigned message = 0; message < messages; ++message) {
                done_[channel.source] = std::max(done_[channel.source], channel.arrived[message] + channel.latency);
                done_[channel.destination] = std::max(done_[channel.destination], channel.used[message]);
            }
            emit(channel, operation);
            channel.offered_before += messages;
        }
        return truth;
    }

    // When the GPU of a rank has done its next piece of work, not before `from`.
    std::int64_t work(unsigned rank, std::int64_t from, unsigned message) {
        std::int64_t end = std::max(gpu_[rank], from) + 500 + about(500);
        if (pausing_ == rank && message == pause_at_) end += plan_.pause;
        return gpu_[rank] = end;
    }
    void offer(JobChannel& channel, unsigned message) {
        const std::int64_t cause = message < kSlots ? host_[channel.destination] : channel.used[message - kSlots];
        channel.last_offer = std::max(channel.last_offer + 200, cause + about(plan_.reaction));
        channel.offer[message] = channel.last_offer;
    }
    std::int64_t room(const JobChannel& channel, unsigned message) const {
        return message < kSlots ? 0 : channel.arrived[message - kSlots] + channel.latency;
    }
    void write(JobChannel& channel, unsigned message, std::int64_t ready) {
        const std::int64_t may = std::max(ready, channel.offer[message] + channel.latency);
        channel.written[message] = std::max(channel.free, may + 500 + about(plan_.reaction));
        channel.free = channel.written[message] + std::int64_t{plan_.bytes} * kPsPerByte / 1000;
        channel.arrived[message] = channel.free + channel.latency;
    }
    void step_ring(unsigned message, unsigned messages) {
        for (JobChannel& channel : channels_) offer(channel, message);
        for (unsigned rank = 0; rank < plan_.ranks; ++rank) {
            JobChannel& out = channels_[rank];
            JobChannel& in = channels_[(rank + plan_.ranks - 1) % plan_.ranks];
            const bool needs = message >= plan_.slices;
            const std::int64_t ready =
                work(rank, std::max(needs ? in.arrived[message - plan_.slices] : 0, room(out, message)), message);
            if (needs) in.used[message - plan_.slices] = ready;
            write(out, message, ready);
        }
        if (message + 1 != messages) return;
        for (JobChannel& in : channels_)
            for (unsigned last = messages - plan_.slices; last < messages; ++last)
                in.used[last] = work(in.destination, in.arrived[last], messages);
    }
    JobChannel& up(unsigned child) { return channels_[child - 1]; }
    JobChannel& down(unsigned child) { return channels_[plan_.ranks - 1 + child - 1]; }
    void step_tree(unsigned message) {
        for (JobChannel& channel : channels_) offer(channel, message);
        for (unsigned rank = plan_.ranks; rank-- > 0;) {
            std::int64_t from = rank == 0 ? 0 : room(up(rank), message);
            for (const unsigned child : {2 * rank + 1, 2 * rank + 2})
                if (child < plan_.ranks) from = std::max(from, up(child).arrived[message]);
            const std::int64_t ready = work(rank, from, message);
            for (const unsigned child : {2 * rank + 1, 2 * rank + 2})
                if (child < plan_.ranks) up(child).used[message] = ready;
            if (rank != 0) write(up(rank), message, ready);
            else top_ = ready;
        }
        for (unsigned rank = 0; rank < plan_.ranks; ++rank) {
            const std::int64_t ready = rank == 0 ? top_ : std::max(top_, down(rank).arrived[message] + 500);
            if (rank != 0) down(rank).used[message] = ready;
            for (const unsigned child : {2 * rank + 1, 2 * rank + 2})
                if (child < plan_.ranks) write(down(child), message, std::max(ready, room(down(child), message)));
        }
    }

    // What a tap sees of it: as sent, or as it arrives where it is at the other end.
    void see(const JobChannel& channel, std::int64_t sent, std::int64_t arrived, JobPacket packet) {
        const unsigned from = packet.by_receiver ? channel.destination : channel.source;
        const unsigned to = packet.by_receiver ? channel.source : channel.destination;
        if (plan_.tap && *plan_.tap != from && *plan_.tap != to) return;
        packet.time = plan_.tap == to ? arrived : sent;
        packets_.push_back(packet);
    }
    void emit(JobChannel& channel, unsigned operation) {
        constexpr Opcode kOnly{0x0a}, kOnlyImmediate{0x0b}, kFirst{0x06}, kLastImmediate{0x09}, kAcknowledge{0x11};
        const auto number = static_cast<std::uint32_t>(&channel - channels_.data());
        for (unsigned message = 0; message < channel.offer.size(); ++message) {
            const std::uint64_t index = channel.offered_before + message + 1;
            const std::uint64_t address = 0x7f00'0000'0000 + (std::uint64_t{number} << 24) + (index % kSlots << 20);
            const std::int64_t offered = channel.offer[message], heard = offered + channel.latency;
            JobPacket packet{.channel = number,
                             .by_receiver = true,
                             .opcode = kOnly,
                             .psn = channel.offer_psn,
                             .length = 64,
                             .address = 0x1000,
                             .immediate = {},
                             .index = index,
                             .data = address};
            see(channel, offered, heard, packet);
            see(channel, heard + 100, heard + 100 + channel.latency,
                {.channel = number, .opcode = kAcknowledge, .psn = channel.offer_psn++, .immediate = {}});
            const std::int64_t sent = channel.written[message], last = channel.arrived[message] - channel.latency;
            // The sum of an all-reduce changes on its way; what is passed on stays.
            const std::uint64_t half = (plan_.ranks - 1) * plan_.slices, place = message % (2 * half);
            const std::uint64_t chunk = (channel.source * plan_.slices + 4 * half - place + place % plan_.slices * 2) %
                                        (plan_.ranks * plan_.slices);
            const std::uint64_t sum =
                operation * 4096 + chunk * 64 + std::min<std::uint64_t>(place / plan_.slices, plan_.ranks - 1);
            packet = {.channel = number,
                      .opcode = kFirst,
                      .psn = channel.psn++,
                      .length = plan_.bytes / 2,
                      .address = address,
                      .immediate = {},
                      .data = sum};
            if (plan_.bytes < 4096) {
                packet.opcode = kOnlyImmediate;
                packet.length = plan_.bytes;
                packet.immediate = plan_.bytes;
                see(channel, last, last + channel.latency, packet);
                continue;
            }
            see(channel, sent, sent + channel.latency, packet);
            packet = {.channel = number,
                      .opcode = kLastImmediate,
                      .psn = channel.psn++,
                      .length = plan_.bytes - plan_.bytes / 2,
                      .immediate = plan_.bytes};
            see(channel, last, last + channel.latency, packet);
        }
    }

    CollectiveReport watch() {
        std::ranges::stable_sort(packets_, {}, &JobPacket::time);
        CollectiveTracker tracker;
        std::uint64_t frame = 0;
        std::array<std::byte, 64> payload{};
        const auto put = [&](std::size_t at, std::uint64_t value, std::size_t bytes) {
            for (std::size_t i = 0; i < bytes; ++i) payload[at + i] = static_cast<std::byte>(value >> 8 * i);
        };
        for (const JobPacket& packet : packets_) {
            const JobChannel& channel = channels_[packet.channel];
            Observation observation;
            observation.kind = ObservationKind::transport;
            observation.frame = FrameIndex{++frame};
            observation.time = Instant{packet.time};
            observation.opcode = packet.opcode;
            observation.psn = Psn(packet.psn);
            observation.flow.source = host((packet.by_receiver ? channel.destination : channel.source) + 1);
            observation.flow.destination = host((packet.by_receiver ? channel.source : channel.destination) + 1);
            observation.payload_length = packet.length;
            observation.immediate = packet.immediate;
            payload.fill({});
            put(0, packet.data, 8);
            if (packet.index != 0) {
                put(8, plan_.slices == 1 ? 65536 : 1 << 20, 4);
                put(20, 1, 4);
                put(24, channel.source, 4);
                put(32, packet.index, 8);
            }
            if (packet.length != 0) observation.payload = payload;
            if (packet.address != 0) observation.access = RemoteAccess{packet.address, Rkey{1}, packet.length};
            PacketRecord record;
            record.connection = ConnectionId{packet.channel + 1};
            record.from = packet.by_receiver ? End::b : End::a;
            record.arrival = Arrival::in_order;
            tracker.observe(observation, record);
        }
        return tracker.finish({});
    }

    NcclPlan plan_;
    std::mt19937_64 random_;
    std::vector<JobChannel> channels_;
    std::vector<std::int64_t> done_, host_, gpu_;
    std::int64_t top_ = 0;
    std::optional<unsigned> pausing_;
    unsigned pause_at_ = 0;
    std::vector<JobPacket> packets_;
};

}  // namespace

NcclRun play(const NcclPlan& plan) { return JobPlayer(plan).run(); }

NcclPlan nccl_plan(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t bound) { return static_cast<unsigned>(random() % bound); };
    NcclPlan plan{.seed = seed};
    plan.tree = below(3) == 0;
    plan.ranks = (plan.tree ? 4 : 3) + below(6);
    plan.operations = 4 + below(24);
    plan.slices = 1 + below(2);
    plan.turns = 1 + below(3);
    plan.bytes = std::array{1U, 512U, 8192U, 65536U, 524288U}[below(5)];
    plan.latency = std::array{1'000, 5'000, 50'000}[below(3)];
    plan.compute = std::array{0, 100'000, 2'000'000}[below(3)];
    plan.noise = std::array{2'000, 30'000, 300'000}[below(3)];
    plan.reaction = std::array{1'000, 5'000, 30'000}[below(3)];
    plan.ahead = below(2) == 0;
    if (below(2) == 0) {
        plan.late = below(plan.ranks);
        plan.late_by = plan.noise * std::array{1, 3, 10, 40}[below(4)];
        plan.late_percent = std::array{100U, 90U, 60U}[below(3)];
    }
    if (below(3) == 0) {
        plan.pause_percent = std::array{20U, 100U}[below(2)];
        plan.pause = plan.noise * std::array{1, 10}[below(2)];
    }
    if (below(2) == 0) plan.tap = below(plan.ranks);
    return plan;
}

}  // namespace qps::tests
