// Block and Queues: registered memory of a program, and a queue pair with its receives and what is outstanding on it.
//
// Queues knows how many work requests of each kind are under way, so that no work queue and no completion queue can
// overflow: callers ask for room() before they post, and room comes back with completions alone, those of unsignaled
// requests with the next signaled one. Receives are slots of equal size in one block; a slot is posted or its message
// is being looked at.
//
// Lengths of messages come from the adapter, which cut nothing; what is in a slot is a stranger's. Nothing grows after
// open().
#pragma once

#include <transport-replay/live/endpoint.hpp>
#include <transport-replay/live/peers/program.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qps::transport::live::peers {

inline constexpr std::size_t kMostMemory = std::size_t{2}
                                           << 30;  // bytes of all blocks of a program: two of the largest regions
inline constexpr std::size_t kMaxLines = 1000;     // sentences nobody has taken; more are dropped

// What a program works with during one call.
struct PeerContext {
    Endpoint& endpoint;
    dissect::Instant now{};
    verbs::Pd pd{};
    ProgramCounts& counts;
    std::vector<std::string>& lines;
    std::size_t& held;  // bytes of the program's blocks
    [[nodiscard]] verbs::Adapter& adapter() const { return endpoint.adapter(); }
    void say(std::string sentence) const {
        if (lines.size() < kMaxLines) lines.push_back(std::move(sentence));
    }
};

// Memory of the system, not of the heap: pages come when they are written first, and go with the block. A peer that
// asks for a connection and sends nothing takes addresses and no memory, however many asked and went before (calloc()
// would clear what they had).
struct Unmap {
    std::size_t size = 0;
    void operator()(std::byte* memory) const;
};

// Memory that is registered. It must be closed before it is destroyed, while its adapter is still driven.
class Block {
public:
    // Zeroed. Fails beyond kMostMemory (too_many), or as reg_mr() does.
    [[nodiscard]] static verbs::Result<Block> open(const PeerContext& context, std::size_t bytes,
                                                   const verbs::Access& access);
    void close(const PeerContext& context);

    [[nodiscard]] dissect::MutableBytes bytes() const { return {memory_.get(), size_}; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const verbs::Mr& mr() const { return mr_; }
    // Part of it, for a work request; the caller keeps within size().
    [[nodiscard]] verbs::Sge piece(std::size_t offset, std::size_t length) const {
        return {.address = mr_.address + offset, .length = static_cast<std::uint32_t>(length), .lkey = mr_.lkey};
    }

private:
    std::unique_ptr<std::byte[], Unmap> memory_;
    std::size_t size_ = 0;
    verbs::Mr mr_{};
};

struct QueueNeeds {
    verbs::QpType type =
        verbs::QpType::rc;             // xrc_send: an initiator, and a target with a shared receive queue beside it
    std::uint32_t sends = 16;          // work requests under way at most
    std::uint32_t receives = 16;       // posted at most
    std::uint32_t receive_bytes = 64;  // of each; 0: messages without bytes (WRITE with immediate)
    verbs::Access access = verbs::kEveryAccess;
};
// Entries of a completion queue that can never overflow.
[[nodiscard]] constexpr std::uint32_t completions_of(const QueueNeeds& needs) { return needs.sends + needs.receives; }

// A completion, by what it was posted as.
struct Done {
    verbs::Wc wc{};
    bool receive = false;
    std::uint32_t tag = 0;    // of a send: the poster's; of a receive: the slot
    std::uint32_t count = 1;  // of a send: itself and the unsignaled ones before it
};
[[nodiscard]] Done done_of(const verbs::Wc& wc);

// What an initiator of XRC has beside it, so that it can be answered.
struct ExtendedQueues {
    verbs::Xrcd domain{};
    verbs::XrcSrq srq{};
    dissect::Qpn target{};
};

class Queues {
public:
    // In INIT with all receives posted where it is RC, UC or XRC; UD: in RESET, post_all() when it is active.
    [[nodiscard]] static verbs::Result<Queues> open(const PeerContext& context, verbs::Cq cq, const QueueNeeds& needs,
                                                    dissect::Pkey pkey);
    void close(const PeerContext& context);

    [[nodiscard]] dissect::Qpn qpn() const { return qpn_; }
    [[nodiscard]] const QueueNeeds& needs() const { return needs_; }
    [[nodiscard]] const std::optional<ExtendedQueues>& extended() const { return extended_; }  // of XRC alone
    [[nodiscard]] std::uint32_t outstanding() const { return outstanding_; }                   // sends
    [[nodiscard]] std::uint32_t room() const { return needs_.sends - outstanding_; }

    // With a completion of its own. Where there is no room: queue_full.
    verbs::Result<void> post(const PeerContext& context, verbs::SendWr wr, std::uint32_t tag);
    // Without, unless half of the queue is such already or the poster says that it is the last for now.
    verbs::Result<void> post_quietly(const PeerContext& context, verbs::SendWr wr, std::uint32_t tag, bool last);
    // Every completion of this queue pair passes through here, once.
    void note(const Done& done);

    verbs::Result<void> post_all(const PeerContext& context);
    verbs::Result<void> post_receive(const PeerContext& context, std::uint32_t slot);
    // The message of a receive; of UD without the 40 bytes before it.
    [[nodiscard]] dissect::MutableBytes message(const Done& done) const;
    [[nodiscard]] verbs::Sge message_piece(const Done& done) const;

private:
    verbs::Result<void> open_queue_pairs(const PeerContext& context, verbs::Cq cq, dissect::Pkey pkey);
    verbs::Result<void> open_extended(const PeerContext& context, verbs::Cq cq);

    QueueNeeds needs_{};
    dissect::Qpn qpn_{};
    std::optional<ExtendedQueues> extended_{};
    Block slots_;
    std::uint32_t outstanding_ = 0;
    std::uint32_t quiet_ = 0;  // unsignaled since the last signaled one
};

[[nodiscard]] std::string_view name(verbs::VerbsError error);

}  // namespace qps::transport::live::peers
