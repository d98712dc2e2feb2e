// What AgentOverVerbs keeps, and its functions by verb. Nobody's but its own: agent_over_verbs.hpp says what it is.
//
// Numbers of objects are a client's: each is looked up, and one that is gone finds nothing.
#pragma once

#include <transport-replay/conformance/agent/agent_over_verbs.hpp>
#include <transport-replay/conformance/agent/object_table.hpp>

#include <expected>

namespace qps::transport::conformance::agent {

struct Refused {
    std::string name;  // of an errno, as qpscope-agent would say
    std::string text;
};
using Answer = std::expected<Fields, Refused>;

[[nodiscard]] std::unexpected<Refused> refused(verbs::VerbsError why, std::string_view where);
[[nodiscard]] std::unexpected<Refused> refused(live::CmError why, std::string_view where);
[[nodiscard]] std::unexpected<Refused> refused(std::string_view name, std::string_view where);
[[nodiscard]] std::unexpected<Refused> unknown(std::string_view key);
[[nodiscard]] inline Answer answer_of(const verbs::Result<void>& done, std::string_view where) {
    if (!done) return refused(done.error(), where);
    return Fields{};
}

[[nodiscard]] verbs::Access access_of(std::uint64_t rights);
[[nodiscard]] std::uint64_t rights_of(const verbs::Access& access);
[[nodiscard]] std::optional<Address> address_of(std::string_view text);

struct Region {
    std::shared_ptr<std::vector<std::byte>> pages;
    std::uint64_t base = 0;  // address of the first of these
    dissect::MutableBytes bytes{};
    verbs::Mr mr{};
};
struct Window {
    verbs::Window window{};
};
struct QueuePair {
    dissect::Qpn qpn{};
    QpKind kind = QpKind::rc;
    bool own_cq = false;
    std::uint64_t cq = 0;
    std::uint64_t srq = 0;  // 0: none
};
struct CmEnd {
    bool listens = false;
    bool datagrams = false;
    bool over = false;  // the connection manager knows it no more
    live::PortSpace space{};
    live::IpPort port{};
    live::CmId id{};
    live::ConnectionParameters requested{};
    std::uint64_t qp = 0;
};

struct Turn {
    live::Endpoint& endpoint;
    dissect::Instant now;
    [[nodiscard]] verbs::Adapter& adapter() const { return endpoint.adapter(); }
};

struct AgentState {
    // What a function says whose answer has to wait: it is asked again later. Nothing: it waits.
    using Later = std::optional<Answer>;
    using Function = Later (AgentState::*)(const Fields&, const Turn&);
    static const std::array<Function, kVerbCount> kFunctions;

    // agent_over_verbs.cpp
    void work_off(const Turn& turn);
    void take_events(const Turn& turn);
    void clear(const Turn& turn);
    [[nodiscard]] bool waited_long_enough(const Fields& ask, const Turn& turn);
    Later hello(const Fields& ask, const Turn& turn);
    Later ping(const Fields& ask, const Turn& turn);
    Later reset(const Fields& ask, const Turn& turn);
    Later quit(const Fields& ask, const Turn& turn);
    Later event(const Fields& ask, const Turn& turn);
    Later counters(const Fields& ask, const Turn& turn);
    Later kernel_log(const Fields& ask, const Turn& turn);
    Later challenge(const Fields& ask, const Turn& turn);
    Later prove(const Fields& ask, const Turn& turn);

    // agent_memory.cpp
    Later pd(const Fields& ask, const Turn& turn);
    Later pd_free(const Fields& ask, const Turn& turn);
    Later mr(const Fields& ask, const Turn& turn);
    Later mr_free(const Fields& ask, const Turn& turn);
    Later mw(const Fields& ask, const Turn& turn);
    Later mw_free(const Fields& ask, const Turn& turn);
    Later set(const Fields& ask, const Turn& turn);
    Later fill(const Fields& ask, const Turn& turn);
    Later read(const Fields& ask, const Turn& turn);
    Later hash(const Fields& ask, const Turn& turn);
    Later compare(const Fields& ask, const Turn& turn);
    [[nodiscard]] std::expected<verbs::Pd, Refused> pd_of(const Fields& ask, const Turn& turn);
    [[nodiscard]] std::expected<dissect::MutableBytes, Refused> memory_of(const Fields& ask, std::uint64_t length);

    // agent_queue_pairs.cpp
    Later cq(const Fields& ask, const Turn& turn);
    Later cq_free(const Fields& ask, const Turn& turn);
    Later srq(const Fields& ask, const Turn& turn);
    Later srq_limit(const Fields& ask, const Turn& turn);
    Later srq_free(const Fields& ask, const Turn& turn);
    Later xrcd(const Fields& ask, const Turn& turn);
    Later xrcd_free(const Fields& ask, const Turn& turn);
    Later qp(const Fields& ask, const Turn& turn);
    [[nodiscard]] Answer target(const Fields& ask, QueuePair pair, verbs::QpInitAttr init, const Turn& turn);
    Later connect(const Fields& ask, const Turn& turn);
    Later qp_set(const Fields& ask, const Turn& turn);
    Later qp_state(const Fields& ask, const Turn& turn);
    Later qp_free(const Fields& ask, const Turn& turn);
    Later attach(const Fields& ask, const Turn& turn);
    Later detach(const Fields& ask, const Turn& turn);

    // agent_work.cpp
    Later bind(const Fields& ask, const Turn& turn);
    Later recv(const Fields& ask, const Turn& turn);
    Later post(const Fields& ask, const Turn& turn);
    Later poll(const Fields& ask, const Turn& turn);

    // agent_connections.cpp
    Later listen(const Fields& ask, const Turn& turn);
    Later cm_connect(const Fields& ask, const Turn& turn);
    Later accept(const Fields& ask, const Turn& turn);
    Later reject(const Fields& ask, const Turn& turn);
    Later disconnect(const Fields& ask, const Turn& turn);
    Later cm_event(const Fields& ask, const Turn& turn);
    Later cm_free(const Fields& ask, const Turn& turn);
    void take_cm_event(const live::ConnectionEvent& event);
    void end_cm(CmEnd& end, const Turn& turn);
    [[nodiscard]] std::uint64_t cm_of(live::CmId id);
    [[nodiscard]] std::uint64_t qp_of(dissect::Qpn qpn);

    std::string output;
    std::deque<std::string> lines;                // not done yet
    std::optional<dissect::Instant> waits_until;  // of the first of them
    bool quitting = false;
    bool joins =
        false;  // groups changed: the endpoint tells its host in its next turn, which must not wait for a frame

    std::optional<verbs::Pd> first_pd;
    ObjectTable<verbs::Pd> pds;
    ObjectTable<Region> regions;
    std::uint64_t memory = 0;  // bytes of pages
    ObjectTable<verbs::Cq> cqs;
    ObjectTable<verbs::Xrcd> xrcds;
    ObjectTable<verbs::Srq> srqs;
    ObjectTable<Window> windows;
    ObjectTable<QueuePair> qps;
    ObjectTable<CmEnd> cms;
    std::deque<Fields> events;
    std::deque<Fields> cm_events;
    std::vector<Completion> taken;  // taken for a poll that still waits
    verbs::QpCounts gone{};         // of queue pairs that are no more
};

}  // namespace qps::transport::conformance::agent
