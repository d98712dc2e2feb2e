// Rows of completion statuses. Numbers: rdma-core libibverbs/verbs.h, equal in the kernel (ib_verbs.h). Syndromes:
// linux/mlx5/device.h. What EFA's codes become: rdma-core providers/efa.
#include <transport-replay/casework/completion_status.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace qps::casework {

namespace {

constexpr std::array kStatuses{
    CompletionStatus{1, "local length error", Weight::shown, Party::local_host,
                     "a work request of this host is longer than allowed, or its posted receive is shorter than the "
                     "message; the peer then has status 9",
                     "not the network: the message arrived", "compare the size of the posted receive with the message",
                     "this host and its peer", "the receive is smaller", "the two ends disagree about sizes",
                     "then look at the length of the failed work request"},
    CompletionStatus{2, "local QP operation error", Weight::shown, Party::local_host,
                     "the local queue pair or work request is malformed, or asks for more than the queue pair allows",
                     "not the network: nothing of it is on the wire",
                     "print the attributes of the queue pair and the work request (ibv_query_qp, gdb)", "this host",
                     "an attribute is out of range", "the program posts what its queue pair does not allow",
                     "then look at the versions of driver and firmware"},
    CompletionStatus{
        4, "local protection error", Weight::shown, Party::local_host,
        "the adapter was not allowed to use memory of its own host: L_Key, range, rights, or a refused "
        "DMA (IOMMU, ACS, peer memory of a GPU)",
        "not the network: the fault is local and comes before the wire",
        "dmesg | grep -iE 'DMAR|IO_PAGE_FAULT|AER|Xid'; lspci -vvv | grep ACSCtl; then the memory region and "
        "lkey of the failed request (gdb, backtrace)",
        "this host", "an IOMMU fault or ACS redirection", "DMA to that memory is refused by the platform",
        "the buffer does not lie inside one registered memory region: look at the registration"},
    CompletionStatus{5, "work request flushed", Weight::remark, Party::undecided,
                     "a consequence: the queue pair was in the error state already", "", "", "", "", "", ""},
    CompletionStatus{6, "memory window bind error", Weight::shown, Party::local_host,
                     "the binding of a memory window was refused by the local adapter",
                     "not the network: nothing of it is on the wire",
                     "check the rights of the memory region and window", "this host", "rights are missing",
                     "the program binds what it did not register so", "then look at driver and firmware"},
    CompletionStatus{
        7, "bad response", Weight::hint, Party::undecided, "a response had an opcode or a length that was not expected",
        "", "capture at this host: udp port 4791 and this queue pair number", "this host", "the response is malformed",
        "the responder is wrong", "the adapter of this host takes a good response for a bad one: ask its vendor"},
    CompletionStatus{8, "local access error", Weight::shown, Party::local_host,
                     "a request of the peer touched memory of this host without the right to; the peer has status 10",
                     "not the network: the request arrived", "compare address and R_Key with the registration",
                     "this host and its peer", "the range does not fit", "the two programs disagree about the region",
                     "the region was deregistered too early"},
    CompletionStatus{9, "remote invalid request error", Weight::shown, Party::remote_host,
                     "the peer refused the kind or the length of the request (receive too short, operation not "
                     "enabled, too many reads)",
                     "not the network: request and NAK both arrived",
                     "the size of the receives and the access flags of the queue pair (rdma resource show qp)",
                     "the peer", "its receive is shorter, or the operation is not enabled",
                     "the two programs disagree; change the one that is wrong",
                     "then compare max_dest_rd_atomic with the reads outstanding"},
    CompletionStatus{10, "remote access error", Weight::shown, Party::remote_host,
                     "the peer refused R_Key, address or permission; its memory region was never valid there, or no "
                     "longer (deregistered, or its process is exiting or gone)",
                     "not the network: request and NAK both arrived",
                     "the log of the peer at this time: did its process exit or deregister the memory (rkey)?",
                     "the peer", "the process was ending or the region was deregistered",
                     "expected at the end of a job, harmless if nothing was to be written any more",
                     "compare rkey, address and length of the request with the registration at the peer"},
    CompletionStatus{
        11, "remote operation error", Weight::shown, Party::remote_host,
        "the peer failed itself while it worked on the request; it has a local error on the same queue pair",
        "not the network: request and NAK both arrived",
        "dmesg and the log of the peer: a local protection error or IOMMU fault at this time", "the peer",
        "a local error", "its memory or bus is the place to look",
        "rdma resource show qp there: is the queue pair in the error state?"},
    CompletionStatus{12, "transport retry count exceeded", Weight::hint, Party::undecided,
                     "this host gave up: no answer to any retry. A dead peer process, a peer's queue pair in error, a "
                     "dead path, a lost port and a wrong address all look the same from here",
                     "", "logs of the peer from before the retry window, and rdma resource show qp there", "the peer",
                     "its process ended or its queue pair is in error", "the peer came first",
                     "the queue pair is alive: capture udp port 4791 at the peer's port; requests that arrive there "
                     "clear the way to it, requests that do not point at the path"},
    CompletionStatus{13, "RNR retry count exceeded", Weight::shown, Party::remote_host,
                     "the peer's adapter answered that no receive was posted, until all RNR retries were used up",
                     "not the network: requests and RNR NAKs both arrived",
                     "stack of the peer process (py-spy dump, gdb -p), and its out_of_buffer counter twice", "the peer",
                     "the process is stuck or busy", "it posts no receives: look at what holds it",
                     "it posts too few receives: deepen the receive queue or set rnr_retry to 7"},
    CompletionStatus{15, "remote invalid destination", Weight::hint, Party::undecided,
                     "the destination queue pair does not exist at the peer", "", "rdma resource show qp", "the peer",
                     "the queue pair is not there", "the peer closed it or restarted",
                     "compare the numbers of both ends"},
    CompletionStatus{16, "remote aborted error", Weight::shown, Party::remote_host, "the peer aborted the operation",
                     "", "the log of the peer", "the peer", "it aborted", "ask why there", "compare versions"},
    CompletionStatus{19, "fatal error", Weight::shown, Party::local_host, "the local adapter failed",
                     "not the network: the adapter itself failed", "dmesg, devlink health show", "this host",
                     "a health event", "the adapter needs its vendor", "look at the driver"},
    CompletionStatus{20, "response timeout", Weight::hint, Party::undecided,
                     "the peer did not answer: it may be dead or unreachable", "",
                     "logs of the peer and rdma resource show qp there", "the peer", "its process ended",
                     "the peer came first", "capture at its port"},
    CompletionStatus{21, "general error", Weight::hint, Party::undecided,
                     "an error for which the driver has no other name", "",
                     "dmesg of this host, and the version of driver and firmware (ethtool -i)", "this host",
                     "a driver message", "it says more", "ask the vendor what the vendor error means"},
};

struct Words {
    std::string_view words;  // lower case
    std::uint32_t number;
};
// The first that the text has; the longer ones come before what they contain.
constexpr std::array kWords{
    Words{"local length", 1},
    Words{"loc_len", 1},
    Words{"local qp operation", 2},
    Words{"loc_qp_op", 2},
    Words{"local eec", 3},
    Words{"local protection", 4},
    Words{"loc_prot", 4},
    Words{"flush", 5},
    Words{"memory window bind", 6},
    Words{"memory management op", 6},
    Words{"memory bind", 6},
    Words{"mw_bind", 6},
    Words{"bad response", 7},
    Words{"bad_resp", 7},
    Words{"local access", 8},
    Words{"loc_access", 8},
    Words{"remote invalid req", 9},
    Words{"rem_inv_req", 9},
    Words{"invalid request", 9},
    Words{"remote access", 10},
    Words{"rem_access", 10},
    Words{"remote operation", 11},
    Words{"rem_op", 11},
    Words{"rnr retry", 13},
    Words{"rnr_retry", 13},
    Words{"receive-no-ready", 13},
    Words{"rnr_nak_retry", 13},
    Words{"transport_retry", 12},
    Words{"transport retry", 12},
    Words{"retry_exc", 12},
    Words{"retry exc", 12},
    Words{"retry counter exceeded", 12},
    Words{"retries exceeded", 12},
    Words{"remote side aborted", 16},
    Words{"remote aborted", 16},
    Words{"rem_abort", 16},
    Words{"fatal error", 19},
    Words{"fatal_err", 19},
    Words{"response timeout", 20},
    Words{"resp_timeout", 20},
    Words{"general error", 21},
    Words{"general_err", 21},
};

struct Pair {
    std::uint32_t from;
    std::uint32_t to;
};
constexpr std::array kSyndromes{Pair{0x01, 1},  Pair{0x02, 2},  Pair{0x04, 4}, Pair{0x05, 5},  Pair{0x06, 6},
                                Pair{0x10, 7},  Pair{0x11, 8},  Pair{0x12, 9}, Pair{0x13, 10}, Pair{0x14, 11},
                                Pair{0x15, 12}, Pair{0x16, 13}, Pair{0x22, 16}};
// clang-format off
constexpr std::array kEfa{
    VendorCode{1, 1, 5, "flushed"},
    VendorCode{2, 2, 21, "internal error of the queue pair"},
    VendorCode{3, 3, 2, "unsupported operation"},
    VendorCode{4, 4, 2, "invalid address handle"},
    VendorCode{5, 5, 4, "invalid local key"},
    VendorCode{6, 6, 1, "bad local length"},
    VendorCode{7, 7, 10, "bad address at the receiver"},
    VendorCode{8, 8, 16, "aborted by the receiver"},
    VendorCode{9, 9, 15, "no such queue pair at the receiver"},
    VendorCode{10, 10, 13, "receiver not ready"},
    VendorCode{11, 11, 9, "bad length at the receiver"},
    VendorCode{12, 12, 7, "bad status in the response"},
    VendorCode{13, 13, 20, "the receiver answered before, and does no more"},
    VendorCode{14, 14, 11, "the receiver does not know this sender"},
    VendorCode{15, 15, 20, "the receiver never answered"},
    VendorCode{18, 18, 9, "features of both ends differ"},
};
constexpr std::array kIonic{
    VendorCode{1, 1, 1, "local length"},
    VendorCode{2, 2, 2, "local queue pair operation"},
    VendorCode{3, 3, 4, "local protection"},
    VendorCode{4, 4, 5, "flushed"},
    VendorCode{5, 5, 6, "memory management operation"},
    VendorCode{6, 6, 7, "bad response"},
    VendorCode{7, 7, 8, "local access"},
    VendorCode{8, 8, 9, "remote invalid request"},
    VendorCode{9, 9, 10, "remote access"},
    VendorCode{10, 10, 11, "remote operation"},
    VendorCode{11, 11, 12, "retries exceeded"},
    VendorCode{12, 12, 13, "RNR retries exceeded"},
};
constexpr std::array kIrdma{
    VendorCode{0x0102, 0x010a, 0, "key, bounds or rights of memory"},
    VendorCode{0x0207, 0x0207, 0, "too many inbound reads or atomics"},
    VendorCode{0x0208, 0x0208, 0, "invalid request"},
    VendorCode{0x020d, 0x020d, 0, "remote access error"},
    VendorCode{0x020e, 0x020e, 0, "remote operation error"},
    VendorCode{0x0316, 0x0316, 0, "length of a response"},
    VendorCode{0x0401, 0x0401, 0, "ARP or address handle entry invalid or stale"},
    VendorCode{0x0403, 0x0403, 0, "ARP or address handle entry invalid or stale"},
    VendorCode{0x0406, 0x0406, 0, "ARP or address handle entry invalid or stale"},
    VendorCode{0x0502, 0x0502, 0, "reset received"},
    VendorCode{0x0503, 0x0503, 0, "FIN received"},
    VendorCode{0x0505, 0x0505, 0, "CRC error"},
    VendorCode{0x0509, 0x0509, 0, "terminate received"},
    VendorCode{0x050a, 0x050a, 12, "too many retries"},
    VendorCode{0x050b, 0x050b, 0, "keep-alive expired"},
    VendorCode{0x050c, 0x050c, 0, "peer doubtful"},
    VendorCode{0x050f, 0x050f, 13, "too many RNR NAKs"},
    VendorCode{0x0520, 0x0520, 0, "out of resources"},
    VendorCode{0x0602, 0x0602, 0, "terminate sent"},
    VendorCode{0x0700, 0x0702, 0, "catastrophic error"},
};
// clang-format on
// By the place of these words in the kernel's table of statuses, which is the syndrome.
constexpr std::array kKernelEvents{
    Words{"operation aborted", 7}, Words{"invalid ee context number", 8}, Words{"invalid ee context state", 9},
    Words{"fatal error", 10},      Words{"response timeout error", 11},   Words{"general error", 12},
};

std::string lower_case(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

std::optional<std::uint32_t> found_in(std::span<const Pair> pairs, std::uint32_t from) {
    const auto found = std::ranges::find(pairs, from, &Pair::from);
    return found == pairs.end() ? std::nullopt : std::optional(found->to);
}

const VendorCode* row_of(std::span<const VendorCode> rows, std::uint32_t code) {
    const auto found =
        std::ranges::find_if(rows, [&](const VendorCode& row) { return row.first <= code && code <= row.last; });
    return found == rows.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> found_in(std::span<const Words> rows, std::string_view text) {
    const std::string lower = lower_case(text);
    for (const Words& row : rows)
        if (lower.contains(row.words)) return row.number;
    return std::nullopt;
}

}  // namespace

const CompletionStatus* completion_status(std::uint32_t number) {
    const auto found = std::ranges::find(kStatuses, number, &CompletionStatus::number);
    return found == kStatuses.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> status_of_words(std::string_view words) { return found_in(kWords, words); }

std::optional<std::uint32_t> status_of_syndrome(std::uint32_t syndrome) { return found_in(kSyndromes, syndrome); }

std::optional<std::uint32_t> status_of_kernel_event(std::string_view words) {
    if (const auto mapped = found_in(kKernelEvents, words)) return mapped;
    return status_of_words(words);
}

const VendorCode* efa_status(std::uint32_t code) { return row_of(kEfa, code); }

const VendorCode* irdma_event(std::uint32_t code) { return row_of(kIrdma, code); }
const VendorCode* ionic_status(std::uint32_t code) { return row_of(kIonic, code); }

}  // namespace qps::casework
