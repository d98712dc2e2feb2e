// memory: a region that anybody who connects may READ, WRITE and do atomics on; and the client that does all of that.
//
// The region is one for all connections. Where it is, is said in the private data of the reply (offer.hpp), and again,
// as a SEND of the same 32 bytes, to every peer that SENDs up to 64 bytes. What was done to it the queue pair's counts
// say when its connection ends. With fast registration the reply offers nothing: each question is answered under a new
// key, which a work request registers right before the answer; the one before it is invalidated.
//
// Our client takes a ticket (FETCH ADD of 1 to the first 8 bytes of the region), which gives it a stripe of its own; a
// round is WRITE, READ of the same, COMPARE SWAP and FETCH ADD on the stripe's first 8 bytes, and another READ to see
// what they did. Atomics count in the host byte order of the server, where its memory is; both ends agree on x86 and
// ARM.
//
// Strangers write what they like into the region, and nothing in it is believed by the server. What a server offers is
// checked for its length.
#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/offer.hpp>
#include <transport-replay/live/peers/pattern.hpp>
#include <transport-replay/live/peers/roles.hpp>
#include <transport-replay/report/figures.hpp>

#include <cstring>

#include <fmt/format.h>

namespace qps::transport::live::peers {

namespace {

constexpr std::uint32_t kDefaultRegion = 1U << 20;
constexpr std::uint32_t kDefaultStripe = 4096;
constexpr std::uint64_t kDefaultRounds = 10;
constexpr std::uint32_t kQuestion = 64;  // bytes of the longest
constexpr std::size_t kWord = 8;         // of an atomic
constexpr verbs::Access kServed{.local_write = true,
                                .remote_write = true,
                                .remote_read = true,
                                .remote_atomic = true,
                                .flush_global = true,
                                .flush_persistent = true};
constexpr std::uint8_t kEverything = kMayRead | kMayWrite | kMayDoAtomics | kMayFlush;

struct ServedSession {
    Block answer;
    dissect::Rkey key{};     // of fast registration: of its region now
    dissect::Rkey posted{};  // likewise, once all that is posted had its turn
    bool open = false;       // a registration was posted
    bool up = false;
};

class MemoryServer {
public:
    using Session = ServedSession;
    explicit MemoryServer(const ProgramRequest& request)
        : size_(request.size.value_or(kDefaultRegion)), fast_(request.fast_registration) {}

    [[nodiscard]] std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& /*session*/,
                                                              dissect::Bytes /*said*/) const {
        constexpr std::uint32_t kQuestions = 8, kPostedForEach = 3;
        return QueueNeeds{.sends = fast_ ? kQuestions * kPostedForEach : kQuestions,
                          .receives = kQuestions,
                          .receive_bytes = kQuestion};
    }
    verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) {
        if (region_.size() == 0) {  // the first client's; it stays for all that follow
            auto region = Block::open(context, size_, kServed);
            if (!region) return std::unexpected(region.error());
            region_ = std::move(*region);
        }
        auto answer = Block::open(context, kOfferBytes, verbs::kLocalWrite);
        if (!answer) return std::unexpected(answer.error());
        session.answer = std::move(*answer);
        if (fast_) {
            const auto made = context.adapter().alloc_mr(context.pd, size_);
            if (!made) return std::unexpected(made.error());
            session.key = session.posted = made->lkey;
            return CmPrivateBytes{};
        }
        const Offer offer = offer_of(region_.mr().rkey);
        write(session.answer.bytes(), offer);
        return private_bytes(offer, kOfferBytes);
    }
    static void up(const PeerContext& /*context*/, Link& /*link*/, Session& session, dissect::Bytes /*said*/) {
        session.up = true;
    }
    void done(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        if (!done.receive) {
            if (done.wc.opcode == verbs::WcOpcode::reg_mr) session.key = verbs::next_rkey(session.key);
            else if (done.wc.opcode == verbs::WcOpcode::send) link.post_receive(context, done.tag);
            return;
        }
        ++context.counts.messages;
        if (fast_ && !open_anew(context, link, session, done.tag)) return;
        const verbs::Sge piece = session.answer.piece(0, kOfferBytes);
        link.post(context, {.sg_list = {&piece, 1}}, done.tag);
    }
    static bool complete(const Session& /*session*/) { return true; }
    static void close(const PeerContext& context, const Link& link, Session& session) {
        const auto status = context.adapter().query_qp(link.queues.qpn());
        if (session.up && status) report(context, link, status->counts);
        session.answer.close(context);
        if (session.key != dissect::Rkey{}) static_cast<void>(context.adapter().dereg_mr(session.key));
        session.key = {};
    }
    static bool again() { return false; }
    void shut(const PeerContext& context) { region_.close(context); }

private:
    [[nodiscard]] Offer offer_of(dissect::Rkey key) const {
        return {.allowed = kEverything, .slots = 1, .address = region_.mr().address, .length = size_, .key = key};
    }
    // Posts the end of the last key and the beginning of the next, which the answer is to offer.
    bool open_anew(const PeerContext& context, Link& link, Session& session, std::uint32_t tag) const {
        if (session.open &&
            !link.post(context, {.opcode = verbs::WrOpcode::local_inv, .invalidate_rkey = session.posted}, tag))
            return false;
        const verbs::MrRegistration registration{.lkey = session.posted,
                                                 .key = verbs::next_rkey(session.posted),
                                                 .bytes = region_.bytes(),
                                                 .address = region_.mr().address,
                                                 .access = kServed};
        if (!link.post(context, {.opcode = verbs::WrOpcode::reg_mr, .reg = registration}, tag)) return false;
        session.open = true;
        session.posted = registration.key;
        write(session.answer.bytes(), offer_of(session.posted));
        return true;
    }
    static void report(const PeerContext& context, const Link& link, const verbs::QpCounts& counts) {
        struct Row {
            dissect::Verb verb;
            std::string_view name;
        };
        using dissect::Verb;
        constexpr std::array kRows{Row{Verb::read_request, "READ"},         Row{Verb::write, "WRITE"},
                                   Row{Verb::compare_swap, "COMPARE SWAP"}, Row{Verb::fetch_add, "FETCH ADD"},
                                   Row{Verb::atomic_write, "ATOMIC WRITE"}, Row{Verb::flush, "FLUSH"}};
        std::string line;
        for (const Row& row : kRows) {
            if (counts.of(row.verb) == 0) continue;
            context.counts.messages += counts.of(row.verb);
            line += fmt::format("{}{} {}", line.empty() ? "" : ", ", grouped(counts.of(row.verb)), row.name);
        }
        context.counts.bytes += counts.bytes_received + counts.bytes_sent;
        context.say(about(link, fmt::format("{}; {} received, {} sent", line.empty() ? "no operations" : line,
                                            bytes_text(counts.bytes_received), bytes_text(counts.bytes_sent))));
    }

    std::uint32_t size_;
    bool fast_;
    Block region_;
};

enum Tag : std::uint32_t { kStep, kQuestionSent };
enum class Step : std::uint8_t { asks, takes_ticket, writes, reads, swaps, adds, reads_again, through };

struct UserSession {
    Block out;   // what is written
    Block in;    // what is read
    Block word;  // results of atomics; the question
    Offer offer{};
    std::uint64_t stripe = 0;  // its address
    Step step = Step::asks;
    std::uint64_t rounds = 0;
    bool up = false;
};

class MemoryUser {
public:
    using Session = UserSession;
    explicit MemoryUser(const ProgramRequest& request)
        : request_(request),
          size_(request.size.value_or(kDefaultStripe)),
          rounds_(request.count.value_or(kDefaultRounds)) {}

    static std::expected<QueueNeeds, std::string> plan(const PeerContext& /*context*/, Session& /*session*/,
                                                       dissect::Bytes /*said*/) {
        return QueueNeeds{.sends = 8, .receives = 4, .receive_bytes = kOfferBytes};
    }
    verbs::Result<CmPrivateBytes> prepare(const PeerContext& context, Link& /*link*/, Session& session) const {
        for (const auto& [block, bytes] :
             {std::pair{&session.out, std::size_t{size_}}, {&session.in, std::size_t{size_}}, {&session.word, kWord}}) {
            auto opened = Block::open(context, bytes, verbs::kLocalWrite);
            if (!opened) return std::unexpected(opened.error());
            *block = std::move(*opened);
        }
        return CmPrivateBytes{};
    }
    void up(const PeerContext& context, Link& link, Session& session, dissect::Bytes said) const {
        session.up = true;
        if (const auto offer = read_offer(said)) {
            begin(context, link, session, *offer);
            return;
        }
        const verbs::Sge piece = session.word.piece(0, kWord);  // whatever it says, it is a question
        link.post(context, {.sg_list = {&piece, 1}}, kQuestionSent);
    }
    void done(const PeerContext& context, Link& link, Session& session, const Done& done) const {
        if (done.receive) {
            const auto offer = read_offer(link.queues.message(done));
            if (!offer || session.step != Step::asks) {
                link.fail("sent an invalid answer");
            } else if (link.post_receive(context, done.tag)) {
                begin(context, link, session, *offer);
            }
        } else if (done.tag == kStep) {
            proceed(context, link, session);
        }
    }
    static bool complete(const Session& session) { return session.step == Step::through; }
    static void close(const PeerContext& context, const Link& link, Session& session) {
        if (session.up)
            context.say(about(
                link, fmt::format("{} of WRITE, READ, COMPARE SWAP, FETCH ADD", counted(session.rounds, "round"))));
        session.out.close(context);
        session.in.close(context);
        session.word.close(context);
    }
    static bool again() { return false; }

private:
    void begin(const PeerContext& context, Link& link, Session& session, const Offer& offer) const {
        constexpr std::uint8_t kWanted = kMayRead | kMayWrite | kMayDoAtomics;
        if ((offer.allowed & kWanted) != kWanted || offer.length < kWord + size_ || offer.address % kWord != 0) {
            link.fail(fmt::format("advertises {}, where {} with all access rights are needed", bytes_text(offer.length),
                                  bytes_text(kWord + size_)));
            return;
        }
        session.offer = offer;
        session.step = Step::takes_ticket;
        atomic(context, link, session, verbs::WrOpcode::atomic_fetch_and_add, offer.address, {.compare_add = 1});
    }
    void proceed(const PeerContext& context, Link& link, Session& session) const {
        switch (session.step) {
            case Step::takes_ticket: {
                const std::uint64_t stride = (size_ + kWord - 1) / kWord * kWord;
                const std::uint64_t stripes = std::max<std::uint64_t>(1, (session.offer.length - kWord) / stride);
                session.stripe = session.offer.address + kWord + result(session) % stripes * stride;
                next_round(context, link, session);
                break;
            }
            case Step::writes: move(context, link, session, Step::reads, verbs::WrOpcode::rdma_read, session.in); break;
            case Step::reads:
                expect(context, link, session, std::ranges::equal(session.in.bytes(), session.out.bytes()),
                       "READ returned other bytes than were written");
                session.step = Step::swaps;
                atomic(context, link, session, verbs::WrOpcode::atomic_cmp_and_swp, session.stripe,
                       {.compare_add = first_word(session.out), .swap = session.rounds});
                break;
            case Step::swaps:
                expect(context, link, session, result(session) == first_word(session.out),
                       "COMPARE SWAP found another value than was written");
                session.step = Step::adds;
                atomic(context, link, session, verbs::WrOpcode::atomic_fetch_and_add, session.stripe,
                       {.compare_add = kAdded});
                break;
            case Step::adds:
                expect(context, link, session, result(session) == session.rounds,
                       "FETCH ADD found another value than was swapped in");
                move(context, link, session, Step::reads_again, verbs::WrOpcode::rdma_read, session.in);
                break;
            case Step::reads_again:
                expect(context, link, session, first_word(session.in) == session.rounds + kAdded,
                       "READ returned another value than FETCH ADD left");
                ++session.rounds;
                ++context.counts.messages;
                context.counts.bytes += std::uint64_t{3} * size_ + 2 * kWord;
                next_round(context, link, session);
                break;
            case Step::asks:
            case Step::through: break;
        }
    }
    void next_round(const PeerContext& context, Link& link, Session& session) const {
        if (session.rounds >= rounds_) {
            session.step = Step::through;
            link.finish();
            return;
        }
        fill(session.out.bytes(), static_cast<std::uint32_t>(request_.seed), session.rounds);
        move(context, link, session, Step::writes, verbs::WrOpcode::rdma_write, session.out);
    }
    void move(const PeerContext& context, Link& link, Session& session, Step step, verbs::WrOpcode opcode,
              const Block& block) const {
        session.step = step;
        const verbs::Sge piece = block.piece(0, size_);
        link.post(context, {.sg_list = {&piece, 1}, .opcode = opcode, .remote = {session.stripe, session.offer.key}},
                  kStep);
    }
    static void atomic(const PeerContext& context, Link& link, const Session& session, verbs::WrOpcode opcode,
                       std::uint64_t address, const verbs::AtomicValues& values) {
        const verbs::Sge piece = session.word.piece(0, kWord);
        link.post(context,
                  {.sg_list = {&piece, 1}, .opcode = opcode, .remote = {address, session.offer.key}, .atomic = values},
                  kStep);
    }
    void expect(const PeerContext& context, const Link& link, const Session& session, bool right,
                std::string_view complaint) const {
        if (right || !request_.verify) return;
        ++context.counts.wrong;
        context.say(about(link, fmt::format("round {}: {}", session.rounds, complaint)));
    }
    static std::uint64_t result(const Session& session) { return first_word(session.word); }
    static std::uint64_t first_word(const Block& block) {
        std::uint64_t word = 0;
        std::memcpy(&word, block.bytes().data(), std::min(kWord, block.size()));
        return word;
    }

    static constexpr std::uint64_t kAdded = 7;
    ProgramRequest request_;
    std::uint32_t size_;
    std::uint64_t rounds_;
};

}  // namespace

Made make_memory(const ProgramRequest& request) {
    if (const auto fits = sound(request, kWord, kMaxTransfer); !fits) return std::unexpected(fits.error());
    if (!request.target) return Connected<MemoryServer>(MemoryServer(request), request, kMemoryPort);
    return Connected<MemoryUser>(MemoryUser(request), request, kMemoryPort);
}

}  // namespace qps::transport::live::peers
