// What a client has made of a device: verbs objects by the agent's numbers, owned, and the errors of calls as answers.
//
// Objects end in the order that verbs demand, whatever the client forgot: ids of rdma_cm, queue pairs, windows, shared
// queues, domains of XRC, completion queues, regions with their memory, protection domains. Numbers are given out once,
// so that one kept from before finds nothing. Bounds: kMostObjects of a kind, kMostMemory.
//
// Numbers come from the client: every one may be wrong.
#pragma once

#include <transport-replay/conformance/agent/line.hpp>
#include <transport-replay/conformance/agent/object_table.hpp>

#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <memory>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

namespace qps::agent {

using namespace transport::conformance::agent;

// What a request came to: fields, or the name of an errno and where it came from.
struct Answer {
    Fields fields{};
    std::string error{};
    std::string text{};
};
[[nodiscard]] std::string name_of_errno(int error);
// `where`: the call that failed, as its manual page is called.
[[nodiscard]] inline Answer refused(int error, const std::string& where) {
    return {.error = name_of_errno(error), .text = where + ": " + std::strerror(error)};
}
[[nodiscard]] inline Answer unknown(std::string_view key) { return refused(ENOENT, "no such " + std::string(key)); }
[[nodiscard]] inline Answer missing(std::string_view key) { return {.error = "missing", .text = std::string(key)}; }

template <auto kEnd> struct EndedBy {
    template <class T> void operator()(T* object) const { static_cast<void>(kEnd(object)); }
};
template <class T, auto kEnd> using Owned = std::unique_ptr<T, EndedBy<kEnd>>;

using OwnedPd = Owned<ibv_pd, ibv_dealloc_pd>;
using OwnedCq = Owned<ibv_cq, ibv_destroy_cq>;
using OwnedSrq = Owned<ibv_srq, ibv_destroy_srq>;
inline int end_xrcd(ibv_xrcd* xrcd) { return ibv_close_xrcd(xrcd); }
using OwnedXrcd = Owned<ibv_xrcd, end_xrcd>;
using OwnedQp = Owned<ibv_qp, ibv_destroy_qp>;
using OwnedAh = Owned<ibv_ah, ibv_destroy_ah>;
inline int end_mr(ibv_mr* mr) { return ibv_dereg_mr(mr); }
inline int end_mw(ibv_mw* mw) { return ibv_dealloc_mw(mw); }
using OwnedMr = Owned<ibv_mr, end_mr>;
using OwnedMw = Owned<ibv_mw, end_mw>;
using OwnedCmId = Owned<rdma_cm_id, rdma_destroy_id>;

// Pages that regions show.
class Pages {
public:
    // Nothing where there is no memory.
    [[nodiscard]] static std::shared_ptr<Pages> make(std::size_t size);
    Pages(std::byte* begin, std::size_t size) : begin_(begin), size_(size) {}
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages();
    [[nodiscard]] std::byte* begin() const { return begin_; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::byte* begin_;
    std::size_t size_;
};

struct Region {
    std::shared_ptr<Pages> pages;
    std::span<std::byte> bytes;  // of these
    OwnedMr mr;
};
struct Window {
    OwnedMw mw;
    unsigned type = 2;
};
// A socket that keeps this host a member of a group, for verbs do not tell the network.
class Membership {
public:
    explicit Membership(int socket = -1) : socket_(socket) {}
    Membership(Membership&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
    Membership& operator=(Membership&&) = delete;
    ~Membership();

private:
    int socket_;
};

struct QueuePair {
    QpKind kind = QpKind::rc;
    bool own_cq = false;
    std::uint64_t cq = 0;
    std::uint64_t srq = 0;                       // 0: none
    std::map<std::string, OwnedAh> handles{};    // of datagrams, by where to; kMostObjects
    std::map<std::string, Membership> groups{};  // by address
    OwnedQp qp{};
};
struct CmEnd {
    std::uint64_t qp = 0;  // 0: none (yet)
    rdma_port_space space = RDMA_PS_TCP;
    bool listens = false;
    Fields wants{};               // what cm_connect or accept asked for
    rdma_conn_param requested{};  // what the peer asked for
    OwnedCmId id{};
};

struct Objects {
    // In this order, for they end in the other.
    OwnedPd first_pd{};
    ObjectTable<OwnedPd> pds{};
    ObjectTable<Region> regions{};
    std::uint64_t memory = 0;  // bytes of regions
    ObjectTable<OwnedCq> cqs{};
    ObjectTable<OwnedXrcd> xrcds{};
    ObjectTable<OwnedSrq> srqs{};
    ObjectTable<Window> windows{};
    ObjectTable<QueuePair> qps{};
    ObjectTable<CmEnd> cms{};

    [[nodiscard]] ibv_pd* pd(std::uint64_t number) {
        if (number == 0) return first_pd.get();
        const OwnedPd* found = pds.find(number);
        return found == nullptr ? nullptr : found->get();
    }
    // In the order of ends.
    void clear() {
        cms.clear();
        qps.clear();
        windows.clear();
        srqs.clear();
        xrcds.clear();
        cqs.clear();
        regions.clear();
        memory = 0;
        pds.clear();
    }
};

}  // namespace qps::agent
