// Tracker: observations in the order of the capture become connections: flows are paired, requests become messages, and
// what goes wrong becomes episodes of recovery. It draws no conclusions beyond that: findings are drawn from it later.
//
// What an attacker could feed: any number of flows and messages. Open messages and episodes have bounds; what is past
// them is counted (LeftOut). Where connections take up their share of the memory, one that is over, or is silent for
// longest, is brought to its end to make place: its counts stay in the sums, and the connection itself too where it had
// problems.
#pragma once

#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/connection_map.hpp>
#include <transport-replay/model/final_numbers.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/packet_record.hpp>
#include <transport-replay/model/paged.hpp>
#include <transport-replay/model/peaks.hpp>
#include <transport-replay/model/totals.hpp>
#include <transport-replay/tracking/flow_index.hpp>
#include <transport-replay/tracking/incident_log.hpp>
#include <transport-replay/tracking/pairing.hpp>
#include <transport-replay/tracking/quality.hpp>
#include <transport-replay/tracking/recovery_watch.hpp>
#include <transport-replay/tracking/request_stream.hpp>
#include <transport-replay/tracking/told_pairs.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

inline constexpr std::size_t kMaxRecoveries = 1 << 16;  // told one by one; the sums have all
inline constexpr std::size_t kMaxFatalities = 1 << 14;  // one a connection, at most
inline constexpr std::size_t kMaxPendingAnswersOfAll =
    1 << 16;  // of 256 bytes, those that wait for late requests included
inline constexpr std::size_t kFewConnections =
    1 << 14;                                 // as long as there are no more, any request without partner is remembered
inline constexpr std::size_t kMaxLone = 64;  // UC flows without partner that are looked at
inline constexpr std::size_t kMaxPendingAnswers = 32;  // kept of a flow until it is known whose requests it answers

// What the tracker found out, for the timeline.
struct Tracked {
    std::deque<Connection> connections;  // by uid
    Retired retired;
    std::vector<JoinedFlow> joined;  // of the numbers that FinalNumbers has room for
    std::vector<Recovery> recoveries;
    std::vector<Fatality> fatalities;
    std::uint64_t packets_left_out = 0;
    std::uint64_t messages_left_out = 0;
    std::uint64_t recoveries_left_out = 0;
    std::uint64_t fatalities_left_out = 0;
    std::uint64_t contradictions = 0;  // PSNs whose evidence excludes everything: defects of ours
};

// A message to which nothing more can happen.
struct EndedMessage {
    ConnectionId connection{};
    End requester{};
    Message message;
};

class Tracker {
public:
    // `keeps_messages`: all messages are kept in ended(); else only those of connections that are watched.
    // `numbered`: connections before its own.
    explicit Tracker(bool keeps_messages, const MemoryBudget& budget = MemoryBudget{}, std::uint32_t numbered = 0)
        : keeps_messages_(keeps_messages),
          most_(budget.items(Share::connections)),
          most_kept_(budget.items(Share::retired)),
          open_together_(budget.items(Share::messages)),
          next_uid_(numbered + 1),
          waiting_(kRequestsWaiting * most_) {}

    // Before the first packet: hosts (HostsHash::both) whose flows are those of their network, which take_tenant()
    // says.
    void keep_apart(std::vector<std::uint64_t> tenants) { tenants_ = std::move(tenants); }

    // Messages that ended since forget_ended(), in that order.
    [[nodiscard]] std::vector<EndedMessage>& ended() { return ended_; }
    void watch(ConnectionId connection);
    // Connections that nothing is known of any more, since forget_retired(), each once.
    [[nodiscard]] const std::vector<ConnectionId>& retired() const { return retired_; }
    void forget_retired() { retired_.clear(); }
    // The connection that CM told of, where it has a place.
    [[nodiscard]] std::optional<ConnectionId> connection_of(const CmAttempt& attempt) const;

    // It is that late: of the capture, of which this tracker may follow a part.
    void advance(dissect::Instant now) { now_ = std::max(now_, now); }
    // `repetition`: what the packet is to those before it, `distance` after the first; copies of a mirror must not come
    // here.
    void observe(const Observation& observation, Repetition repetition, dissect::Duration distance,
                 PacketRecord& record);
    // The connection that the packet belongs to, where it is known already.
    void name(const Observation& observation, PacketRecord& record) const;
    // The refusal that the NAK in this frame is, where the last packet was one.
    [[nodiscard]] const Fatality* fatality_at(dissect::FrameIndex nak) const;

    // Whether the packet goes on where its flow was, or begins what was announced.
    [[nodiscard]] bool continues(const Observation& observation) const;

    // For who knows what comes next: asks for what observe() will read, of a packet far ahead, of one nearer, of one
    // near.
    void prefetch(const Observation& far, const Observation& nearer, const Observation& near);

    // CM told of both queue pairs of a connection; or that it is released.
    void connect(const CmAttempt& attempt);
    void release(const CmAttempt& attempt);
    // The flow is that of the active side of an attempt whose REP was not captured, as its PSNs say. False where the
    // flow is older than the attempt, or another one's.
    [[nodiscard]] bool attach(const CmAttempt& attempt, const FlowKey& flow);

    // Programs told each other of their ends: a request that begins as they said is of a connection between these, and
    // the rest of it, too.
    void tell(const ToldEnd& one, const ToldEnd& two, const PairProof& proof = {});

    // A connection that somebody else follows, as iWARP and Ultra Ethernet are: it has its number among the others, and
    // finish() tells it as it was left. Nothing where there is no room for it.
    [[nodiscard]] std::optional<ConnectionId> begin_stream(const Endpoint& a, const Endpoint& b,
                                                           dissect::Service service);
    // Only of what begin_stream() gave.
    [[nodiscard]] Connection& stream(ConnectionId connection);
    // A message of it that nothing more can happen to: it is counted, and handed on as any other.
    void end_stream_message(ConnectionId connection, End requester, const Message& message);
    // Nobody follows it any more: its place may be needed.
    void end_stream(ConnectionId connection);
    // A packet of a connection that begin_stream() had no room for; messages that were given up.
    void leave_out_packet() { ++tracked_.packets_left_out; }

    [[nodiscard]] std::uint32_t numbered() const { return next_uid_ - 1; }  // connections that were ever numbered
    // Of the network: both ends of a connection, the same both ways; 0 of one that is not there.
    [[nodiscard]] std::uint64_t hosts_of(ConnectionId connection) const;
    void add_peaks(Peaks& peaks) const;
    // How many messages a way may have open where there are so many connections.
    [[nodiscard]] static std::size_t most_open(const MemoryBudget& budget, std::size_t connections);

    // The end of the capture: decides what is open and hands everything out. `drain` is called while messages end, to
    // take ended().
    [[nodiscard]] Tracked finish(const std::function<void()>& drain);

private:
    using Index = std::uint32_t;
    static constexpr Index kNowhere = UINT32_MAX;
    // What a request is whose bytes were there before.
    enum class Repeated : std::uint8_t { no, soon, perhaps_by_tap };
    struct Good {
        RemoteAccess access;
        dissect::FrameIndex frame{};
    };
    // What most packets of a way share, and how many in a row were not counted in it yet.
    struct Classes {
        dissect::Pkey pkey{};
        std::uint16_t udp_port = 0;
        std::uint8_t dscp = 0;
        std::uint8_t pcp = kNoPcp;
        bool has_udp_port = false;
        std::uint32_t packets = 0;
        [[nodiscard]] bool alike(const Classes& one) const {
            return pkey == one.pkey && udp_port == one.udp_port && dscp == one.dscp && pcp == one.pcp &&
                   has_udp_port == one.has_udp_port;
        }
    };
    // What is known of the requests of one end; and of all that it sends, its classes. There are many: what few have
    // stands elsewhere.
    struct Direction {
        RequestStream requests;
        IncidentLog log;
        RecoveryWatch watch;
        SendingOrder order;
        Classes classes;
        bool last_was_late = false;     // and counted so
        bool last_was_doubled = false;  // or its requester went back: only haste told
        bool begun = false;             // a request passed that is not corrupt
        bool counts_elsewhere = false;  // its responder acknowledged PSNs that there was no time to send
        std::uint32_t missing_before =
            0;  // PSNs between what CM announced and that request, which begins a message; 0: nobody asks any more
        std::array<Good, 2> last_good;  // of the last two R_Keys
        dissect::Duration
            best_answer{};  // from the last packet of a message to its answer, at the quickest; 0: not known
    };
    struct Entry {
        Connection connection;
        std::array<Direction, 2> directions;
        Retries retries;
        bool gone = false;         // became part of another one
        bool troubled = false;     // episodes or refusals of it were told
        bool guessed = false;      // its ways were joined by the time that answers took
        bool watched = false;      // somebody wants its messages
        bool stream = false;       // somebody else follows it
        bool stream_over = false;  // or did
        std::array<dissect::Qpn, 2>
            elsewhere{};  // FlowIndex::in_network() of its flows, where another network has the same; else 0
        ConnectionId
            suitor{};  // answers it where it turns out to be there: a corrupt packet is all that was seen of it
        dissect::Instant made{};
        std::optional<dissect::Instant> over;  // taken down, or refused: nobody sends again since
    };
    // There are as many as the capture has queue pairs (docs/benchmark.md): what is added here is paid for each of
    // them.
    static_assert(sizeof(Direction) <= 296 && sizeof(Way) <= 296 && sizeof(Entry) <= sizeof(Connection) + 640);
    // One way of a connection: what `from` sends. In one word, for it is handed around with every packet.
    class WayOf {
    public:
        constexpr WayOf() = default;
        constexpr WayOf(Index index, End from) : word_(index << 1 | static_cast<std::uint32_t>(from)) {}
        constexpr explicit WayOf(FlowIndex::Where word) : word_(word) {}
        [[nodiscard]] constexpr bool known() const { return word_ != kUnknown; }
        [[nodiscard]] constexpr Index index() const { return word_ >> 1; }
        [[nodiscard]] constexpr End from() const { return static_cast<End>(word_ & 1); }
        [[nodiscard]] constexpr FlowIndex::Where word() const { return word_; }

    private:
        static constexpr std::uint32_t kUnknown = UINT32_MAX;
        std::uint32_t word_ = kUnknown;
    };
    struct Unpaired {
        Candidates candidates;
        std::vector<Observation> answers;  // without payload
    };

    [[nodiscard]] std::optional<Index> place_for_one();
    [[nodiscard]] std::optional<Index> least_worth();
    [[nodiscard]] std::optional<int> tier_of(const Entry& entry) const;
    [[nodiscard]] std::optional<Index> place_of(ConnectionId connection) const;
    void end(Index index);
    void forget_flows(Index index);
    void keep_retired(Entry& entry);
    static void judge_confidence(Entry& entry);
    [[nodiscard]] WayOf way_of(const Observation& observation, Repetition repetition);
    [[nodiscard]] std::optional<WayOf> find(const Observation& observation) const;
    [[nodiscard]] WayOf begin_or_adopt(const Observation& observation);
    [[nodiscard]] WayOf in_other_network(const FlowIndex::Slot& slot, const Observation& observation,
                                         Repetition repetition);
    [[nodiscard]] bool is_same_flow(const FlowIndex::Slot& slot, const Observation& observation,
                                    Repetition repetition) const;
    [[nodiscard]] bool others_asked(const Observation& answer, Index index) const;
    [[nodiscard]] FlowKey keyed(FlowKey flow, std::optional<NetworkId> network) const;
    [[nodiscard]] WaitingRequests::Flows askers(const Observation& observation, Index answers) const;
    [[nodiscard]] static bool may_ask(const Entry& entry, const FlowKey& answers);
    [[nodiscard]] WayOf adopt(const Observation& observation);
    [[nodiscard]] WayOf begin(const Observation& observation);
    [[nodiscard]] bool take_told(Index index, const Observation& observation);
    void leave_for_another(const Observation& observation);
    [[nodiscard]] static bool is_lone_corrupt(const Entry& entry);
    [[nodiscard]] WayOf take_suitor(WayOf where);
    static void describe(Entry& entry, End from, const Observation& observation);
    static void count_classes(Way& way, Classes& classes);
    void take_corrupt(WayOf where, const Observation& observation, PacketRecord& record);
    void take_request(WayOf where, const Observation& observation, Repeated repeated, PacketRecord& record);
    void take_datagram(WayOf where, const Observation& observation);
    static void skip(Direction& direction, dissect::Psn first, std::uint32_t count, const GapPassing& by);
    void place(WayOf where, const Observation& observation, RequestArrival& arrived, dissect::Psn next,
               PacketRecord& record);
    [[nodiscard]] Sending sending_of(Direction& direction, Way& way, const Observation& observation, Arrival arrival);
    void note_restart(WayOf where, const Observation& observation, dissect::Psn next);
    void note_late(Way& way, const Observation& observation, const std::optional<IncidentLog::Gap>& gap, bool proven);
    [[nodiscard]] static bool was_sent(const Direction& direction, dissect::Psn psn);
    [[nodiscard]] bool is_doubled(const Entry& entry, const Direction& direction, const Observation& observation) const;
    static constexpr std::uint8_t kOutOfSequence = 0;  // NAK code
    [[nodiscard]] static bool is_fatal(const Observation& answer);
    [[nodiscard]] static bool is_rnr_nak(const Observation& answer);
    static void count_answer(Way& way, const Observation& answer);
    void take_answer(WayOf where, const Observation& observation, PacketRecord& record);
    // An answer that was recorded before its request.
    struct Early {
        dissect::Duration patience{};  // its request is recorded sooner, or never
        bool due = false;              // that request is one that was not seen yet; else one that is sent again
    };
    struct EarlyAnswer {
        Early early;
        Observation answer;  // without payload
    };
    // Those of one way, and what was recorded behind them: they stay in order. Where nearly all answers are early, the
    // clocks of both ways are apart: each waits then until it would have been recorded by the other clock.
    struct EarlyAnswers {
        std::deque<EarlyAnswer> waiting;
        std::size_t asked = 0;  // of those: from the front, whose requests are there
        std::uint32_t proven =
            0;  // requests that came after their answers: SENDs and WRITEs, and READs from the eighth on
        std::uint32_t reads =
            0;  // READs that did: they may have been asked for again, and the capture lacks the first time
        std::uint32_t in_time = 0;  // answers since the first of them whose requests were there
        bool lacks_first = false;   // responses of a READ go on, whose first one nobody asked for
        dissect::Duration lead{};   // the longest time until a request came
        [[nodiscard]] bool systematic() const { return proven >= 8 && in_time <= proven / 8; }
        [[nodiscard]] dissect::Duration hold() const { return systematic() ? lead : dissect::Duration{}; }
    };
    [[nodiscard]] std::optional<Early> came_early(const Entry& entry, End requester, const Observation& answer,
                                                  bool proven) const;
    [[nodiscard]] static bool may_have_begun(const Entry& entry, dissect::Instant now);
    [[nodiscard]] bool wait_early(WayOf where, const Observation& observation);
    [[nodiscard]] bool lead_requests(WayOf where, const std::vector<Observation>& answers);
    void ask_early(EarlyAnswers& early, WayOf answers);
    // Because it is later; because a request came that follows those before it, or another one; at the end.
    enum class Settle : std::uint8_t { overdue, asked, sent_again, all };
    void settle_early(WayOf answers, Settle which, dissect::Instant now);
    void settle_early();
    void apply_answer(Entry& entry, End requester, const Observation& observation, PacketRecord& record);
    void doubt_start(Entry& entry, End requester, const Acknowledged& acknowledged, const Observation& ack);
    [[nodiscard]] static bool had_no_time(const Direction& direction, dissect::Psn through, const Observation& answer);
    void apply_acknowledgment(Entry& entry, End requester, const Observation& observation);
    void apply_unread(Entry& entry, End requester, const Observation& observation);
    void refuse(Entry& entry, End requester, const Observation& observation);
    void refuse_unpaired(Index index, const std::vector<Observation>& answers);
    void refuse_unpaired();
    static void skip_unseen(const Entry& entry, Direction& direction, dissect::Psn next, std::uint32_t count,
                            dissect::Instant time);
    void apply_acknowledged(Entry& entry, End requester, const Acknowledged& acknowledged, dissect::Psn next,
                            const Observation& observation);
    [[nodiscard]] WayOf find_partner(WayOf answers, const Observation& observation);
    WayOf take_choice(Index answers, const std::optional<Candidates::Choice>& choice);
    [[nodiscard]] static bool rules_out(const Entry& entry, std::span<const Observation> before,
                                        const Observation& answer);
    void settle_pairs();
    void note_ambiguous();
    WayOf join(Index one, Index two, JoinedBy how);
    void apply_kept_answers(Index index, End requester);
    void apply_kept_answers(Index index, const std::vector<Observation>& answers, End requester);
    void join_lone_unreliable(Index index);
    void join_what_is_left();
    void retire(const FlowKey& flow, std::uint32_t attempt);
    enum class Use : std::uint8_t { none, same, other, managed };
    [[nodiscard]] Use use_of(const ToldEnd& from, const ToldEnd& to) const;
    void leave_flows(const FlowKey& flow);
    void released(Entry& entry) const;
    [[nodiscard]] std::uint32_t path_mtu(const Entry& entry) const;
    [[nodiscard]] FlowKey flow_of(const Entry& entry, End from) const;
    void grown();
    [[nodiscard]] std::uint64_t remembered() const;
    void hand_on(Entry& entry, End requester);
    void record_episodes(Entry& entry, End requester);
    void judge_incidents(Entry& entry, End requester);
    void judge_ends(const Entry& entry, End requester);
    void end_before_restart(Entry& entry, End requester, dissect::Instant time);
    void finish_way(Entry& entry, End requester);

    bool keeps_messages_ = false;
    std::vector<EndedMessage> ended_;
    static constexpr std::size_t kRequestsWaiting =
        4;  // for each connection there may be, in all of them together: to be paired

    std::size_t most_;           // entries
    std::size_t most_kept_;      // retired connections
    std::size_t open_together_;  // messages under way, of all: an end may have many more while others have fewer
    Paged<Entry> entries_;
    ConnectionMap<Index> places_;  // in entries_
    std::vector<ConnectionId> retired_;
    std::uint32_t next_uid_ = 1;
    std::uint64_t drawn_ = 0;             // places, in the search for one
    FlowIndex index_;                     // WayOf, packed
    std::vector<std::uint64_t> tenants_;  // CaptureTraits::tenants
    static constexpr std::size_t kAsked = 4;
    std::array<WayOf, kAsked> asked_{};  // what the last prefetches asked for, in turn: whose requests they are
    std::size_t turn_ = 0;
    WaitingRequests waiting_;
    boost::unordered_flat_map<Index, Unpaired> unpaired_;
    std::size_t most_open_ = RequestStream::kMaxOpen;  // messages of one way, the fewer the more connections there are
    std::size_t longest_open_ = 0;                     // messages of one way
    std::size_t pending_answers_ = 0;
    std::size_t most_pending_ = 0;
    std::size_t most_lone_ = 0;
    std::vector<Index> lone_unreliable_;                               // UC flows without partner
    boost::unordered_flat_map<FlowIndex::Where, EarlyAnswers> early_;  // by the way of the answers, packed
    // PSNs that a way left for others far away.
    struct LeftPsns {
        dissect::Psn next;  // that would have come
        dissect::Instant time{};
        dissect::FrameIndex stray{};
        dissect::InterfaceId interface{};  // and file, of the stray: another one has another clock, perhaps
        std::uint16_t file = 0;
        std::uint16_t vlan = 0;  // of the stray, as its tunnel
        dissect::Encapsulation encapsulation = dissect::Encapsulation::none;
    };
    static constexpr std::size_t kMaxLeft = 4096;  // ways; of others that began anew nothing is told
    boost::unordered_flat_map<FlowIndex::Where, LeftPsns> left_;
    ToldPairs told_;
    // Of connections that begin with PSN 0: what their first request showed, and whose it was.
    struct Shown {
        End from = End::a;
        PairProof proof;
    };
    boost::unordered_flat_map<ConnectionId, Shown> shown_;
    std::vector<Message> done_;
    std::vector<Recovery> episodes_;
    Tracked tracked_;
    dissect::Instant now_{};
};

}  // namespace qps::transport
