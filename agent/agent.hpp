// The agent does one client's requests on a device. A table of functions, one per verb of the protocol.
//
//   Agent agent(device);
//   std::string answer = agent.answer(line);       // a line for a line, whatever is in it
//   agent.attend();                                // takes events of the device and of rdma_cm; to be called whenever
//   there are any
//
// What a client asks is within the bounds of the protocol's table when it gets to a function; numbers of objects,
// offsets and what the device makes of it are judged there. A call of verbs may take as long as the kernel likes; a
// request that waits attends.
#pragma once

#include <functional>

#include <agent/device.hpp>

namespace qps::agent {

inline constexpr std::size_t kMostEvents = 1024;  // not taken by the client; the oldest go

class Agent {
public:
    explicit Agent(Device& device);
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    [[nodiscard]] std::string answer(std::string_view line);
    [[nodiscard]] bool quitting() const { return quitting_; }
    void attend();
    // As if a client had said `reset`.
    void reset();

    [[nodiscard]] int cm_descriptor() const { return channel_ ? channel_->fd : -1; }
    [[nodiscard]] int async_descriptor() const { return device_.context()->async_fd; }

private:
    using Function = Answer (Agent::*)(const Fields&);
    static const std::array<Function, kVerbCount> kFunctions;

    // agent.cpp
    Answer hello(const Fields& ask);
    Answer ping(const Fields& ask);
    Answer reset_all(const Fields& ask);
    Answer quit(const Fields& ask);
    Answer counters(const Fields& ask);
    Answer kernel_log(const Fields& ask);
    Answer event(const Fields& ask);
    Answer challenge(const Fields& ask);
    Answer prove(const Fields& ask);
    // Attends until it is so or the time of `wait` is over.
    void wait(const Fields& ask, const std::function<bool()>& so);
    void take_async_events();

    // memory.cpp
    Answer pd(const Fields& ask);
    Answer pd_free(const Fields& ask);
    Answer mr(const Fields& ask);
    Answer mr_free(const Fields& ask);
    Answer mw(const Fields& ask);
    Answer mw_free(const Fields& ask);
    Answer set(const Fields& ask);
    Answer fill(const Fields& ask);
    Answer read(const Fields& ask);
    Answer hash(const Fields& ask);
    Answer compare(const Fields& ask);
    // The bytes that mr, off and len mean, or why there are none.
    [[nodiscard]] std::optional<std::span<std::byte>> memory_of(const Fields& ask, std::uint64_t length, Answer& why);

    // queue_pairs.cpp
    Answer cq(const Fields& ask);
    Answer cq_free(const Fields& ask);
    Answer srq(const Fields& ask);
    Answer srq_limit(const Fields& ask);
    Answer srq_free(const Fields& ask);
    Answer xrcd(const Fields& ask);
    Answer xrcd_free(const Fields& ask);
    Answer qp(const Fields& ask);
    [[nodiscard]] Answer extended_srq(const Fields& ask, ibv_pd* pd);
    [[nodiscard]] Answer extended_qp(const Fields& ask, ibv_pd* pd, QpKind kind);
    Answer connect(const Fields& ask);
    Answer qp_set(const Fields& ask);
    Answer qp_state(const Fields& ask);
    Answer qp_free(const Fields& ask);
    Answer attach(const Fields& ask);
    Answer detach(const Fields& ask);

    // work.cpp
    Answer bind(const Fields& ask);
    Answer recv(const Fields& ask);
    Answer post(const Fields& ask);
    Answer poll(const Fields& ask);
    // Of a datagram; kept, so that a thousand of them cost one.
    [[nodiscard]] ibv_ah* handle_for(QueuePair& pair, std::string_view to, Answer& why);

    // cm.cpp
    Answer listen(const Fields& ask);
    Answer cm_connect(const Fields& ask);
    Answer accept(const Fields& ask);
    Answer reject(const Fields& ask);
    Answer disconnect(const Fields& ask);
    Answer cm_event(const Fields& ask);
    Answer cm_free(const Fields& ask);
    void take_cm_events();
    void take(const rdma_cm_event& event, CmEnd& end, std::uint64_t number);
    void take_request(const rdma_cm_event& event);
    [[nodiscard]] Answer go_on(CmEnd& end);
    [[nodiscard]] Answer program(CmEnd& end, const Fields& wants, ibv_qp_state last);
    [[nodiscard]] std::uint64_t number_of(const rdma_cm_id* id);
    [[nodiscard]] QueuePair* pair_of(const CmEnd& end);
    void queue_cm_event(Fields event);

    Device& device_;
    Owned<rdma_event_channel, rdma_destroy_event_channel> channel_;
    Objects objects_;
    std::deque<Fields> async_events_;
    std::deque<Fields> cm_events_;
    bool quitting_ = false;
};

// What ibv_modify_qp() takes of a request; `mask` are the attributes that were said. Fails for an address that is none.
struct Attributes {
    ibv_qp_attr attr{};
    int mask = 0;
};
[[nodiscard]] std::optional<Attributes> attributes_of(const Fields& ask, const Device& device);
[[nodiscard]] unsigned access_of(std::uint64_t rights);
[[nodiscard]] std::uint64_t rights_of(unsigned access);

}  // namespace qps::agent
