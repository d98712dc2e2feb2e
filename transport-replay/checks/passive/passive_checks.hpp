// THE table of the checks that a capture alone can decide: what each counts, how its failures read, what makes them doubtful.
//
// A check whose proof is that something did not come (`needs_whole`) proves nothing where the capture lacks packets.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace qps::transport::conformance {

enum class Passive : std::uint8_t {
    trc_01,
    trc_02,
    trc_03,
    fmt_01,
    fmt_02,
    fmt_06,
    fmt_08,
    fmt_09,
    fmt_10,
    fmt_16,
    fmt_17,
    fmt_19,
    fmt_20,
    fmt_21,
    fmt_22,
    fmt_26,
    rsp_02,
    rsp_20,
    rsp_21,
    rsp_47,
    rsp_50,
    req_01,
    req_02,
    req_03,
    req_04,
    req_05,
    req_13,
    req_21,
    req_29,
    req_30,
    req_35,
    cm_01,
    cm_02,
    cm_03,
    cm_19,
    cm_24,
    cm_25,
    cm_26,
    cm_27,
    cnp_01,
    cnp_03,
    cnp_08,
    cnp_09,
    cnp_10,
    err_02,
    err_07,
};

struct PassiveRow {
    std::string_view id;
    std::string_view noun;   // what it counts, in the plural
    std::string_view wrong;  // "3 of 100 packets <wrong>"
    std::string_view doubt;  // "3 of 100 packets <doubt>": what cannot be decided
    bool needs_whole = false;
};

inline constexpr bool kNeedsWhole = true;
// clang-format off
inline constexpr std::array kPassiveRows{
    PassiveRow{"TRC-01", "packets", "show that the capture is not whole", "leave open whether the capture is whole"},
    PassiveRow{"TRC-02", "packets", "are truncated", "are truncated: their ICRC and payload cannot be checked"},
    PassiveRow{"TRC-03", "connections", "are older than the capture", "are older than the capture: their PSNs and MSNs are learned from the first packets"},
    PassiveRow{"FMT-01", "packets", "have a wrong ICRC, as all of that kind from their sender", "have a wrong ICRC, although others of that kind from their sender do not: corrupted on the way, or wrong now and then"},
    PassiveRow{"FMT-02", "padded packets", "have a pad count that does not fill the last word, or a pad that is not 0", ""},
    PassiveRow{"FMT-06", "packets", "have Resv6, Resv7 or TVer other than 0", ""},
    PassiveRow{"FMT-08", "RC packets", "have MigReq 0", "have MigReq 0 while alternate paths are loaded"},
    PassiveRow{"FMT-09", "unreliable packets", "have AckReq set", ""},
    PassiveRow{"FMT-10", "packets with SE", "are not the last of a SEND or of a WRITE with immediate", ""},
    PassiveRow{"FMT-16", "RoCEv2 packets", "have a UDP source port below 0xC000, or another than their queue pair had", ""},
    PassiveRow{"FMT-17", "IPv4 packets", "have options, fragments, no DF, or a UDP length that is not the rest of the IP length", ""},
    PassiveRow{"FMT-19", "RoCEv1 packets", "have a GRH that does not say what follows it", ""},
    PassiveRow{"FMT-20", "native packets", "have an LRH that does not fit the packet, or a wrong VCRC", ""},
    PassiveRow{"FMT-21", "RoCE packets", "have FECN or BECN set but are not CNPs", ""},
    PassiveRow{"FMT-22", "datagrams to queue pair 1", "have another source QP, Q_Key or length", ""},
    PassiveRow{"FMT-26", "packets", "are longer than the path MTU, or shorter where it must be full", ""},
    PassiveRow{"RSP-02", "acknowledgements", "go back, or acknowledge what was not sent", "acknowledge requests that the capture does not have"},
    PassiveRow{"RSP-20", "READs whose number is known", "do not count their READ in the MSN", "", kNeedsWhole},
    PassiveRow{"RSP-21", "READs and ATOMICs that were answered", "were overtaken by a later answer of the responder", "were overtaken by a later answer, perhaps on the network", kNeedsWhole},
    PassiveRow{"RSP-47", "acknowledgements on connections set up by CM", "grant unlimited credits, although their sender announced flow control and no shared receive queue", ""},
    PassiveRow{"RSP-50", "UC and UD packets", "are responses, or have one", ""},
    PassiveRow{"REQ-01", "request packets", "have the PSN of another request", "skip PSNs, and whether these were sent is undecided"},
    PassiveRow{"REQ-02", "request packets", "do not follow from the packet before", ""},
    PassiveRow{"REQ-03", "WRITEs", "have a DMA length that is not their payload, or another address or R_Key when retransmitted", ""},
    PassiveRow{"REQ-04", "requesters with a PSN from CM", "start with another PSN than CM announced", "lack their start", kNeedsWhole},
    PassiveRow{"REQ-05", "requesters with a depth from CM", "had more READs and ATOMICs outstanding than CM negotiated", "", kNeedsWhole},
    PassiveRow{"REQ-13", "READs requested again in part on connections set up by CM", "were requested again only after the ACK timeout, although later responses had arrived", "were requested again only after the ACK timeout; whether later responses had arrived is not visible"},
    PassiveRow{"REQ-21", "timeouts", "do not fit their retransmissions: the longest is more than four times the shortest", "do not fit others of that end, but some may answer NAKs that the capture lacks"},
    PassiveRow{"REQ-29", "retransmitted packets", "differ from their first transmission", ""},
    PassiveRow{"REQ-30", "requesters", "wait for answers that they did not request", "sent too little to judge whether they request answers", kNeedsWhole},
    PassiveRow{"REQ-35", "datagrams", "are part of a longer message, or longer than any path MTU", ""},
    PassiveRow{"CM-01", "CM datagrams", "have a wrong header, length, queue pair or Q_Key", ""},
    PassiveRow{"CM-02", "REQs", "have fields that contradict the packet or the specification", ""},
    PassiveRow{"CM-03", "REQs of rdma_cm", "have a header in the private data that contradicts the packet", ""},
    PassiveRow{"CM-19", "connections released by CM", "went on within TIMEWAIT", ""},
    PassiveRow{"CM-24", "timeouts on connections set up by CM", "do not fit the ACK timeout announced by CM", "do not fit the ACK timeout announced by CM, but may follow NAKs that the capture lacks"},
    PassiveRow{"CM-25", "recovery episodes on connections set up by CM", "took more retries than CM announced", ""},
    PassiveRow{"CM-26", "answers and retries", "have another transaction ID than what they answer or repeat", ""},
    PassiveRow{"CM-27", "CM datagrams with a length field", "have bytes behind that length", ""},
    PassiveRow{"CNP-01", "CNPs", "have fields that a CNP must not have", ""},
    PassiveRow{"CNP-03", "CNPs", "are more than the marks that the capture has", "are without marks in the capture: they may have been set behind the tap", kNeedsWhole},
    PassiveRow{"CNP-08", "data packets of senders that get CNPs", "are not ECN-capable, although their sender receives CNPs", ""},
    PassiveRow{"CNP-09", "CNPs", "come with a NAK and without a mark", "come with a NAK and without a mark, too few to judge", kNeedsWhole},
    PassiveRow{"CNP-10", "CNPs", "come late", ""},
    PassiveRow{"ERR-02", "failed connections", "went on", "were retransmitted by a requester that may not have received the NAK"},
    PassiveRow{"ERR-07", "answers with a known MSN", "have an MSN that does not count each message once", "", kNeedsWhole},
};
// clang-format on
static_assert(kPassiveRows.size() == static_cast<std::size_t>(Passive::err_07) + 1);
inline constexpr std::size_t kPassiveChecks = kPassiveRows.size();

[[nodiscard]] constexpr const PassiveRow& row(Passive check) { return kPassiveRows[std::to_underlying(check)]; }
[[nodiscard]] constexpr std::uint64_t bit(Passive check) { return std::uint64_t{1} << std::to_underlying(check); }
static_assert(kPassiveChecks <= 64);  // a packet's faults are bits of one word

}  // namespace qps::transport::conformance
