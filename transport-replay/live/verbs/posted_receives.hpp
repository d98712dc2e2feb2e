// What an adapter keeps of the receives posted to a queue while the responder has their memory: the application's
// number and the regions borrowed. Found by the id that ReceiveQueue carries; shared queues complete out of order.
//
// Invariant: an id is used by one receive at a time. Bounded by the depth of the queue.
#pragma once

#include <transport-replay/live/verbs/completion_queue.hpp>
#include <transport-replay/live/verbs/registration.hpp>
#include <transport-replay/queue_pair/receive_queue.hpp>

namespace qps::transport::verbs {

class PostedReceives {
public:
    PostedReceives(std::uint32_t depth, std::uint32_t max_sge, bool shared)
        : max_sge_(max_sge), depth_(depth), queue_(depth, shared) {}

    [[nodiscard]] Result<void> post(const RecvWr& wr, const ProtectionDomain& pd, Registrations& registrations) {
        if (wr.sg_list.size() > max_sge_) return std::unexpected(VerbsError::invalid_request);
        if (in_use_ >= depth_) return std::unexpected(VerbsError::queue_full);
        Resolved found = registrations.resolve(pd, wr.sg_list, true);
        const std::uint64_t id = take_row();
        if (!queue_.post({.id = id, .segments = std::move(found.segments), .usable = found.usable})) {
            registrations.release(found.pins);
            free_.push_back(id);
            return std::unexpected(VerbsError::queue_full);
        }
        rows_[id] = {.wr_id = wr.wr_id, .pins = std::move(found.pins)};
        ++in_use_;
        return {};
    }
    // The receive is done with: its number, and its memory free again.
    [[nodiscard]] std::uint64_t complete(std::uint64_t id, Registrations& registrations) {
        registrations.release(rows_[id].pins);
        rows_[id].pins.clear();
        free_.push_back(id);
        --in_use_;
        return rows_[id].wr_id;
    }

    [[nodiscard]] ReceiveQueue& queue() { return queue_; }
    [[nodiscard]] std::uint32_t in_use() const { return in_use_; }

private:
    struct Row {
        std::uint64_t wr_id = 0;
        Pins pins{};
    };
    [[nodiscard]] std::uint64_t take_row() {
        if (free_.empty()) {
            rows_.emplace_back();
            return rows_.size() - 1;
        }
        const std::uint64_t id = free_.back();
        free_.pop_back();
        return id;
    }

    std::uint32_t max_sge_;
    std::uint32_t depth_;
    std::uint32_t in_use_ = 0;  // queued, or taken by a message that has not ended
    ReceiveQueue queue_;
    std::vector<Row> rows_;
    std::vector<std::uint64_t> free_;
};

// XRC domain: joins targets with the shared receive queues that they serve.
struct ExtendedDomain {
    std::uint32_t users = 0;  // targets, shared receive queues
};

struct SharedReceives {
    Srq handle{};
    ProtectionDomain* pd = nullptr;
    PostedReceives receives;
    std::uint32_t limit = 0;           // armed where above 0
    std::uint32_t users = 0;           // queue pairs; of XRC targets those that receive a message into it just now
    ExtendedDomain* domain = nullptr;  // XRC
    CompletionQueue* cq = nullptr;     // XRC: where its messages complete, whichever target they come through
};

}  // namespace qps::transport::verbs
