// ConversationWatch: what passive checks remember of one connection, and what they conclude packet by packet: PSNs,
// opcodes, MSNs, acknowledgements, path MTU, what is sent again.
//
// Only what the capture proves is a failure: nothing is concluded across a gap, what is learned from the middle of a
// stream is not held against its beginning, and what a network or a tap may have done (order within kReordering) is a
// doubt. The Analysis has the same packets and more patience: what it knows at the end is judged in conclusions.cpp.
//
// What an attacker could feed: any packets. All of it has a fixed size, but for the packets remembered to be compared
// when they are sent again, of which kRememberedWays ways have kRemembered each, and open READs, kOpenReads each.
#pragma once

#include <transport-replay/checks/passive/host_tallies.hpp>
#include <transport-replay/checks/passive/packet_facts.hpp>
#include <transport-replay/checks/passive/watched.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/packet_record.hpp>

#include <array>
#include <optional>
#include <vector>

namespace qps::transport::conformance {

inline constexpr std::size_t kRemembered =
    128;  // packets of 16 bytes: what software has outstanding; hardware's newest
inline constexpr std::size_t kRememberedWays = 1 << 14;     // 32 MiB of them
inline constexpr std::size_t kOpenReads = 32;               // READs and ATOMICs: devices allow 16, few 128
inline constexpr std::size_t kEndings = 16;                 // of messages, to find the number of one by its PSN
inline constexpr dissect::Duration kReordering{1'000'000};  // 1 ms: what a network or the queues of a tap may exchange
inline constexpr dissect::Duration kErrorGrace{
    10'000'000};  // 10 ms: what is under way when a queue pair fails, and software
inline constexpr dissect::Duration kIdle{1'000'000'000};  // 1 s: who is silent so long waits
inline constexpr dissect::Duration kTogether{100'000};    // 100 us: a CNP and a NAK of one cause

// What one end sends, as a requester and as a responder: of each family of checks what that remembers.
struct EndState {
    struct Run {  // of requests without a gap: what must come next
        dissect::Psn next;
        bool known = false;
        bool open = false;  // in the middle of a message
        dissect::Verb verb{};
    } run;
    struct Count {                   // of messages, and what MSNs say of it
        std::uint32_t messages = 0;  // that ended, as their number
        bool exact = false;          // `base` fits
        bool whole = true;           // no gap so far
        std::uint32_t base = 0;      // what the MSN was before message 1
        struct Ending {
            dissect::Psn last;
            std::uint32_t number = 0;
        };
        std::array<Ending, kEndings> endings{};
    } count;
    struct Acknowledged {
        std::optional<dissect::Psn> psn;  // the highest that was
        Moment moment;
        std::optional<Moment> ghost;  // acknowledged what was not sent yet
        dissect::Psn ghost_psn;
        bool asked_again = false;  // a request was repeated since: older answers may come
    } acknowledged;
    struct Asking {            // for answers
        bool ever = false;     // AckReq, READ or ATOMIC
        bool unasked = false;  // the last message did not ask, nor anything after it
        dissect::Psn psn;
        Moment end;
    } asking;
    struct Lengths {
        std::uint32_t mtu = 0;  // payload of its FIRSTs and MIDDLEs
        std::uint32_t longest = 0;
        dissect::FrameIndex longest_frame{};
    } lengths;
    struct Ports {
        std::uint16_t requests = 0;
        std::uint16_t answers = 0;
    } ports;
    struct Icrcs {
        std::array<std::uint64_t, 2> good_kinds{};  // a bit an operation and residue of the length: it was right
        std::array<dissect::FrameIndex, 2> bad_frames{};
        std::uint32_t bad = 0;
        std::vector<std::uint8_t> bad_kinds;  // how often each was wrong, up to 255; empty: never
    } icrcs;
    struct Credits {
        std::uint64_t plain_acks = 0;
        std::uint64_t unlimited = 0;  // of them: with the code for unlimited credits
        dissect::FrameIndex unlimited_frame{};
    } credits;
    struct Congestion {
        std::uint64_t data = 0;
        std::uint64_t not_capable = 0;  // of it: without ECN
        dissect::FrameIndex not_capable_frame{};
        std::optional<Moment> nak;
        std::optional<Moment> cnp;
        std::optional<Moment> mark;  // the last data with CE that it sent
        std::uint32_t cnps_with_nak = 0;
        bool cnp_apart = false;  // one came without a NAK and without a mark: marks are set behind the tap
    } congestion;
    struct OpenRead {
        dissect::Psn first;
        dissect::Psn last;
        std::optional<Moment> passed;
        bool named = false;    // by an ACK, while it waited
        bool endless = false;  // how many PSNs it takes is not known: `last` is its first
    };
    std::vector<OpenRead> reads;  // in the order of their PSNs
    struct Packet {
        dissect::Psn psn;
        std::uint32_t digest = 0;
        std::uint32_t access = 0;
        std::uint16_t length = 0;
        std::uint8_t opcode = 0;
        bool used = false;
    };
    struct Sent {
        dissect::Psn next;  // behind the newest request
        bool known = false;
        std::vector<Packet> packets;  // by PSN; empty: not remembered
    } sent;
};

class ConversationWatch {
public:
    // A packet of the connection, in the order of the capture. `remember`: there is room for its requests.
    void observe(const Observation& packet, const PacketFacts& facts, const PacketRecord& record, bool& remember,
                 HostTallies& tallies);

    [[nodiscard]] bool any() const { return watched_; }  // packet
    // Where what this end did is tallied.
    [[nodiscard]] HostTallies::Place host(End end) const { return hosts_[static_cast<std::size_t>(end)]; }
    // What conclusions need of it.
    [[nodiscard]] WatchedConnection summary(ConnectionId number) const;

private:
    struct Failure {
        Moment nak;
        End responder{};
        bool reported = false;
    };
    [[nodiscard]] EndState& state(End end) { return states_[static_cast<std::size_t>(end)]; }
    [[nodiscard]] std::uint32_t span_of_read(const EndState& requester, std::uint32_t length) const;
    void take_failed(const Observation& packet, const PacketRecord& record, HostTallies& tallies);
    void take_request(const Observation& packet, const PacketFacts& facts, const PacketRecord& record, bool& remember,
                      HostTallies& tallies);
    void take_answer(const Observation& packet, const PacketRecord& record, HostTallies& tallies);
    void take_count(EndState& requester, const Observation& packet, HostTallies& tallies);
    [[nodiscard]] bool is_marked(End sender, dissect::Instant time) const;
    void take_notification(const Observation& packet, End from, HostTallies& tallies);
    void take_nak(End from, const Observation& packet, HostTallies& tallies);

    std::array<EndState, 2> states_;
    std::optional<Failure> failure_;
    dissect::Service service_{};
    std::array<HostTallies::Place, 2> hosts_{};
    bool watched_ = false;
    bool begun_ = false;
    bool older_ = false;
};

// Operation and residue of the length: of packets alike in these the ICRC is computed alike.
inline constexpr std::size_t kPacketKinds = 128;
[[nodiscard]] std::size_t kind_of(dissect::Opcode opcode, std::uint32_t payload_length);
[[nodiscard]] constexpr bool is_padded_kind(std::size_t kind) { return kind % 4 != 0; }

}  // namespace qps::transport::conformance
