// NvmeQueue: one queue of NVMe over RDMA, for passive checks: commands in flight, the memory that they name, their data
// and responses.
//
// A queue whose REQ and REP the capture has is followed from its first PSN on. Where a way skips a PSN, or goes back,
// the queue has lost track: what one message shows by itself is still judged, nothing else. What the order of both ways
// would prove is a suspicion until the way that could explain it went on without a gap for longer than taps exchange
// packets. What an attacker could feed: any messages. Commands in flight are bounded together with those of other
// queues (NvmeRoom), all else has a fixed size.
#pragma once

#include <transport-replay/checks/passive/host_tallies.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/packet_record.hpp>

#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

namespace qps::transport::conformance {

// What CM said of a queue.
struct NvmeSetUp {
    Address host;
    Address target;
    dissect::FrameIndex request{};
    std::optional<dissect::Psn> host_psn;  // of its first packet, as the target wants it; and the other way
    std::optional<dissect::Psn> target_psn;
    std::uint16_t record_format = 0;
    std::uint16_t queue = 0;
    std::uint16_t receives = 0;  // HRQSIZE: what the host can take
    std::uint16_t sends = 0;     // HSQSIZE, less one
    std::uint8_t rnr_retries = 0;
    std::uint32_t path_mtu = 0;  // 0: none that is defined
};

// What controllers said of themselves, for their queues for I/O.
struct NvmeCapsules {
    std::uint32_t bytes = 0;        // of a command capsule for I/O; 0: not seen
    std::uint32_t data_offset = 0;  // of the data in it, behind the entry
};
struct NvmeControllerKey {
    Address host;
    Address target;
    std::uint16_t id = 0;
    [[nodiscard]] bool operator==(const NvmeControllerKey&) const = default;
};
struct NvmeControllerHash {
    [[nodiscard]] std::size_t operator()(const NvmeControllerKey& key) const {
        return mix(hash_of(key.host) + 3 * hash_of(key.target) + key.id);
    }
};

// What all queues share.
struct NvmeRoom {
    static constexpr std::size_t kMostControllers = 1024;
    std::size_t commands = 0;  // in flight now, of all queues
    std::size_t most_commands = 0;
    std::uint64_t unwatched = 0;  // messages for which there was no room
    // Two controllers of one target may have one ID: what they differ in is not known.
    std::unordered_map<NvmeControllerKey, NvmeCapsules, NvmeControllerHash> controllers;
};

// A SEND put together from its packets, as far as anything looks at it: an entry, and the ID in the data of a Connect.
struct NvmeMessage {
    static constexpr std::size_t kHead = 96;
    std::array<std::byte, kHead> head{};
    std::size_t kept = 0;
    std::uint64_t length = 0;
    bool whole_head = true;  // nothing that belongs there was cut off by the capture
    dissect::FrameIndex frame{};
    dissect::Instant time{};
    bool immediate = false;
    std::optional<dissect::Rkey> invalidate;
    [[nodiscard]] dissect::Bytes bytes() const { return {head.data(), kept}; }
};

struct NvmeCommandInFlight {
    std::uint16_t cid = 0;
    std::uint8_t opcode = 0;
    std::uint8_t type = 0;  // of fabrics
    bool fabrics = false;
    bool keyed = false;        // its memory is the host's
    bool invalidates = false;  // it asks for that
    bool identifies = false;   // Identify Controller
    bool wide = false;         // a property of 8 bytes
    std::uint8_t reads_open = 0;
    RemoteAccess memory;
    std::uint64_t expected = 0;  // bytes that go to or from that memory if it succeeds; 0: unknown
    std::uint64_t moved = 0;
    dissect::FrameIndex frame{};
    [[nodiscard]] bool is_connect() const { return fabrics && type == 1; }
    // Bits 1:0 of an opcode say which way data goes.
    [[nodiscard]] bool to_controller() const { return ((fabrics ? type : opcode) & 1U) != 0; }
    [[nodiscard]] bool to_host() const { return ((fabrics ? type : opcode) & 2U) != 0; }
    [[nodiscard]] bool names(const RemoteAccess& access) const {
        return keyed && access.key == memory.key && access.address >= memory.address &&
               access.length <= memory.length && access.address - memory.address <= memory.length - access.length;
    }
};

class NvmeQueue {
public:
    explicit NvmeQueue(const NvmeSetUp& set_up) : set_up_(set_up) {}

    void observe(const Observation& packet, const PacketRecord& record, bool from_host, NvmeRoom& room,
                 HostTallies& tallies);
    // Gives back what it has of the room.
    void end(NvmeRoom& room);

private:
    enum class Side : std::uint8_t { host, target };
    struct Way {
        std::optional<dissect::Psn> next{};  // PSN of its next request, once it has begun
        bool open = false;                   // in the middle of a message
        NvmeMessage message;
    };
    struct Answered {
        std::uint16_t cid = 0;
        bool used = false;
        bool keyed = false;
        RemoteAccess memory;
        dissect::FrameIndex frame{};
    };
    struct OpenRead {
        dissect::Psn psn;
        std::uint16_t cid = 0;
        bool connect = false;  // of the data of one
    };
    // What would be a failure, unless the other way explains it.
    struct Suspicion {
        Passive check{};
        Side about{};
        Side explains{};  // whose packets may
        dissect::FrameIndex frame{};
        dissect::FrameIndex other{};
        dissect::Instant time{};
        std::uint16_t cid = 0;     // of a command or response that would
        std::uint32_t excess = 0;  // so many of them
        RemoteAccess memory;       // a command that names it would
    };
    static constexpr std::size_t kMostSuspicions = 16;
    static constexpr std::size_t kAnswered = 32;
    static constexpr std::size_t kMostReads = 256;

    // nvme_queue.cpp
    enum class Turn : std::uint8_t { next, repeated, lost };
    [[nodiscard]] Turn follow(const Observation& packet, Side from);
    [[nodiscard]] bool assemble(const Observation& packet, Way& way) const;
    void lose_track(NvmeRoom& room);
    void suspect(const Suspicion& suspicion);
    void confirm(Side way, dissect::Instant time, HostTallies& tallies);
    void explain_by_command(NvmeCommandInFlight& command, dissect::Instant time);
    void explain_by_response(std::uint16_t cid, dissect::Instant time);
    void take_read_response(const Observation& packet, HostTallies& tallies);
    [[nodiscard]] NvmeCommandInFlight* find(std::uint16_t cid);
    // nvme_commands_judged.cpp
    void take_command(const NvmeMessage& message, NvmeRoom& room, HostTallies& tallies);
    void judge_capsule(const NvmeMessage& message, const NvmeCommandInFlight& command, HostTallies& tallies) const;
    void judge_descriptor(const NvmeMessage& message, const NvmeCommandInFlight& command, HostTallies& tallies) const;
    void judge_connect(const NvmeMessage& message, HostTallies& tallies);
    void judge_kind(const NvmeMessage& message, const NvmeCommandInFlight& command, HostTallies& tallies);
    void judge_turn(const NvmeMessage& message, const NvmeCommandInFlight& command, HostTallies& tallies);
    void judge_limits(const NvmeMessage& message, const NvmeCommandInFlight& command, HostTallies& tallies);
    // nvme_answers_judged.cpp
    void take_data(const Observation& packet, NvmeRoom& room, HostTallies& tallies);
    void take_response(const NvmeMessage& message, NvmeRoom& room, HostTallies& tallies);
    void take_head(const NvmeMessage& message, HostTallies& tallies);
    void judge_completion(const NvmeMessage& message, const NvmeCommandInFlight& command, HostTallies& tallies);
    void judge_connect_answer(const NvmeMessage& message, std::uint32_t status, NvmeRoom& room, HostTallies& tallies);
    void learn_controller(const Observation& packet, const NvmeCommandInFlight& command, std::uint64_t offset,
                          NvmeRoom& room);

    NvmeSetUp set_up_;
    std::array<Way, 2> ways_;
    bool lost_ = false;  // track
    bool any_command_ = false;
    bool connected_ = false;  // one succeeded
    bool enabled_ = false;    // CC.EN was set
    bool flow_control_ = true;
    std::uint32_t entries_ = 0;              // of the submission queue; 0: unknown
    std::optional<std::uint16_t> asked_id_;  // in the data of the Connect
    std::optional<std::uint16_t> id_;        // of the controller
    NvmeCapsules capsules_;
    std::uint64_t sent_ = 0;  // commands
    std::uint64_t head_ = 0;  // of them: that the controller has taken, by SQHD
    std::vector<NvmeCommandInFlight> flying_;
    std::array<Answered, kAnswered> answered_{};
    std::size_t next_answered_ = 0;
    std::vector<OpenRead> reads_;
    std::vector<Suspicion> suspicions_;
    std::optional<std::uint16_t> writing_;  // CID of the command whose memory is being written
    std::uint64_t written_to_ = 0;          // offset in it
};

}  // namespace qps::transport::conformance
