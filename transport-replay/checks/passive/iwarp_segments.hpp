// IwarpSegments: what passive checks remember of the DDP segments and RDMAP messages of one iWARP connection, and
// conclude segment by segment: versions and reserved bits, queues and their MSNs, offsets, READs with their responses,
// Terminates.
//
// Only what the capture proves is a failure: where it lacks bytes of a way, what came before counts for nothing
// (forget()), and answers are compared with requests only while both ways are whole. A segment whose header cannot be
// trusted fails the check of that field, no other.
//
// What an attacker could feed: any segments. All of it has a fixed size but for open READs, at most kMostAsked.
#pragma once

#include <dissect/ulp/iwarp.hpp>
#include <transport-replay/checks/passive/host_tallies.hpp>
#include <transport-replay/iwarp/ddp_segment.hpp>
#include <transport-replay/model/connection.hpp>

#include <array>
#include <deque>
#include <optional>

namespace qps::transport::conformance {

// What is said of one end of a connection.
struct EndTallies {
    HostTallies& tallies;
    const FlowKey& flow;  // from end a to end b
    void about(End end) const { tallies.about(end == End::a ? flow.source : flow.destination); }
    void look(End end, Passive check) const {
        about(end);
        tallies.look(check);
    }
    void fail(End end, Passive check, dissect::FrameIndex frame, dissect::FrameIndex other = {}) const {
        about(end);
        tallies.fail(check, frame, other);
    }
    void doubt(End end, Passive check, dissect::FrameIndex frame) const {
        about(end);
        tallies.doubt(check, frame);
    }
    // One look, and what came of it.
    void judge(End end, Passive check, bool wrong, dissect::FrameIndex frame, dissect::FrameIndex other = {}) const {
        look(end, check);
        if (wrong) fail(end, check, frame, other);
    }
};

class IwarpSegments {
public:
    static constexpr std::size_t kMostAsked = 256;       // READs and ATOMICs: devices allow 128 and fewer
    static constexpr std::size_t kHeadersKept = 64;      // of the newest segments, that a Terminate may quote
    static constexpr std::uint16_t kOpenDepth = 0x3fff;  // an IRD that is left open (RFC 6581 9.1)

    // The way of this end is seen from its first FPDU on.
    void start(End from);
    // The capture lacks bytes of that way, or what it has cannot be trusted.
    void forget(End from);
    // How many READs this end may have outstanding.
    void limit(End requester, std::uint16_t depth) { way(requester).most_asked = depth; }
    // `whole`: the capture has all that its sender had received from the other end.
    void take(End from, dissect::Bytes ulpdu, dissect::FrameIndex first, dissect::FrameIndex last, bool whole,
              const EndTallies& tallies);
    [[nodiscard]] bool terminated() const { return way(End::a).terminate || way(End::b).terminate; }

private:
    struct Header {
        bool tagged = false;
        bool last = false;
        std::uint8_t opcode = 0;
        std::uint32_t word = 0;  // what RDMAP has behind its control: untagged segments
        std::uint32_t stag = 0;
        std::uint64_t offset = 0;
        std::uint32_t queue = 0;
        std::uint32_t msn = 0;
        std::uint32_t mo = 0;
        dissect::Bytes payload{};
    };
    struct Queue {
        bool known = false;  // what comes next
        bool any = false;    // message was seen
        bool open = false;   // in the middle of a message
        std::uint32_t msn = 0;
        std::uint64_t next = 0;
        std::uint8_t opcode = 0;
        std::uint32_t word = 0;
        dissect::FrameIndex frame{};
    };
    struct TaggedMessage {
        bool open = false;
        std::uint32_t stag = 0;
        std::uint64_t next = 0;
        dissect::FrameIndex frame{};
    };
    struct Asked {
        bool atomic = false;
        std::uint32_t identifier = 0;
        ReadRequest read{};
        std::uint64_t answered = 0;  // bytes
        bool wrong = false;          // a segment of its response was: the others are not compared
        dissect::FrameIndex frame{};
    };
    struct Way {
        std::array<Queue, 4> queues{};
        std::array<TaggedMessage, 2> tagged{};  // WRITEs, READ responses
        bool whole = false;                     // since its first FPDU
        bool turned = false;                    // its READ requests are least significant byte first
        std::uint16_t most_asked = kOpenDepth;
        std::deque<Asked> asked{};
        std::array<std::uint32_t, kHeadersKept> headers{};  // of its newest segments, hashed
        std::uint64_t segments = 0;
        std::optional<dissect::FrameIndex> terminate{};
        bool went_on = false;
    };
    struct At {  // what every step needs
        End from{};
        const Header& header;
        dissect::FrameIndex first{};
        dissect::FrameIndex last{};
        bool whole = false;
        const EndTallies& tallies;
        void judge(Passive check, bool wrong, dissect::FrameIndex other = {}) const {
            tallies.judge(from, check, wrong, last, other);
        }
        void fail(Passive check, dissect::FrameIndex other = {}) const { tallies.fail(from, check, last, other); }
    };

    [[nodiscard]] Way& way(End end) { return ways_[static_cast<std::size_t>(end)]; }
    [[nodiscard]] const Way& way(End end) const { return ways_[static_cast<std::size_t>(end)]; }
    [[nodiscard]] bool answers_count(const At& at) const { return at.whole && way(End::a).whole && way(End::b).whole; }

    void remember(End from, dissect::Bytes ulpdu, bool tagged);
    void place_untagged(const At& at);
    void place_tagged(const At& at);
    void take_message(const At& at);
    void take_read_request(const At& at);
    void take_read_response(const At& at);
    void turn_reads(End requester);
    [[nodiscard]] std::deque<Asked>::iterator find_read(const At& at);
    void take_atomic_request(const At& at);
    void take_atomic_response(const At& at);
    void ask(const At& at, const Asked& asked);
    void take_terminate(const At& at);
    void judge_quoted(const At& at, dissect::Bytes quoted);

    std::array<Way, 2> ways_{};
};

}  // namespace qps::transport::conformance
