// Fuzzer of two queue pairs of ours that talk to each other: the input says what either is asked to do, and what
// becomes of every packet on the way between them. Each work request completes once and in its order, what arrives is
// what was sent, memory that nobody named stays as it was, and once the wire is good again nothing is left waiting.
//
// The input: a byte of settings, then records: a byte of kind, and for a work request two bytes of length and two of
// place. The bytes that are left when packets go out are what becomes of them, one byte each; when there are none, all
// arrive.
#include <tests/fuzz/bytewise.hpp>
#include <tests/support/verbs_pair.hpp>

#include <array>
#include <cstdlib>
#include <deque>

using namespace qps;
using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::verbs;

namespace {

void demand(bool holds) {
    if (!holds) std::abort();
}

// The parts of either side's memory.
constexpr std::uint32_t kPattern = 0, kPatternEnd = 16U << 10U;            // sent and read, never changed
constexpr std::uint32_t kOpen = kPatternEnd, kOpenEnd = 32U << 10U;        // written by the peer
constexpr std::uint32_t kCounter = kOpenEnd;                               // eight bytes that the peer adds to
constexpr std::uint32_t kGuard = kCounter + 8, kGuardEnd = kGuard + 1024;  // nobody names it
constexpr std::uint32_t kLanding = kGuardEnd;  // READs, ATOMICs and receives come here, each to a place of its own
constexpr std::uint32_t kMemory = 1U << 16U;

constexpr std::uint32_t kLongest = 3000;
constexpr std::byte kUntouched{0xa5};
constexpr Duration kStep{300'000'000};        // some time-outs
constexpr Duration kPatience{5'000'000'000};  // all of them, and seven times

struct Asked {
    WrOpcode opcode{};
    std::uint32_t length = 0;
    std::uint32_t from = 0;     // in the pattern
    std::uint32_t landing = 0;  // of a READ or ATOMIC
    std::uint64_t original = 0;
    std::uint32_t imm = 0;
};

bool lands(WrOpcode opcode) { return opcode == WrOpcode::rdma_read || opcode == WrOpcode::atomic_fetch_and_add; }
bool takes_receive(WrOpcode opcode) {
    return opcode == WrOpcode::send || opcode == WrOpcode::send_with_imm || opcode == WrOpcode::rdma_write_with_imm;
}
bool has_immediate(WrOpcode opcode) {
    return opcode == WrOpcode::send_with_imm || opcode == WrOpcode::rdma_write_with_imm;
}

// One side as it must be.
struct Side {
    tests::VerbsEnd* end = nullptr;
    Qpn qp{};
    std::deque<Asked> asked;             // whose completion is due, in order
    std::deque<std::uint32_t> receives;  // where they lead, in order
    std::deque<Asked> arriving;          // what the peer asked that takes a receive, in order
    std::vector<std::byte> open;         // as the peer's WRITEs must leave it
    std::uint64_t counter = 0;           // as the peer's ATOMICs must leave it
    std::uint32_t landing = kLanding;    // the next free place
    std::uint64_t posted = 0, completed = 0, posted_receives = 0, completed_receives = 0;
    bool failed = false;
};

std::span<const std::byte> bytes_at(const tests::VerbsEnd& end, std::uint32_t at, std::uint32_t length) {
    return std::span(end.memory).subspan(at, length);
}

class Conversation {
public:
    explicit Conversation(std::span<const std::uint8_t> input) : input_(input) {
        for (tests::VerbsEnd* end : {&pair_.a, &pair_.b})
            for (std::size_t i = 0; i < kMemory; ++i)
                end->memory[i] = i < kPatternEnd ? static_cast<std::byte>(i * 31 + i / 256)
                                 : i < kGuard    ? std::byte{}
                                                 : kUntouched;
        const std::uint8_t settings = input_.byte();
        QpAttr attributes;
        attributes.retry_cnt = 7;
        attributes.rnr_retry = static_cast<std::uint8_t>(settings & 7U);
        constexpr std::uint8_t kTenMilliseconds = 20,
                               kTimers = 12;  // shorter ones are a hundred thousand turns of nothing
        attributes.min_rnr_timer = static_cast<std::uint8_t>(kTenMilliseconds + (settings >> 3U) % kTimers);
        const auto [qa, qb] = pair_.pair(QpType::rc, attributes);
        a_.end = &pair_.a, a_.qp = qa;
        b_.end = &pair_.b, b_.qp = qb;
        a_.open.resize(kOpenEnd - kOpen);
        b_.open.resize(kOpenEnd - kOpen);
        pair_.network = [this](tests::Flying& flying, bool from_a) { return arrives(flying, from_a); };
    }

    void run() {
        constexpr int kMostSteps = 48;
        for (int steps = 0; steps < kMostSteps && !input_.empty(); ++steps) step();
        good_ = true;
        release();
        // First what the peer may wait for, for who finds no receive asks for ever.
        for (int more = 0; more < kMostSteps; ++more) {
            receive(a_);
            receive(b_);
            pair_.converse();
            take_completions();
        }
        pair_.converse_for(kPatience);
        take_completions();
        judge();
    }

private:
    void step() {
        const std::uint8_t kind = input_.byte();
        Side& side = (kind & 1U) != 0 ? b_ : a_;
        Side& peer = &side == &a_ ? b_ : a_;
        switch (kind >> 1U & 7U) {
            case 0: receive(side); break;
            case 1: pair_.converse(); break;
            case 2: pair_.converse_for(kStep); break;
            case 3: take_completions(); break;
            default: post(side, peer, kind >> 4U); break;
        }
    }

    void receive(Side& side) {
        if (side.landing + kLongest > kMemory) return;
        if (!side.end->receive(side.qp, side.posted_receives, side.landing, kLongest)) return;
        ++side.posted_receives;
        side.receives.push_back(side.landing);
        side.landing += kLongest;
    }

    void post(Side& side, Side& peer, unsigned what) {
        constexpr std::array kOpcodes{
            WrOpcode::send,      WrOpcode::send_with_imm,        WrOpcode::rdma_write, WrOpcode::rdma_write_with_imm,
            WrOpcode::rdma_read, WrOpcode::atomic_fetch_and_add, WrOpcode::rdma_write, WrOpcode::rdma_read};
        const auto number = [&] { return static_cast<std::uint32_t>(input_.byte() | input_.byte() << 8U); };
        Asked asked{.opcode = kOpcodes[what % kOpcodes.size()],
                    .length = number() % kLongest,
                    .from = number() % (kPatternEnd - kLongest)};
        asked.imm = asked.from;
        SendWr work{.wr_id = side.posted, .opcode = asked.opcode, .imm_data = asked.imm};
        work.send_flags.fence = (what & 8U) != 0;
        std::uint32_t at = kPattern + asked.from;
        if (asked.opcode == WrOpcode::atomic_fetch_and_add) asked.length = 8;
        if (lands(asked.opcode)) {
            if (side.landing + asked.length > kMemory) return;
            asked.landing = at = side.landing;
        }
        const std::uint32_t to = asked.from % (kOpenEnd - kOpen - kLongest);
        if (asked.opcode == WrOpcode::rdma_read) work.remote = tests::at(*peer.end, kPattern + asked.from);
        else if (asked.opcode == WrOpcode::atomic_fetch_and_add)
            work.remote = tests::at(*peer.end, kCounter), work.atomic.compare_add = asked.from;
        else work.remote = tests::at(*peer.end, kOpen + to);
        if (!side.end->send(side.qp, at, asked.length, work))
            return;  // the queue is full, or the queue pair has failed
        ++side.posted;
        if (lands(asked.opcode)) side.landing += asked.length;
        if (asked.opcode == WrOpcode::atomic_fetch_and_add) {
            asked.original = peer.counter;
            peer.counter += asked.from;
        }
        if (asked.opcode == WrOpcode::rdma_write || asked.opcode == WrOpcode::rdma_write_with_imm)
            std::ranges::copy(bytes_at(*side.end, kPattern + asked.from, asked.length), peer.open.begin() + to);
        if (takes_receive(asked.opcode)) peer.arriving.push_back(asked);
        side.asked.push_back(asked);
    }

    // What becomes of a packet.
    bool arrives(tests::Flying& flying, bool from_a) {
        if (good_ || input_.empty()) return true;
        constexpr std::size_t kMostHeld = 16;
        switch (input_.byte() & 15U) {
            case 0: return false;
            case 1: held_.push_back({flying, from_a}); return true;  // and once more, later
            case 2:
                if (held_.size() == kMostHeld) return true;
                held_.push_back({flying, from_a});
                return false;  // late
            case 3: release(); return true;
            default: return true;
        }
    }
    void release() {
        const bool good = std::exchange(good_, true);
        for (const auto& [flying, from_a] : std::exchange(held_, {})) pair_.carry(flying, from_a);
        good_ = good;
    }

    void take_completions() {
        for (Side* side : {&a_, &b_}) {
            for (const Wc& completion : side->end->sent()) take_sent(*side, completion);
            for (const Wc& completion : side->end->received()) take_received(*side, completion);
        }
    }
    static void take_sent(Side& side, const Wc& completion) {
        demand(!side.asked.empty() && completion.wr_id == side.completed && completion.qp_num == side.qp);
        const Asked asked = side.asked.front();
        side.asked.pop_front();
        ++side.completed;
        if (side.failed) demand(completion.status == WcStatus::wr_flush_err);
        if (completion.status != WcStatus::success) {
            side.failed = true;
            return;
        }
        if (!lands(asked.opcode)) return;
        demand(completion.byte_len == asked.length);
        if (asked.opcode == WrOpcode::rdma_read)
            demand(std::ranges::equal(bytes_at(*side.end, asked.landing, asked.length),
                                      bytes_at(*side.end, kPattern + asked.from, asked.length)));
        else demand(side.end->word(asked.landing) == asked.original);
    }
    static void take_received(Side& side, const Wc& completion) {
        demand(!side.receives.empty() && completion.wr_id == side.completed_receives && completion.qp_num == side.qp);
        const std::uint32_t at = side.receives.front();
        side.receives.pop_front();
        ++side.completed_receives;
        if (completion.status != WcStatus::success) return;
        demand(!side.arriving.empty());
        const Asked asked = side.arriving.front();
        side.arriving.pop_front();
        demand(completion.flags.with_imm == has_immediate(asked.opcode) && completion.byte_len == asked.length);
        if (completion.flags.with_imm) demand(completion.imm_data == asked.imm);
        if (asked.opcode == WrOpcode::rdma_write_with_imm) return;
        demand(std::ranges::equal(bytes_at(*side.end, at, asked.length),
                                  bytes_at(*side.end, kPattern + asked.from, asked.length)));
    }

    void judge() {
        for (Side* side : {&a_, &b_}) {
            for (std::uint32_t i = 0; i < kPatternEnd; ++i)
                demand(side->end->memory[i] == static_cast<std::byte>(i * 31 + i / 256));
            demand(std::ranges::all_of(bytes_at(*side->end, kGuard, kGuardEnd - kGuard),
                                       [](std::byte byte) { return byte == kUntouched; }));
            demand(std::ranges::all_of(bytes_at(*side->end, side->landing, kMemory - side->landing),
                                       [](std::byte byte) { return byte == kUntouched; }));
            if (side->failed) demand(side->asked.empty());  // all were flushed
        }
        if (a_.failed || b_.failed) return;
        for (Side* side : {&a_, &b_}) {
            // Who waits for a receive that has no place any more may wait for ever.
            const Side& peer = side == &a_ ? b_ : a_;
            demand(side->asked.empty() || peer.landing + kLongest > kMemory);
            if (!peer.asked.empty()) continue;
            demand(std::ranges::equal(bytes_at(*side->end, kOpen, kOpenEnd - kOpen), side->open));
            demand(side->end->word(kCounter) == side->counter);
        }
    }

    struct Held {
        tests::Flying flying;
        bool from_a = false;
    };
    fuzz::Bytewise input_;
    tests::VerbsPair pair_;
    Side a_, b_;
    std::vector<Held> held_;
    bool good_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Conversation({data, size}).run();
    return 0;
}
