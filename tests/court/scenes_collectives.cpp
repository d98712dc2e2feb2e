// Scenes of groups of hosts that work in steps: a ring in which one begins late, an exchange in which all send to one
// at once.
#include <tests/court/stage.hpp>

#include <array>
#include <map>

namespace qps::court {

namespace scenes {

namespace {

constexpr unsigned kPacketsOfChunk = 16;  // of 1024 bytes each

// What ranks write to each other: a connection for each pair, in one direction.
class Exchange {
public:
    explicit Exchange(Stage& stage) : stage_(stage) {}

    // The packet of that place in a chunk, and with the last one the ACK of all.
    void write(unsigned from, unsigned to, unsigned place) {
        constexpr std::uint8_t kFirst = 0x06, kMiddle = 0x07, kLast = 0x08;  // of an RDMA WRITE
        constexpr unsigned kMostRanks = 16;
        const std::uint64_t qp = 20 + std::uint64_t{kMostRanks} * from + to;
        unsigned& number = sent_[qp];
        Settings settings{{"infiniband.bth.destqp", qp}, {"infiniband.bth.psn", 1000 * qp + number}};
        const std::uint8_t opcode = place == 0 ? kFirst : place + 1 < kPacketsOfChunk ? kMiddle : kLast;
        if (opcode == kFirst)
            settings = joined(settings, {{"infiniband.reth.va", 0x10000},
                                         {"infiniband.reth.r_key", qp},
                                         {"infiniband.reth.dmalen", kPacketsOfChunk * 1024}});
        if (opcode == kLast) settings = joined(settings, {{"infiniband.bth.a", 1}});
        stage_.packet(opcode, from, to, settings, 1024);
        if (opcode == kLast) stage_.acknowledge(to, from, qp, number);
        ++number;
    }
    void chunk(unsigned from, unsigned to) {
        for (unsigned place = 0; place < kPacketsOfChunk; ++place) write(from, to, place);
    }

private:
    Stage& stage_;
    std::map<std::uint64_t, unsigned> sent_;  // by queue pair
};

void late_rank(Stage& stage, unsigned variant) {
    const unsigned ranks = 3 + variant, late = 1 + variant;
    Exchange exchange(stage);
    for (unsigned step = 0; step < 10 + variant; ++step) {
        for (unsigned rank = 1; rank <= ranks; ++rank)
            if (rank != late) exchange.chunk(rank, rank % ranks + 1);
        stage.wait((3 - variant) * kAMillisecond);
        exchange.chunk(late, late % ranks + 1);
        stage.wait(20 * kAMillisecond);
    }
}

void all_to_one(Stage& stage, unsigned variant) {
    const unsigned ranks = 5 + variant;
    Exchange exchange(stage);
    for (unsigned step = 0; step < 8; ++step) {
        for (unsigned to = 1; to <= ranks; ++to) {
            for (unsigned place = 0; place < kPacketsOfChunk; ++place)
                for (unsigned from = 1; from <= ranks; ++from)
                    if (from != to) exchange.write(from, to, place);
        }
        stage.wait((10 + 5 * variant) * kAMillisecond);
    }
}

constexpr std::array kCollectiveScenes{
    Scene{"collective-straggler", late_rank},
    Scene{"collective-incast", all_to_one},
};

}  // namespace

}  // namespace scenes

std::span<const Scene> collective_scenes() { return scenes::kCollectiveScenes; }

}  // namespace qps::court
