// Reads lines of logs: addresses, queue pair numbers, completion statuses.
#include <dissect/base/bytes.hpp>
#include <dissect/base/parse_value.hpp>
#include <dissect/mad/names.hpp>
#include <transport-replay/logs/log_line.hpp>
#include <transport-replay/report/cm.hpp>

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::transport {

using namespace dissect;

namespace {

struct Phrase {
    std::string_view words;  // lower case
    Complaint complaint;
};
// As libibverbs, UCX, libfabric and the kernel print statuses. The first that fits counts: "rnr retry" before "retry".
constexpr std::array kPhrases{
    Phrase{"rnr retry counter exceeded", Complaint::rnr_retries_exceeded},
    Phrase{"rnr_retry_exc", Complaint::rnr_retries_exceeded},
    Phrase{"receiver-not-ready retry count exceeded", Complaint::rnr_retries_exceeded},
    Phrase{"receive-no-ready retry count exceeded", Complaint::rnr_retries_exceeded},  // as UCX spells it
    Phrase{"receiver not ready\" retry count", Complaint::rnr_retries_exceeded},       // Open MPI
    Phrase{"rnr retry", Complaint::rnr_retries_exceeded},
    Phrase{"transport retry counter exceeded", Complaint::retries_exceeded},
    Phrase{"transport retry count exceeded", Complaint::retries_exceeded},
    Phrase{"retry_exc", Complaint::retries_exceeded},
    Phrase{"retry count exceeded", Complaint::retries_exceeded},
    Phrase{"retry exceeded", Complaint::retries_exceeded},
    Phrase{"retry count between two mpi processes has been exceeded", Complaint::retries_exceeded},
    Phrase{"remote access error", Complaint::remote_access},
    Phrase{"rem_access_err", Complaint::remote_access},
    Phrase{"remote invalid request", Complaint::remote_invalid_request},
    Phrase{"rem_inv_req_err", Complaint::remote_invalid_request},
    Phrase{"remote operation error", Complaint::remote_operation},
    Phrase{"remote operational error", Complaint::remote_operation},
    Phrase{"rem_op_err", Complaint::remote_operation},
    Phrase{"work request flushed", Complaint::flushed},
    Phrase{"wr_flush_err", Complaint::flushed},
    Phrase{"wr flushed", Complaint::flushed},
    Phrase{"flushed error", Complaint::flushed},
    Phrase{"local protection error", Complaint::local},
    Phrase{"loc_prot_err", Complaint::local},
    Phrase{"local length error", Complaint::local},
    Phrase{"loc_len_err", Complaint::local},
    Phrase{"local access violation", Complaint::local},
    Phrase{"local access error", Complaint::local},
    Phrase{"loc_access_err", Complaint::local},
    Phrase{"local qp operation error", Complaint::local},
    Phrase{"loc_qp_op_err", Complaint::local},
    Phrase{"mw_bind_err", Complaint::local},
    Phrase{"bad response error", Complaint::bad_response},
    Phrase{"bad_resp_err", Complaint::bad_response},
};
// Of lines that speak of an event: as libibverbs and the kernel print them.
constexpr std::array kEvents{
    Phrase{"invalid request local work queue error", Complaint::own_invalid_request},
    Phrase{"qp request error", Complaint::own_invalid_request},
    Phrase{"event_qp_req_err", Complaint::own_invalid_request},
    Phrase{"local access violation work queue error", Complaint::own_access},
    Phrase{"qp access error", Complaint::own_access},
    Phrase{"event_qp_access_err", Complaint::own_access},
    Phrase{"local work queue catastrophic error", Complaint::queue_pair_error},
    Phrase{"qp fatal error", Complaint::queue_pair_error},
    Phrase{"event_qp_fatal", Complaint::queue_pair_error},
    Phrase{"port error", Complaint::port},
    Phrase{"event_port_err", Complaint::port},
};
// Of lines about a REJ, up to its reason: event 8 of the RDMA CM by name or number, NVMe and iSER, SMB Direct, SRP,
// perftest; LNet and RPC over RDMA name the peer before.
constexpr std::array<std::string_view, 9> kRejected{"connect rejected", "connection rejected", "rdma_cm_event_rejected",
                                                    "rejected (8)",     "event=rejected",      " rej ",
                                                    "bl blka 8",        "o2ib rejected",       "cma_handler: rejected"};
constexpr std::string_view kConnectionTo = "connection to ";
constexpr std::string_view kPeerRejected = " rejected: ";
constexpr std::array<std::string_view, 5> kUnreachable{"rdma_cm_event_unreachable",
                                                       "rdma connection establishment failed (-110)", "unreachable (7)",
                                                       "event=unreachable", "bl blka 7"};

// What the kernel calls reasons that it has other words for than the specification (rdma_reject_msg()).
constexpr std::array kKernelReasons{
    ValueName{1, "no qp"},
    ValueName{2, "no eec"},
    ValueName{3, "no resources"},
    ValueName{6, "invalid comm id"},
    ValueName{10, "stale conn"},
    ValueName{12, "invalid gid"},
    ValueName{13, "invalid lid"},
    ValueName{24, "port cm redirect"},
    ValueName{25, "port redirect"},
    ValueName{26, "invalid mtu"},
    ValueName{27, "insufficient resp resources"},
    ValueName{28, "consumer defined"},
    ValueName{29, "invalid rnr retry"},
    ValueName{30, "duplicate local comm id"},
    ValueName{31, "invalid class version"},
};

// "QP 51 error: TEXT (0x..." of mlx5 in the kernel: it looks up the syndrome of the CQE in the names of another
// enumeration, so that a text means the syndrome of its place.
struct KernelText {
    std::string_view text;
    std::uint8_t syndrome;
};
constexpr std::array kKernelTexts{
    KernelText{"operation aborted", 0x10},
    KernelText{"invalid ee context number", 0x11},
    KernelText{"invalid ee context state", 0x12},
    KernelText{"fatal error", 0x13},
    KernelText{"response timeout error", 0x14},
    KernelText{"general error", 0x15},
    KernelText{"local length error", 0x01},
    KernelText{"local qp operation error", 0x02},
    KernelText{"local protection error", 0x04},
    KernelText{"memory bind operation error", 0x06},
    KernelText{"wr flushed", 0x05},
};

struct Status {
    std::uint64_t number;
    Complaint complaint;
};
// enum ibv_wc_status.
constexpr std::array kStatuses{
    Status{1, Complaint::local},
    Status{2, Complaint::local},
    Status{4, Complaint::local},
    Status{5, Complaint::flushed},
    Status{6, Complaint::local},
    Status{7, Complaint::bad_response},
    Status{8, Complaint::local},
    Status{9, Complaint::remote_invalid_request},
    Status{10, Complaint::remote_access},
    Status{11, Complaint::remote_operation},
    Status{12, Complaint::retries_exceeded},
    Status{13, Complaint::rnr_retries_exceeded},
    Status{16, Complaint::other},
    Status{19, Complaint::local},
    Status{21, Complaint::other},
};
// "abnormal ae_id = 0x50a" of irdma.
constexpr std::array kIrdmaEvents{
    Status{0x0208, Complaint::own_invalid_request},  Status{0x020d, Complaint::remote_access},
    Status{0x020e, Complaint::remote_operation},     Status{0x050a, Complaint::retries_exceeded},
    Status{0x050f, Complaint::rnr_retries_exceeded},
};
// The vendor syndrome that decides without a status.
constexpr std::uint64_t kVendorTimeout = 0x81;

template <class T> void add_once(std::vector<T>& values, const T& value) {
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "0x1a2", "418"; nothing where more letters follow.
std::optional<std::uint64_t> number_at(std::string_view text) {
    return parse_number(
        text.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_word) - text.begin())));
}

Address from_bytes(Bytes bytes) { return {{read_bits(bytes, 0, 64), read_bits(bytes, 64, 64)}, AddressSpace::none}; }

std::optional<Address> ipv4(std::string_view text) {
    const auto ip = parse_ip(text);
    if (!ip || !ip->ipv4) return std::nullopt;
    constexpr std::uint64_t kMappedV4 = 0xffff;
    return Address{{0, kMappedV4 << 32 | read_be<std::uint32_t>(ip->bytes, 0)}, AddressSpace::none};
}

std::optional<Address> ipv6(std::string_view text) {
    if (text.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;  // "::" is no address of a log
    const auto ip = parse_ip(text);
    return ip && !ip->ipv4 ? std::optional(from_bytes(ip->bytes)) : std::nullopt;
}

// A GID as perftest prints it: sixteen decimal numbers.
std::optional<Address> decimal_gid(std::string_view text) {
    std::array<std::byte, 16> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::string_view number = text.substr(0, text.find(':'));
        const auto value = parse_decimal(number, 255);
        if (!value || number.size() < 2) return std::nullopt;
        bytes[i] = static_cast<std::byte>(*value);
        text.remove_prefix(std::min(number.size() + 1, text.size()));
    }
    if (!text.empty()) return std::nullopt;
    return from_bytes(bytes);
}

// NCCL prints "remoteGids" and the GID without a space.
void drop_name_of_gid(std::string& token) {
    constexpr std::array<std::string_view, 4> kNames{"remotegids", "remotegid", "localgids", "localgid"};
    for (const std::string_view name : kNames) {
        const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
        if (token.size() <= name.size() || !std::ranges::equal(token.substr(0, name.size()), name, same)) continue;
        token.erase(0, name.size());
        return;
    }
}

// An address, alone or with a port behind it.
std::optional<Address> address(std::string token) {
    drop_name_of_gid(token);
    token.resize(std::min(token.find('%'), token.size()));  // the zone of a link-local address
    while (!token.empty() && (token.back() == '.' || token.back() == ':')) token.pop_back();
    if (const auto found = ipv4(token)) return found;
    if (const auto found = ipv6(token)) return found;
    if (const auto found = decimal_gid(token)) return found;
    return ipv4(token.substr(0, token.find(':')));
}

void read_addresses(std::string_view line, LogLine& result) {
    constexpr std::string_view kBetween = " \t\r\n,;()[]<>{}\"'=|/@#";
    while (!line.empty()) {
        const std::size_t length = std::min(line.find_first_of(kBetween), line.size());
        if (length > 2)
            if (const auto found = address(std::string(line.substr(0, length)))) add_once(result.addresses, *found);
        line.remove_prefix(std::min(length + 1, line.size()));
    }
}

bool means_qp(std::string_view word) {
    constexpr std::array<std::string_view, 8> kEnds{"qp",        "qpn",   "qp_num", "qpnum",
                                                    "qp_number", "qp_no", "qp_id",  "qpid"};
    return std::ranges::any_of(kEnds, [&](std::string_view end) { return word.ends_with(end); });
}
bool means_lid(std::string_view word) { return word == "lid" || word == "dlid" || word == "slid"; }

// What may stand between a name and its number: "qp_num = 0x12", "QP #12", "RC QP (0x12)".
std::string_view after_name(std::string_view rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t:=#(\"'["), rest.size()));
    return rest;
}

std::optional<Complaint> find(std::span<const Status> table, std::uint64_t number) {
    for (const Status& row : table)
        if (row.number == number) return row.complaint;
    return std::nullopt;
}

// In decimal (NCCL: 81 is 0x51) or with "0x"; iSER of the kernel prints hexadecimal digits alone.
std::optional<std::uint64_t> vendor_value(std::string_view line, std::string_view rest) {
    const auto value = number_at(rest);
    if (!value || rest.starts_with("0x") || line.find("iser") == std::string_view::npos) return value;
    return number_at(fmt::format("0x{}", *value));
}

struct Numbers {
    std::optional<Complaint> complaint;  // by the first status or syndrome
    std::optional<std::uint64_t> vendor_syndrome;
};

// What the number behind a word says; `before`: the word before.
void read_number(std::string_view line, std::string_view before, std::string_view word, std::string_view rest,
                 std::uint64_t value, LogLine& result, Numbers& numbers) {
    constexpr std::uint64_t kLargestQpn = 0xffffff;
    const auto say = [&](std::optional<Complaint> complaint) {
        if (!numbers.complaint) numbers.complaint = complaint;
    };
    if (means_qp(word) || (before == "qp" && (word == "number" || word == "num" || word == "no"))) {
        if (value <= kLargestQpn && value > 1) add_once(result.qpns, Qpn{static_cast<std::uint32_t>(value)});
    } else if (means_lid(word)) {
        if (value != 0)  // what RoCE, which has none, is printed with
            add_once(result.addresses, Address{{0, value & 0xffff}, AddressSpace::infiniband_lid});
    } else if (word.ends_with("status") || word == "wc") {
        if (line.find("cxgb4") == std::string_view::npos) say(find(kStatuses, value));  // whose numbers are its own
    } else if (word == "error" && before == "with" && line.find("got completion") != std::string_view::npos) {
        say(find(kStatuses, value));  // NCCL up to 2.19, MVAPICH
    } else if (word == "synd" || word == "syndrome") {
        if (before == "vendor") numbers.vendor_syndrome = value;
        else say(complaint_of_syndrome(value));
    } else if (word == "ae_id") {
        say(find(kIrdmaEvents, value));
    } else if ((before.starts_with("vend") && (word.starts_with("err") || word == "code")) || word == "vend" ||
               word == "vendor_err" || word == "vend_err" ||
               word == "syndrom") {  // perftest's "syndrom" is the vendor's
        numbers.vendor_syndrome = vendor_value(line, rest);
    }
}

// Names and the numbers behind them. `line` is in lower case.
Numbers read_numbers(std::string_view line, LogLine& result) {
    Numbers numbers;
    std::string_view before;
    for (std::size_t at = 0; at < line.size();) {
        if (!is_word(line[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < line.size() && is_word(line[end])) ++end;
        const std::string_view word = line.substr(at, end - at);
        at = end;
        const std::string_view rest = after_name(line.substr(end));
        if (const auto value = number_at(rest)) read_number(line, before, word, rest, *value, result, numbers);
        before = word;
    }
    return numbers;
}

std::optional<Complaint> phrase_in(std::string_view line, std::span<const Phrase> phrases) {
    const auto found = std::ranges::find_if(
        phrases, [&](const Phrase& row) { return line.find(row.words) != std::string_view::npos; });
    return found == phrases.end() ? std::nullopt : std::optional(found->complaint);
}

// Where the first of `words` ends.
std::optional<std::size_t> behind_any(std::string_view line, std::span<const std::string_view> words) {
    for (const std::string_view each : words)
        if (const std::size_t at = line.find(each); at != std::string_view::npos) return at + each.size();
    return std::nullopt;
}

std::string lower_case(std::string_view line) {
    std::string lower(line);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

// The reason of a REJ behind "rejected": "status 10 (stale connection)", "(status = 10)", "error 28", or its words
// alone.
std::optional<std::uint16_t> reject_reason_in(std::string_view rest) {
    constexpr std::array<std::string_view, 3> kNames{"status", "error", "reason"};
    constexpr std::uint64_t kMost = 0xffff;
    for (const std::string_view name : kNames) {
        const std::size_t at = rest.find(name);
        if (at == std::string_view::npos) continue;
        const auto value = number_at(after_name(rest.substr(at + name.size())));
        if (value && *value != 0 && *value <= kMost) return static_cast<std::uint16_t>(*value);
    }
    for (const std::span<const ValueName> reasons :
         {std::span<const ValueName>(kCmRejectReasons), std::span<const ValueName>(kKernelReasons)})
        for (const ValueName& reason : reasons)
            if (rest.find(lower_case(reason.name)) != std::string_view::npos)
                return static_cast<std::uint16_t>(reason.value);
    return std::nullopt;
}

// Where the reason of a rejected connection may begin.
std::optional<std::size_t> behind_rejected(std::string_view line) {
    if (const auto behind = behind_any(line, kRejected)) return behind;
    const std::size_t to = line.find(kConnectionTo);
    const std::size_t at = to == std::string_view::npos ? to : line.find(kPeerRejected, to);
    return at == std::string_view::npos ? std::nullopt : std::optional(at + kPeerRejected.size());
}

// "QP 51 error: fatal error (0x88 0x0 0x0)": complaint and vendor syndrome.
std::optional<Numbers> kernel_queue_pair_error(std::string_view line) {
    constexpr std::string_view kError = " error: ";
    const std::size_t at = line.find(kError);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view before = line.substr(0, at);
    const std::size_t digits = before.find_last_not_of("0123456789") + 1;
    if (digits == before.size() || !before.substr(0, digits).ends_with("qp ")) return std::nullopt;
    const std::string_view rest = line.substr(at + kError.size());
    const std::size_t end = rest.find(" (0x");
    if (end == std::string_view::npos) return std::nullopt;
    const auto found = std::ranges::find(kKernelTexts, rest.substr(0, end), &KernelText::text);
    const auto known = found == kKernelTexts.end() ? std::nullopt : complaint_of_syndrome(found->syndrome);
    return Numbers{known.value_or(Complaint::queue_pair_error), number_at(rest.substr(end + 2))};
}

std::optional<Complaint> connection_manager_in(std::string_view line, LogLine& result) {
    if (const auto behind = behind_rejected(line)) {
        result.reject_reason = reject_reason_in(line.substr(*behind));
        return Complaint::rejected;
    }
    return behind_any(line, kUnreachable) ? std::optional(Complaint::unreachable) : std::nullopt;
}

// What the line complains of: the connection manager's statuses and those of events are numbers of their own.
std::optional<Complaint> complaint_of(std::string_view line, const Numbers& numbers, LogLine& result) {
    if (const auto found = connection_manager_in(line, result)) return found;
    if (line.find("event") != std::string_view::npos)
        if (const auto found = phrase_in(line, kEvents)) return found;
    if (const auto found = phrase_in(line, kPhrases)) return found;
    if (numbers.complaint) return numbers.complaint;
    if (result.cqe) return complaint_of_syndrome(result.cqe->syndrome);
    return numbers.vendor_syndrome == kVendorTimeout ? std::optional(Complaint::retries_exceeded) : std::nullopt;
}

}  // namespace

LogLine read_log_line(std::string_view line) {
    LogLine result;
    const std::string lower = lower_case(line);
    read_addresses(line, result);
    Numbers numbers = read_numbers(lower, result);
    result.cqe = read_error_cqe(lower);
    if (result.cqe) {
        add_once(result.qpns, result.cqe->qpn);
        numbers.vendor_syndrome = result.cqe->vendor_syndrome;
    }
    if (const auto kernel = kernel_queue_pair_error(lower)) {
        result.complaint = kernel->complaint;
        numbers.vendor_syndrome = kernel->vendor_syndrome;
    } else {
        result.complaint = complaint_of(lower, numbers, result);
    }
    if (result.complaint && numbers.vendor_syndrome &&
        !vendor_meaning(*numbers.vendor_syndrome, *result.complaint).empty())
        result.vendor_syndrome = static_cast<std::uint8_t>(*numbers.vendor_syndrome);
    return result;
}

std::string_view meaning(Complaint complaint) {
    switch (complaint) {
        case Complaint::retries_exceeded: return "retries exceeded (status 12): the peer did not answer";
        case Complaint::rnr_retries_exceeded: return "RNR retries exceeded (status 13): the peer had no receive posted";
        case Complaint::remote_access:
            return "remote access error (status 10): the peer refused the R_Key, address or permission";
        case Complaint::remote_invalid_request:
            return "remote invalid request (status 9): the peer refused the kind or length of the request";
        case Complaint::remote_operation:
            return "remote operation error (status 11): the peer failed while it worked on the request";
        case Complaint::bad_response:
            return "bad response (status 7): a response whose opcode or length was not expected";
        case Complaint::flushed: return "flushed (status 5): a consequence of an earlier error";
        case Complaint::local: return "a local error: of a requester nothing is on the wire, of a responder its NAK";
        case Complaint::own_invalid_request: return "this host refused a request; its peer has status 9";
        case Complaint::own_access:
            return "this host refused an R_Key, an address or a permission; its peer has status 10";
        case Complaint::queue_pair_error: return "a queue pair of this host went to the error state";
        case Complaint::port: return "a port or link of this host changed; see its switch and cable";
        case Complaint::rejected: return "connection rejected (CM REJ)";
        case Complaint::unreachable: return "connection request without an answer (CM REQ)";
        case Complaint::other: break;
    }
    return "an error that has no mark of its own on the wire";
}

std::vector<std::string> recognised(const LogLine& line) {
    std::vector<std::string> told;
    const auto add = [&](std::string_view what, const std::vector<std::string>& values) {
        if (!values.empty()) told.push_back(fmt::format("{}: {}", what, fmt::join(values, ", ")));
    };
    std::vector<std::string> values;
    for (const Address& each : line.addresses) values.push_back(text(each));
    add("addresses", values);
    values.clear();
    for (const Qpn qpn : line.qpns) values.push_back(fmt::format("{0} ({0:#x})", std::to_underlying(qpn)));
    add("queue pairs", values);
    if (line.cqe) told.push_back(text(*line.cqe));
    if (line.complaint) {
        std::string error(meaning(*line.complaint));
        if (line.reject_reason) error += fmt::format(": {}", reject_text(*line.reject_reason));
        add("error", {std::move(error)});
    }
    if (line.vendor_syndrome && line.complaint)
        told.push_back(fmt::format("vendor syndrome {:#x} (mlx5): {}", *line.vendor_syndrome,
                                   vendor_meaning(*line.vendor_syndrome, *line.complaint)));
    return told;
}

}  // namespace qps::transport
