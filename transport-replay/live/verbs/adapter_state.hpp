// What an Adapter is made of, for the files that make up its functions; and how they change what happens to a queue
// pair.
//
// completions.cpp   what completes, events, a queue pair that fails
// work.cpp          work requests that are posted
// lifetime.cpp      queue pairs that are made, changed, destroyed
// arrivals.cpp      packets that come
// departures.cpp    packets that go, and when
#pragma once

#include <transport-replay/live/verbs/general_services.hpp>
#include <transport-replay/live/verbs/multicast.hpp>
#include <transport-replay/live/verbs/objects.hpp>
#include <transport-replay/live/verbs/queue_pair.hpp>

namespace qps::transport::verbs {

inline constexpr Slot kGsiSlot{0};  // of queue pair 1, in both senses first

struct AdapterState {
    explicit AdapterState(const AdapterSettings& given)
        : settings(given), registrations(given.first_address), next_qp(given.first_qp) {
        schedule.add(kGsiSlot);
    }

    AdapterSettings settings;
    AdapterCounts counts{};
    Registrations registrations;
    Objects<Pd, ProtectionDomain> pds{};
    Objects<Cq, CompletionQueue> cqs{};
    Objects<Srq, SharedReceives> srqs{};
    Objects<Xrcd, ExtendedDomain> xrcds{};
    Memory no_memory{};  // what a request reaches that names no shared receive queue
    ReceiveQueue no_receives{0, true};
    boost::unordered_flat_map<std::uint32_t, std::unique_ptr<QueuePair>> qps{};
    std::vector<QueuePair*> slots{nullptr};  // by Slot; the GSI has none
    std::vector<Slot> free_slots{};
    dissect::Qpn next_qp;
    MulticastGroups groups{};
    GeneralServices gsi{};
    Schedule schedule{};
    std::vector<AsyncEvent> events{};
    std::vector<Cq> notifications{};

    TransportPacket departing{};  // what the last Departure shows
    AddressHandle departing_to{};
    std::uint32_t responses_in_a_row = 0;
    std::uint8_t held = 0;  // bit n: priority n

    [[nodiscard]] QueuePair* find(dissect::Qpn number) const {
        const auto row = qps.find(static_cast<std::uint32_t>(number));
        return row == qps.end() ? nullptr : row->second.get();
    }
};

// The memory that an XRC target serves for a shared receive queue by that number.
[[nodiscard]] SharedReceives* served_by(const AdapterState& adapter, const QueuePair& target,
                                        std::optional<Srqn> number);
// An XRC target leaves the shared receive queue that it served, where no message is half received.
void leave(QueuePair& target);

// completions.cpp
void raise(AdapterState& adapter, const AsyncEvent& event);
void complete(AdapterState& adapter, QueuePair& qp, CompletionQueue& queue, const Wc& wc, bool solicited = false);
void complete_receive(AdapterState& adapter, QueuePair& qp, std::uint64_t id, Wc wc, bool solicited = false);
// After anything a requester did: its completions, its failure, the end of its draining, its place in the schedule.
void settle(AdapterState& adapter, QueuePair& qp);
// To ERR: both queues are flushed. With last words what the responder has queued (a NAK) still goes out.
enum class LastWords : bool { no, yes };
void fail(AdapterState& adapter, QueuePair& qp, std::optional<AsyncEventType> event, LastWords words);

// work.cpp
[[nodiscard]] Result<void> post_send(AdapterState& adapter, QueuePair& qp, const SendWr& wr);
[[nodiscard]] Result<void> post_recv(AdapterState& adapter, QueuePair& qp, const RecvWr& wr);
[[nodiscard]] Result<dissect::Rkey> post_bind(AdapterState& adapter, QueuePair& qp, const SendWr& wr, MwType type);

// lifetime.cpp
[[nodiscard]] Result<Srq> create_srq(AdapterState& adapter, ProtectionDomain* pd, std::uint32_t max_wr,
                                     std::uint32_t max_sge);
[[nodiscard]] Result<dissect::Qpn> create_qp(AdapterState& adapter, const QpInitAttr& init);
[[nodiscard]] Result<void> modify_qp(AdapterState& adapter, QueuePair& qp, const QpAttr& attr);
[[nodiscard]] Result<void> destroy_qp(AdapterState& adapter, QueuePair& qp);
[[nodiscard]] QpStatus status_of(const QueuePair& qp);

// arrivals.cpp
void process(AdapterState& adapter, const IncomingPacket& arrival, dissect::Instant now);

// departures.cpp
// Puts the queue pair where it belongs in the schedule, after anything that may have changed what it has to send.
void refresh(AdapterState& adapter, QueuePair& qp);
// Whether nothing holds back what goes there.
[[nodiscard]] inline bool may_depart(const AdapterState& adapter, const AddressHandle& to) {
    return adapter.held == 0 || (adapter.held >> priority_of(to, adapter.settings.tagged) & 1) == 0;
}
void hold(AdapterState& adapter, std::uint8_t priorities);
[[nodiscard]] std::optional<OutgoingPacket> poll(AdapterState& adapter, dissect::Instant now);
[[nodiscard]] std::optional<dissect::Instant> poll_at(const AdapterState& adapter);

}  // namespace qps::transport::verbs
