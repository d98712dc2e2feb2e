// Connection: the two ways between two queue pairs joined into one, with what each end sent and what became of it.
//
// A value that the tracker fills and everybody else reads. Counts are of what the capture holds: what it does not hold
// is inferred only where a field says so.
#pragma once

#include <transport-replay/model/message.hpp>
#include <transport-replay/model/ordering.hpp>
#include <transport-replay/model/seldom.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport {

enum class ConnectionId : std::uint32_t {};  // counts connections in the order of their first packet, from 1

// How sure it is that the two ways belong together.
enum class Confidence : std::uint8_t {
    none,     // one way only, or undecided
    likely,   // answers matched requests once or twice, or no other candidate is there
    strong,   // three times and more
    certain,  // the connection manager said so, or the packets name both ends
};
inline constexpr std::array<std::string_view, 4> kConfidenceNames{"none", "likely", "strong", "certain"};

// By what the two ways were joined. datagram: every packet names both ends, as those of iWARP do too; exchange: their
// programs exchanged their queue pairs, over TCP or by datagrams.
enum class JoinedBy : std::uint8_t { nothing, traffic, connection_manager, datagram, exchange };
inline constexpr std::array<std::string_view, 5> kJoinedByNames{"nothing", "traffic", "cm", "datagram", "exchange"};

// The kinds of messages that reports count.
enum class MessageKind : std::uint8_t { send, write, write_imm, read, atomic, flush, atomic_write };
inline constexpr std::array<std::string_view, 7> kMessageKindNames{"send",   "write", "write_imm",   "read",
                                                                   "atomic", "flush", "atomic_write"};
// As people read them.
inline constexpr std::array<std::string_view, kMessageKindNames.size()> kMessageKindTitles{
    "SEND", "WRITE", "WRITE with immediate", "READ", "ATOMIC", "FLUSH", "ATOMIC WRITE"};
[[nodiscard]] constexpr MessageKind kind_of(const Message& message) {
    switch (message.verb) {
        case dissect::Verb::write: return message.has_immediate() ? MessageKind::write_imm : MessageKind::write;
        case dissect::Verb::read_request: return MessageKind::read;
        case dissect::Verb::compare_swap:
        case dissect::Verb::fetch_add: return MessageKind::atomic;
        case dissect::Verb::flush: return MessageKind::flush;
        case dissect::Verb::atomic_write: return MessageKind::atomic_write;
        default: return MessageKind::send;
    }
}

// Count, extremes and sum of durations.
struct DurationSummary {
    std::uint64_t count = 0;
    dissect::Duration least{};
    dissect::Duration most{};
    dissect::Duration sum{};
    void add(dissect::Duration value);
    void add(const DurationSummary& others);
    [[nodiscard]] dissect::Duration mean() const;  // 0 of nothing
};

// PSNs that were skipped when they were due, by what became of them. The parts add up to `skipped`. A READ that came
// after all counts as the one packet that it is, however many PSNs it takes.
struct Gaps {
    std::uint64_t skipped = 0;
    std::uint64_t reordered = 0;  // came late, without anybody asking for them
    std::uint64_t network = 0;    // the receiver missed them too: it asked for them, or they were sent again
    std::uint64_t tap = 0;        // the receiver acknowledged them: only the capture lacks them
    std::uint64_t undecided = 0;  // nothing tells
    std::uint64_t came =
        0;  // of them: passed later, or a NAK asked for them: lost or late, not missed by the tap alone
    std::uint64_t again = 0;  // beside them, lost before the tap once more: passed over while their requester sent
                              // again, or corrupt then, and a NAK named them
    [[nodiscard]] bool operator==(const Gaps&) const = default;
};

// What makes a requester send again.
enum class RecoveryKind : std::uint8_t {
    sequence_nak,  // the responder missed a packet and said so: go-back-N (9.7.5.1.2)
    rnr_nak,       // the responder had no receive posted (9.7.5.2.8)
    timeout,       // nobody answered in time (9.7.6.1.3)
    read_retry,    // a response was missing or overtaken: implied NAK, or a READ asked for again in part (9.7.5.1.x)
    undecided,     // a NAK or the timer: the capture does not tell
};
inline constexpr std::array<std::string_view, 5> kRecoveryKindNames{"sequence_nak", "rnr_nak", "timeout", "read_retry",
                                                                    "undecided"};

struct Recovery;

// All recoveries of one kind of one way.
struct RecoverySum {
    std::uint64_t episodes = 0;      // how often recovery began
    std::uint64_t triggers = 0;      // NAKs, or timeouts that ran out, repeated ones included
    std::uint64_t resent = 0;        // packets sent again
    std::uint64_t first_seen = 0;    // of them: new to the tap, which the first sending did not pass
    std::uint64_t resent_bytes = 0;  // of them all, on the wire
    dissect::Duration
        lost{};  // time from the trigger (of a timeout: from the last sign of life) until new data went out
    dissect::Duration waited{};  // of it: until the first packet was sent again
    dissect::Duration most_lost{};
    void add(const Recovery& episode);
};

// The ACK timer of a requester, as its waits show it: 4.096 us * 2^exponent.
struct AckTimer {
    std::uint8_t exponent = 0;
    std::uint32_t waits = 0;  // that agree on it
};

// Values that should be one: the first few, and how many packets had others. Most have one.
template <class T, std::size_t kMost = 4> class FewValues {
public:
    struct Seen {
        T value{};
        std::uint32_t packets = 0;  // stays at its greatest value
    };
    void add(T value, std::uint32_t packets = 1) {
        if (packets == 0) return;
        if (first_.packets == 0) first_ = {value, packets};
        else if (first_.value == value) raise(first_.packets, packets);
        else add_other(value, packets);
    }
    [[nodiscard]] std::size_t size() const { return first_.packets == 0 ? 0 : 1 + others_->count; }
    [[nodiscard]] const Seen& operator[](std::size_t at) const {  // at below size()
        return at == 0 ? first_ : others_->seen[at - 1];
    }
    [[nodiscard]] std::uint32_t other_packets() const { return others_->packets; }  // of values past kMost
    [[nodiscard]] bool one() const { return !others_.there(); }                     // at most

private:
    friend struct PrivateMembers;  // parts/private_members.hpp
    struct Others {
        std::array<Seen, kMost - 1> seen{};
        std::uint32_t count = 0;
        std::uint32_t packets = 0;
    };
    static void raise(std::uint32_t& sum, std::uint32_t by) { sum = by < UINT32_MAX - sum ? sum + by : UINT32_MAX; }
    void add_other(T value, std::uint32_t packets) {
        Others& others = others_.made();
        for (std::uint32_t i = 0; i < others.count; ++i)
            if (others.seen[i].value == value) return raise(others.seen[i].packets, packets);
        if (others.count < others.seen.size()) others.seen[others.count++] = {value, packets};
        else raise(others.packets, packets);
    }

    Seen first_;
    Seldom<Others> others_;
};

// A PSN this far from what is expected is no loss, but a queue pair that began anew. A fast port sends so many packets
// in some 10 ms; a tap that misses more of them in one piece has nothing to tell.
inline constexpr std::int32_t kFarPsn = 1 << 18;

// What a packet can be that proves something of its way.
// gap: PSNs before it are missing; stray: its PSN is far from those before it, which went on behind it
// early: an ACK or a response that was captured before its request
enum class Oddity : std::uint8_t { corrupt, duplicated, late, gap, sequence_nak, rnr_nak, stray, early };

// The RNR NAKs that one end sent, as they show without the requests.
struct RnrNaks {
    dissect::Psn psn;                   // of the last
    dissect::Instant first{};           // of that PSN
    dissect::Duration longest{};        // from the first to the last of one PSN
    std::optional<std::uint8_t> timer;  // code of the last
    void add(dissect::Psn refused, dissect::Instant time, std::uint8_t code);
};

// Requests that arrived twice, of a sender whose IPv4 identification counts on: it sent each of them once.
struct Doubled {
    std::uint64_t identified = 0;
    std::uint64_t alone = 0;  // of those: the requests around it arrived once, as nothing does that two taps recorded
    std::uint64_t last = 0;   // how many requests there were then
    void add(std::uint64_t requests) {
        constexpr std::uint64_t kBeside = 2;  // the next request and its own copy
        ++identified;
        if (last == 0 || requests - last > kBeside) ++alone;
        last = requests;
    }
};

// What happened to a way that nothing happens to where all is well.
struct Incidents {
    std::uint64_t corrupt = 0;        // ICRC wrong: the receiver dropped them
    std::uint64_t corrupt_again = 0;  // of those, requests: a NAK requested them again
    std::uint64_t corrupt_taken =
        0;  // of those, requests: acknowledged without a NAK or a retransmission, so intact at the receiver
    std::uint64_t congestion_experienced = 0;
    std::uint64_t cnps = 0;       // that it sent, to slow the other end down
    std::uint64_t cnp_bytes = 0;  // on the wire

    // Requests whose PSN had been on the wire before, without those below.
    std::uint64_t retransmitted = 0;
    std::uint64_t duplicated = 0;  // the network or the capture doubled a packet, the requester most likely did not
    Doubled doubled;               // of those: the requester did not
    std::uint64_t already_answered = 0;  // of the retransmitted: the answer had been on the wire before
    std::uint64_t partial_reads =
        0;  // READs that ask for the rest of an earlier one; not retransmitted: their PSN is new
    std::uint64_t retransmitted_bytes = 0;  // on the wire

    std::uint64_t sequence_naks = 0;  // answers that this end gave to the other's requests
    std::uint64_t rnr_naks = 0;
    RnrNaks rnr;
    std::uint64_t fatal_naks = 0;
    std::uint64_t unmatched = 0;  // answers that no request waits for
    std::uint64_t unread_answers =
        0;  // whose AETH the capture cut off (ACK or NAK, nobody knows), or of READs whose length it cut off
    std::uint64_t implied_naks = 0;
    std::uint64_t early_answers = 0;      // captured before their requests, which came within some milliseconds
    dissect::Duration earliest_answer{};  // the longest time until one did

    Gaps gaps;                            // in its request PSNs
    Gaps response_gaps;                   // in the READ responses that it sent
    std::vector<RecoverySum> recoveries;  // by kind; empty: none began
    [[nodiscard]] RecoverySum& recovery(RecoveryKind kind);
    [[nodiscard]] const RecoverySum& recovery(RecoveryKind kind) const;
    Seldom<Ordering> ordering;          // there where its requests passed out of order, or a NAK asked for any
    std::uint64_t spurious = 0;         // timeouts after which it showed that nothing had been lost
    std::optional<AckTimer> ack_timer;  // nothing where too few waits agree
    std::optional<dissect::Duration> shortest_turn;  // from an answer to the next request, at the tap
    dissect::Duration shortest_answer{};             // from a request to its answer; 0: not known

    std::uint64_t failed = 0;  // messages
    std::uint64_t abandoned = 0;
    std::uint32_t psn_returns = 0;  // how often its PSNs went far away (kFarPsn), and came back soon to where they were
    bool begun_ahead =
        false;  // of the PSN that CM announced: the MSN of an ACK shows that no request was before the first seen

    struct Odd {
        Oddity oddity{};
        dissect::FrameIndex frame{};
    };
    static constexpr std::size_t kMostOdd = 8;  // frames kept of each
    std::vector<Odd> odd;                       // the first of each, in order
    void note(Oddity oddity, dissect::FrameIndex frame);
    [[nodiscard]] std::vector<dissect::FrameIndex> frames(Oddity oddity) const;
};

// What one end sent, and what became of its requests. There are two of every connection, so what few have stands in
// `incidents`.
struct Way {
    std::uint64_t packets = 0;  // without CNPs
    std::uint64_t bytes = 0;    // on the wire
    dissect::Instant last_time{};
    dissect::FrameIndex last_frame{};
    std::uint64_t intact = 0;    // ICRC right
    std::uint64_t requests = 0;  // packets
    std::uint64_t acks = 0;      // answers that this end gave to the other's requests
    std::uint64_t read_responses = 0;

    std::array<std::uint64_t, kMessageKindNames.size()> messages{};  // distinct ones
    [[nodiscard]] std::uint64_t messages_of(MessageKind kind) const { return messages[static_cast<std::size_t>(kind)]; }
    [[nodiscard]] std::uint64_t all_messages() const;
    std::uint64_t message_bytes = 0;  // payload, each byte once

    std::uint64_t completed = 0;
    DurationSummary latency;  // first request packet to completion
    std::uint64_t open = 0;
    std::uint16_t path_mtu = 0;       // bytes: the longest payload of a FIRST or MIDDLE that it sent; 0: none
    std::uint16_t longest_taken = 0;  // bytes: the longest payload of its packets that are known to have arrived
    std::uint32_t first_psn = 0;      // of its requests that are not corrupt
    Seldom<Incidents> incidents;

    dissect::Instant first_time{};
    dissect::FrameIndex first_frame{};  // 0: nothing seen of this way
    std::uint64_t atomic_responses = 0;
    std::uint64_t reads_at_most = 0;  // how often it had the most READs and ATOMICs outstanding
    std::uint32_t most_reads = 0;     // so many at once
    NetworkId network{};              // of its first packet
    FewValues<dissect::Pkey, 2> pkeys;
    FewValues<std::uint8_t> dscps;
    FewValues<std::uint8_t> pcps;  // kNoPcp: without a VLAN tag
    FewValues<std::uint16_t> udp_ports;

    // As outputs show them: with CNPs.
    [[nodiscard]] std::uint64_t all_packets() const { return packets + incidents->cnps; }
    [[nodiscard]] std::uint64_t all_bytes() const { return bytes + incidents->cnp_bytes; }
    void note_path_mtu(std::uint32_t payload) {  // of a FIRST or MIDDLE; more than 4096 is none (9.3.3.2)
        if (payload > path_mtu && payload <= UINT16_MAX) path_mtu = static_cast<std::uint16_t>(payload);
    }
    [[nodiscard]] bool reorders() const {
        return incidents->ordering->overtaken != 0 || incidents->ordering->strays;
    }  // its path may
};

struct Endpoint {
    Address address;
    std::optional<dissect::Qpn> qpn;  // nothing where no packet names it
    bool is_port = false;             // iWARP: the number is a TCP port
    NetworkId network{};              // that leads to it, where others lead to another queue pair of that number
};

struct Connection {
    ConnectionId uid{};
    dissect::Service service{};
    std::array<Endpoint, 2> ends{};  // a: the active side where CM tells, else who was seen first
    std::array<Way, 2> ways{};       // what end a sent, what end b sent
    Confidence confidence = Confidence::none;
    JoinedBy joined_by = JoinedBy::nothing;
    std::uint32_t matches = 0;                 // answers that fitted requests
    std::optional<std::uint32_t> cm_attempt;   // CmAttempt::uid
    std::optional<std::uint32_t> cm_path_mtu;  // bytes
    bool released = false;                     // taken down by CM, or its queue pair number used anew
    bool failed = false;                       // a fatal NAK ended it
    std::uint16_t recording = 0;               // of Timeline::recordings
    bool ambiguous =
        false;  // what goes the other way fits it and others: whether it was answered, or whom it answers, is not known

    [[nodiscard]] const Endpoint& end(End which) const { return ends[static_cast<std::size_t>(which)]; }
    [[nodiscard]] const Way& way(End which) const { return ways[static_cast<std::size_t>(which)]; }
    [[nodiscard]] Way& way(End which) { return ways[static_cast<std::size_t>(which)]; }
    [[nodiscard]] bool reliable() const {
        return service == dissect::Service::rc || service == dissect::Service::xrc || service == dissect::Service::rd;
    }
    // Many ACKs and responses of one end were captured before their requests.
    [[nodiscard]] bool clocks_apart() const;
    [[nodiscard]] bool one_way() const { return ways[0].packets == 0 || ways[1].packets == 0; }
    [[nodiscard]] std::uint64_t packets() const { return ways[0].packets + ways[1].packets; }
    [[nodiscard]] std::uint64_t all_packets() const { return ways[0].all_packets() + ways[1].all_packets(); }
    [[nodiscard]] std::uint64_t all_bytes() const { return ways[0].all_bytes() + ways[1].all_bytes(); }
    // ACK timeouts of that end's requests; none where an answer could not be read, for that may have been a NAK.
    [[nodiscard]] std::uint64_t timeouts(End requester) const;
    [[nodiscard]] dissect::Instant first_time() const;
    [[nodiscard]] dissect::Instant last_time() const;
    [[nodiscard]] dissect::FrameIndex first_frame() const;
};

// "10.0.0.1:17", "lid 4:?", "10.0.0.1:17 (VNI 5000)"
[[nodiscard]] std::string text(const Endpoint& end);

}  // namespace qps::transport
