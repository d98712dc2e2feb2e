// What is said to an agent, the program beside a device under test, and what it answers: THE table of verbs and their
// keys.
//
// One line asks, one line answers, over TCP (kAgentPort), in words that a person can type:
//
//   1 mr len=8192 access=write,read                    1 ok mr=1 va=0x7f3c5e000000 rkey=0x1a2b lkey=0x1a2b
//   2 qp kind=rc                                       2 ok qp=1 qpn=17 cq=1
//   3 connect qp=1 to=10.0.0.2 qpn=9 rq_psn=5 sq_psn=7    3 error EINVAL ibv_modify_qp to rtr: Invalid argument
//
// A number before it says which request an answer is of; answers come in the order of requests. line.hpp reads and
// writes lines, pattern.hpp is what memory is filled with. Objects have numbers that are given out once per connection;
// protection domain 0 is always there. What a client made goes when its connection ends.
//
// Who implements a verb and who asks for it derive from this table; it needs C++20 and the standard library alone.
// Every value a stranger can write has its bounds here; what is right for a device beyond them, the device says.
#pragma once

#include <transport-replay/conformance/agent/keys.hpp>

namespace qps::transport::conformance::agent {

inline constexpr std::uint16_t kAgentPort = 7475;  // beside the ports of our peers
inline constexpr std::uint64_t kProtocolVersion = 1;

inline constexpr std::size_t kMostLine = 16'384;          // bytes of a line: 4096 bytes of memory as digits, twice
inline constexpr std::size_t kMostFields = 512;           // of a line: more counters than any device has
inline constexpr std::uint64_t kMostShown = 4096;         // bytes of memory in a line
inline constexpr std::uint64_t kMostLength = 1ULL << 26;  // of a region; no check moves more
inline constexpr std::uint64_t kMostMemory = 1ULL << 28;  // of all regions of a client: a guest of the lab has 512 MiB
inline constexpr std::uint64_t kMostObjects = 512;        // of a kind at a time: a queue pair for every check and again
inline constexpr std::uint64_t kMostWork = 4096;          // work requests of a queue
inline constexpr std::uint64_t kMostCompletions = 64;     // of an answer
inline constexpr std::uint64_t kLongestWait = 10'000;     // ms: so long a request may keep the agent waiting
inline constexpr std::uint64_t kMostPrivate = 224;        // bytes: what the roomiest message of CM has
inline constexpr std::uint64_t kMostText = 1024;          // bytes of a text
inline constexpr std::uint64_t kNonceBytes = 32;          // drawn by each side for every connection
inline constexpr std::uint64_t kProofBytes = 32;          // of SHA-256

enum class Need : std::uint8_t { required, optional, repeated };

// A key of a request or an answer, and the bounds of its number (of `words`: of its bits; of bytes and text: of its
// length).
struct Use {
    Key key;
    Need need = Need::required;
    std::uint64_t most = ~std::uint64_t{0};
    std::uint64_t least = 0;
};

enum class Verb : std::uint8_t {
    hello,
    ping,
    reset,
    quit,
    pd,
    pd_free,
    cq,
    cq_free,
    mr,
    mr_free,
    mw,
    mw_free,
    bind,
    set,
    fill,
    read,
    hash,
    compare,
    srq,
    srq_limit,
    srq_free,
    xrcd,
    xrcd_free,
    qp,
    connect,
    qp_set,
    qp_state,
    qp_free,
    recv,
    post,
    poll,
    attach,
    detach,
    event,
    counters,
    kernel_log,
    listen,
    cm_connect,
    accept,
    reject,
    disconnect,
    cm_event,
    cm_free,
    challenge,
    prove,
};
inline constexpr std::size_t kVerbCount = static_cast<std::size_t>(Verb::prove) + 1;

namespace uses {

using enum Need;
inline constexpr std::uint64_t k24 = 0xff'ffff;
inline constexpr std::uint64_t k32 = 0xffff'ffff;
inline constexpr std::uint64_t kEnd = kMostLength;

inline constexpr Use kQp{Key::qp}, kMr{Key::mr}, kCm{Key::cm};
inline constexpr Use kOff{Key::off, optional, kEnd}, kLen{Key::len, required, kEnd};
inline constexpr Use kWait{Key::wait, optional, kLongestWait};

inline constexpr std::array kHelloAnswer{Use{Key::protocol},
                                         Use{Key::agent, required, kMostText},
                                         Use{Key::kernel, optional, kMostText},
                                         Use{Key::device, required, kMostText},
                                         Use{Key::driver, optional, kMostText},
                                         Use{Key::firmware, optional, kMostText},
                                         Use{Key::netdev, optional, kMostText},
                                         Use{Key::mac, optional, kMostText},
                                         Use{Key::port, required, 255, 1},
                                         Use{Key::guid, optional},
                                         Use{Key::port_state, required, kMostText},
                                         Use{Key::mtu},
                                         Use{Key::gid, repeated, kMostText},
                                         Use{Key::pkey, repeated, 0xffff},
                                         Use{Key::features},
                                         Use{Key::max_rd_atomic, required, k32},
                                         Use{Key::max_init_rd_atomic, required, k32},
                                         Use{Key::max_work, required, k32},
                                         Use{Key::max_sge, required, k32}};
inline constexpr std::array kPdAnswer{Use{Key::pd}};
inline constexpr std::array kPdFree{Use{Key::pd, required, ~0ULL, 1}};
inline constexpr std::array kCq{Use{Key::depth, required, std::uint64_t{1} << 17, 1}};
inline constexpr std::array kCqAnswer{Use{Key::cq}};

inline constexpr std::array kMrMake{kLen, Use{Key::access, optional}, Use{Key::pd, optional}, Use{Key::of, optional},
                                    kOff};
inline constexpr std::array kMrAnswer{Use{Key::mr}, Use{Key::va}, Use{Key::rkey, required, k32},
                                      Use{Key::lkey, required, k32}};
inline constexpr std::array kMrFree{kMr};
inline constexpr std::array kMw{Use{Key::mw_type, optional, 2, 1}, Use{Key::pd, optional}};
inline constexpr std::array kMwAnswer{Use{Key::mw}, Use{Key::rkey, required, k32}};
inline constexpr std::array kMwFree{Use{Key::mw}};
inline constexpr std::array kBind{
    kQp, Use{Key::mw}, kMr, kOff, kLen, Use{Key::access, optional}, Use{Key::wr, optional}, Use{Key::flags, optional}};
inline constexpr std::array kBindAnswer{Use{Key::rkey, required, k32}};
inline constexpr std::array kSet{kMr, kOff, Use{Key::data, required, kMostShown}};
inline constexpr std::array kPattern{kMr, kOff, kLen, Use{Key::seed, optional}, Use{Key::from, optional}};
inline constexpr std::array kRead{kMr, kOff, Use{Key::len, required, kMostShown}};
inline constexpr std::array kReadAnswer{Use{Key::data, required, kMostShown}};
inline constexpr std::array kHash{kMr, kOff, kLen};
inline constexpr std::array kHashAnswer{Use{Key::hash}};
inline constexpr std::array kCompareAnswer{Use{Key::wrong, required, kEnd}, Use{Key::first, optional, kEnd}};

inline constexpr std::array kSrq{Use{Key::receives, required, kMostWork, 1}, Use{Key::pd, optional},
                                 Use{Key::xrcd, optional}, Use{Key::cq, optional}};
inline constexpr std::array kSrqAnswer{Use{Key::srq}, Use{Key::srqn, optional, k24}};
inline constexpr std::array kSrqLimit{Use{Key::srq}, Use{Key::limit, required, kMostWork}};
inline constexpr std::array kSrqFree{Use{Key::srq}};
inline constexpr std::array kXrcd{Use{Key::xrcd}};

inline constexpr std::array kQpMake{Use{Key::kind, optional},
                                    Use{Key::pd, optional},
                                    Use{Key::cq, optional},
                                    Use{Key::srq, optional},
                                    Use{Key::xrcd, optional},
                                    Use{Key::sends, optional, kMostWork, 1},
                                    Use{Key::receives, optional, kMostWork},
                                    Use{Key::inline_room, optional, kMostShown}};
inline constexpr std::array kQpAnswer{kQp, Use{Key::qpn, required, k24}, Use{Key::cq, optional}};
// Of connect and qp_set. connect: to `state` (rts), on the way there with what is not said as the defaults of
// kConnectDefaults.
inline constexpr std::array kAttributes{kQp,
                                        Use{Key::state, optional},
                                        Use{Key::to, optional, 64},
                                        Use{Key::qpn, optional, k24},
                                        Use{Key::rq_psn, optional, k24},
                                        Use{Key::sq_psn, optional, k24},
                                        Use{Key::mtu, optional},
                                        Use{Key::timeout, optional, 31},
                                        Use{Key::retry, optional, 7},
                                        Use{Key::rnr_retry, optional, 7},
                                        Use{Key::min_rnr, optional, 31},
                                        Use{Key::rd_atomic, optional, 255},
                                        Use{Key::dest_rd_atomic, optional, 255},
                                        Use{Key::access, optional},
                                        Use{Key::qkey, optional, k32},
                                        Use{Key::pkey_index, optional, 0xffff},
                                        Use{Key::gid_index, optional, 255},
                                        Use{Key::hops, optional, 255},
                                        Use{Key::traffic_class, optional, 255},
                                        Use{Key::flow, optional, 0xfffff},
                                        Use{Key::sl, optional, 15}};
inline constexpr std::array kQpOnly{kQp};
inline constexpr std::array kStateAnswer{Use{Key::state},
                                         Use{Key::sq_drained, optional, 1},
                                         Use{Key::qpn, optional, k24},
                                         Use{Key::rq_psn, optional, k24},
                                         Use{Key::sq_psn, optional, k24},
                                         Use{Key::mtu, optional},
                                         Use{Key::timeout, optional, 31},
                                         Use{Key::retry, optional, 7},
                                         Use{Key::rnr_retry, optional, 7},
                                         Use{Key::min_rnr, optional, 31},
                                         Use{Key::rd_atomic, optional, 255},
                                         Use{Key::dest_rd_atomic, optional, 255},
                                         Use{Key::access, optional},
                                         Use{Key::qkey, optional, k32}};

inline constexpr Use kCount{Key::count, optional, kMostWork, 1}, kStep{Key::step, optional, kEnd};
inline constexpr std::array kRecv{Use{Key::qp, optional},
                                  Use{Key::srq, optional},
                                  Use{Key::mr, optional},
                                  kOff,
                                  Use{Key::len, optional, kEnd},
                                  kCount,
                                  kStep,
                                  Use{Key::wr, optional}};
inline constexpr std::array kPost{kQp,
                                  Use{Key::op},
                                  Use{Key::mr, optional},
                                  kOff,
                                  Use{Key::len, optional, kEnd},
                                  Use{Key::va, optional},
                                  Use{Key::rkey, optional, k32},
                                  Use{Key::imm, optional, k32},
                                  Use{Key::compare, optional},
                                  Use{Key::swap, optional},
                                  Use{Key::add, optional},
                                  Use{Key::flags, optional},
                                  kCount,
                                  kStep,
                                  Use{Key::wr, optional},
                                  Use{Key::to, optional, 64},
                                  Use{Key::qpn, optional, k24},
                                  Use{Key::qkey, optional, k32},
                                  Use{Key::srqn, optional, k24}};
inline constexpr std::array kPoll{Use{Key::qp, optional}, Use{Key::cq, optional},
                                  Use{Key::max, optional, kMostCompletions, 1},
                                  Use{Key::least, optional, kMostCompletions}, kWait};
inline constexpr std::array kPollAnswer{Use{Key::wc, repeated, kMostText}};
inline constexpr std::array kAttach{kQp, Use{Key::group, required, 64}};

inline constexpr std::array kEvent{kWait};
inline constexpr std::array kEventAnswer{Use{Key::event}, Use{Key::qp, optional}, Use{Key::srq, optional},
                                         Use{Key::cq, optional}};
inline constexpr std::array kCountersAnswer{Use{Key::counter, repeated, kMostText}};
inline constexpr std::array kLogAnswer{Use{Key::line, repeated, kMostText}, Use{Key::more, optional}};

inline constexpr Use kData{Key::data, optional, kMostPrivate}, kResources{Key::responder_resources, optional, 255},
    kInitiator{Key::initiator_depth, optional, 255}, kFlow{Key::flow_control, optional, 1},
    kRetry{Key::retry, optional, 7}, kRnrRetry{Key::rnr_retry, optional, 7}, kMinRnr{Key::min_rnr, optional, 31},
    kAccess{Key::access, optional};
inline constexpr std::array kListen{Use{Key::port, required, 0xffff}, Use{Key::space, optional},
                                    Use{Key::at, optional, 64}};
inline constexpr std::array kCmAnswer{kCm};
inline constexpr std::array kCmConnect{Use{Key::to, required, 64},
                                       Use{Key::port, required, 0xffff},
                                       kQp,
                                       Use{Key::space, optional},
                                       kData,
                                       kResources,
                                       kInitiator,
                                       kFlow,
                                       kRetry,
                                       kRnrRetry,
                                       kMinRnr,
                                       kAccess};
inline constexpr std::array kAccept{kCm, kQp, kData, kResources, kInitiator, kFlow, kRnrRetry, kMinRnr, kAccess};
inline constexpr std::array kReject{kCm, kData};
inline constexpr std::array kCmOnly{kCm};
inline constexpr std::array kCmEventAnswer{Use{Key::cm_event},
                                           Use{Key::cm, optional},
                                           Use{Key::listener, optional},
                                           Use{Key::status, optional, k32},
                                           kData,
                                           Use{Key::qpn, optional, k24},
                                           Use{Key::qkey, optional, k32},
                                           kResources,
                                           kInitiator,
                                           kFlow,
                                           kRetry,
                                           kRnrRetry,
                                           Use{Key::remote, optional, 64},
                                           Use{Key::port, optional, 0xffff}};

inline constexpr std::array kChallengeAnswer{Use{Key::nonce, required, kNonceBytes, kNonceBytes}};
inline constexpr std::array kProve{Use{Key::nonce, required, kNonceBytes, kNonceBytes},
                                   Use{Key::proof, required, kProofBytes, kProofBytes}};
inline constexpr std::array kProveAnswer{Use{Key::proof, required, kProofBytes, kProofBytes}};

}  // namespace uses

struct VerbRow {
    Verb verb;
    std::string_view name;
    std::span<const Use> asks;
    std::span<const Use> answers;
    std::string_view meaning;
};

inline constexpr std::array kVerbs{
    VerbRow{Verb::hello, "hello", {}, uses::kHelloAnswer, "who answers, for which device, and what that can do"},
    VerbRow{Verb::ping, "ping", {}, {}, "nothing; that it is answered says that the agent lives"},
    VerbRow{Verb::reset, "reset", {}, {}, "everything that was made is gone"},
    VerbRow{Verb::quit, "quit", {}, {}, "as reset; then the connection ends"},
    VerbRow{Verb::pd, "pd", {}, uses::kPdAnswer, "a protection domain besides 0"},
    VerbRow{Verb::pd_free, "pd_free", uses::kPdFree, {}, ""},
    VerbRow{Verb::cq, "cq", uses::kCq, uses::kCqAnswer, "a completion queue for several queue pairs"},
    VerbRow{Verb::cq_free, "cq_free", uses::kCqAnswer, {}, ""},
    VerbRow{Verb::mr, "mr", uses::kMrMake, uses::kMrAnswer,
            "memory of zeros, or a part of another region's, registered"},
    VerbRow{Verb::mr_free, "mr_free", uses::kMrFree, {}, "deregistered at once, even while it is in use"},
    VerbRow{Verb::mw, "mw", uses::kMw, uses::kMwAnswer, "a memory window, of type 2 where nothing is said"},
    VerbRow{Verb::mw_free, "mw_free", uses::kMwFree, {}, ""},
    VerbRow{Verb::bind, "bind", uses::kBind, uses::kBindAnswer,
            "posts a bind of a window, of length 0: an unbind; its key from then on"},
    VerbRow{Verb::set, "set", uses::kSet, {}, "memory becomes these bytes"},
    VerbRow{Verb::fill, "fill", uses::kPattern, {}, "memory becomes the pattern of a seed (0)"},
    VerbRow{Verb::read, "read", uses::kRead, uses::kReadAnswer, "what is in memory"},
    VerbRow{Verb::hash, "hash", uses::kHash, uses::kHashAnswer, "a hash of what is in memory"},
    VerbRow{Verb::compare, "compare", uses::kPattern, uses::kCompareAnswer,
            "how many bytes of memory are not the pattern's"},
    VerbRow{Verb::srq, "srq", uses::kSrq, uses::kSrqAnswer,
            "a shared receive queue; of XRC: of a domain, and with its completion queue"},
    VerbRow{Verb::srq_limit, "srq_limit", uses::kSrqLimit, {}, "arms its limit"},
    VerbRow{Verb::srq_free, "srq_free", uses::kSrqFree, {}, ""},
    VerbRow{Verb::xrcd, "xrcd", {}, uses::kXrcd, "a domain of XRC"},
    VerbRow{Verb::xrcd_free, "xrcd_free", uses::kXrcd, {}, ""},
    VerbRow{
        Verb::qp, "qp", uses::kQpMake, uses::kQpAnswer,
        "a queue pair (rc) in reset, with a completion queue of its own where none is named; xrc_recv: of a domain, and without one"},
    VerbRow{Verb::connect,
            "connect",
            uses::kAttributes,
            {},
            "the whole way from reset to rts, or to `state`, with defaults for what is not said"},
    VerbRow{Verb::qp_set, "qp_set", uses::kAttributes, {}, "one change with exactly these attributes"},
    VerbRow{Verb::qp_state, "qp_state", uses::kQpOnly, uses::kStateAnswer, "what the device says of it"},
    VerbRow{Verb::qp_free, "qp_free", uses::kQpOnly, {}, "destroyed, with the completion queue it came with"},
    VerbRow{Verb::recv, "recv", uses::kRecv, {}, "posts receives to a queue pair or a shared queue"},
    VerbRow{Verb::post, "post", uses::kPost, {}, "posts work; datagrams name to, qpn and qkey, xrc_send names srqn"},
    VerbRow{Verb::poll, "poll", uses::kPoll, uses::kPollAnswer,
            "completions, as soon as there are `least` (1), or when the time is over"},
    VerbRow{Verb::attach, "attach", uses::kAttach, {}, "to a multicast group"},
    VerbRow{Verb::detach, "detach", uses::kAttach, {}, ""},
    VerbRow{Verb::event, "event", uses::kEvent, uses::kEventAnswer, "the next asynchronous event, or none"},
    VerbRow{Verb::counters, "counters", {}, uses::kCountersAnswer, "every counter that the device has"},
    VerbRow{
        Verb::kernel_log, "kernel_log", {}, uses::kLogAnswer, "warnings and worse of the kernel since the last time"},
    VerbRow{Verb::listen, "listen", uses::kListen, uses::kCmAnswer, "for connections by rdma_cm"},
    VerbRow{Verb::cm_connect, "cm_connect", uses::kCmConnect, uses::kCmAnswer,
            "by rdma_cm; what comes of it is an event"},
    VerbRow{Verb::accept, "accept", uses::kAccept, {}, "what connect_request brought"},
    VerbRow{Verb::reject, "reject", uses::kReject, {}, "what connect_request brought"},
    VerbRow{Verb::disconnect, "disconnect", uses::kCmOnly, {}, "the queue pair goes to err, and the peer is notified"},
    VerbRow{Verb::cm_event, "cm_event", uses::kEvent, uses::kCmEventAnswer, "the next event of rdma_cm, or none"},
    VerbRow{
        Verb::cm_free, "cm_free", uses::kCmOnly, {}, "the id is destroyed; a listener stops, an attempt is given up"},
    VerbRow{Verb::challenge,
            "challenge",
            {},
            uses::kChallengeAnswer,
            "before everything else, where the agent has a secret"},
    VerbRow{Verb::prove, "prove", uses::kProve, uses::kProveAnswer,
            "that both know the secret; each answers the other's nonce"},
};

[[nodiscard]] constexpr const VerbRow& row_of(Verb verb) { return kVerbs[static_cast<std::size_t>(verb)]; }
[[nodiscard]] constexpr const VerbRow* find_verb(std::string_view name) {
    for (const VerbRow& row : kVerbs)
        if (row.name == name) return &row;
    return nullptr;
}
[[nodiscard]] constexpr const Use* find_use(std::span<const Use> uses, std::string_view name) {
    for (const Use& use : uses)
        if (row_of(use.key).name == name) return &use;
    return nullptr;
}
[[nodiscard]] constexpr const Use* find_use(std::span<const Use> uses, Key key) {
    for (const Use& use : uses)
        if (use.key == key) return &use;
    return nullptr;
}

// What `connect` takes for attributes that are not said, where the kind of queue pair has them: patient, as rdma_cm is.
struct AttributeDefault {
    Key key;
    std::uint64_t value;
};
inline constexpr std::array kConnectDefaults{
    AttributeDefault{Key::mtu, static_cast<std::uint64_t>(MtuWord::bytes_1024)},
    AttributeDefault{Key::rq_psn, 0},
    AttributeDefault{Key::sq_psn, 0},
    AttributeDefault{Key::timeout, 14},  // 67 ms
    AttributeDefault{Key::retry, 7},
    AttributeDefault{Key::rnr_retry, 7},
    AttributeDefault{Key::min_rnr, 12},  // 0.64 ms
    AttributeDefault{Key::rd_atomic, 4},
    AttributeDefault{Key::dest_rd_atomic, 4},
    AttributeDefault{Key::access, 0xf},  // local, write, read, atomic
    AttributeDefault{Key::qkey, 0x1111'1111},
    AttributeDefault{Key::pkey_index, 0},
    AttributeDefault{Key::hops, 64},
};

[[nodiscard]] constexpr bool sound() {
    for (std::size_t i = 0; i < kKeys.size(); ++i)
        if (static_cast<std::size_t>(kKeys[i].key) != i) return false;
    for (std::size_t i = 0; i < kVerbs.size(); ++i) {
        if (static_cast<std::size_t>(kVerbs[i].verb) != i) return false;
        for (const std::span<const Use> all : {kVerbs[i].asks, kVerbs[i].answers})
            for (const Use& use : all)
                if (find_use(all, row_of(use.key).name) != &use) return false;
    }
    return kVerbs.size() == kVerbCount;
}
static_assert(sound(), "tables stand in the order of their enumerations, and no verb has two keys of one name");

}  // namespace qps::transport::conformance::agent
