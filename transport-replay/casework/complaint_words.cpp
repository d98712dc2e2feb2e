// Rows of words, the most telling first, and the numbers of errno of Linux (include/uapi/asm-generic/errno.h).
#include <dissect/base/parse_value.hpp>
#include <transport-replay/casework/complaint_words.hpp>
#include <transport-replay/casework/line_pattern.hpp>

#include <array>
#include <memory>
#include <vector>

#include <fmt/format.h>

namespace qps::casework {

namespace {

struct ComplaintWords {
    std::string_view pattern;
    ComplaintMeaning meaning;
};
// clang-format off
constexpr std::array kComplaintWords{
    ComplaintWords{R"((?i)fail\w* to register .*memory|memory (?:pool )?registration failed|failed to register memory|can.?t register (?:the )?memory|reg_mr\b.*fail|fi_mr_reg.*fail|nvidia_p2p_get_pages|pin\w* .*gpu pages)",
            {"memory could not be registered with the adapter: memory of a GPU that no driver lets it reach (nvidia_peermem, DMA-BUF), a limit of locked memory, or an address that the program does not own",
             "the same with memory of the host; lsmod | grep peermem; ulimit -l in the job; dmesg at that time",
             "memory of the host registers", "the way to the GPU's memory is missing: nvidia_peermem, or DMA-BUF", "the limit of locked memory, or the address"}},
    ComplaintWords{R"((?i)permission denied|operation not permitted|access denied|not authori[sz]ed|\bEACCES\b|\bEPERM\b)",
            {"a right is missing: the process may not use what the line names",
             "ls -l of what it names, as that user and inside the container; id, capabilities (IPC_LOCK, NET_RAW), audit log and dmesg for denials",
             "another user or root may", "give the right (group, capability, device of the container)", "a security module: its denials in the audit log"}},
    ComplaintWords{R"((?i)\bin use\b|\bbusy\b|already (?:exists|in|connected|bound|registered)|\bEBUSY\b)",
            {"something else holds what the line names",
             "who holds it: lsmod (used by), lsof, fuser, rdma resource show, ss -ltnp; stop that first",
             "an old process or a module holds it", "end or unload that, then again", "it is freed by itself a moment later: try again"}},
    ComplaintWords{R"((?i)rejected|refused|\bREJ\b|not allowed|denied by)",
            {"the other side answered, and refused: it was reached",
             "the log of the other side at this time: why it refused (nobody listens, not allowed, no resources, other version)",
             "it says why", "that is the cause", "nobody listens there: start it, or correct the address"}},
    ComplaintWords{R"((?i)mismatch|incompatible|not compatible|wrong version|version .*(?:differ|expected|required)|does not match|different version)",
            {"two parts or two ends do not agree on what the line names (version, setting, size)",
             "that setting or version on both ends, and of library, driver and firmware on each (ibv_devinfo, ethtool -i, ldd)",
             "they differ", "make them equal", "the line compares with what is built in: update that program"}},
    ComplaintWords{R"((?i)cannot allocate|out of (?:memory|resources)|no memory|not enough|insufficient|exhausted|too many|no (?:more|free) \w+|limits? (?:reached|exceeded)|exceeds? (?:the )?(?:max|limit)|resource temporarily unavailable|no space left|\bENOMEM\b|\bENOSPC\b|\bEAGAIN\b)",
            {"a resource or a limit of the host or the device is used up",
             "ulimit -a in the job, free -m and hugepages, rdma resource show against the most of ibv_devinfo -v, dmesg at that time",
             "one is at its limit", "raise it, or use fewer", "what holds it: processes that are left over, a leak"}},
    ComplaintWords{R"((?i)no such (?:device|file|process)|not found|does ?n.t exist|failed to appear|\bmissing\b|cannot find|could not find|unable to find|not present|no [\w ]{0,24}(?:devices?|units|providers?|adapters?|interfaces?) (?:found|are|is|were)?|\bENODEV\b|\bENOENT\b|no device|not loaded)",
            {"what the line names is not there for this process: a device, a module or a file that is not loaded, not given to the container, or has another name",
             "rdma link, ibv_devices, ls -l /dev/infiniband, lsmod | grep -E 'ib_|mlx|rdma', inside the container as well; dmesg: did its driver come up?",
             "it is not there on the host either", "load its driver; dmesg says what hinders it", "the host has it: give it to the container, or correct the name"}},
    ComplaintWords{R"((?i)unreachable|no route|\bEHOSTUNREACH\b|\bENETUNREACH\b)",
            {"no way leads to the address that the line names",
             "ip route get that address, ip neigh, ping and rping to it; show_gids on both hosts",
             "it does not resolve or has no route", "set address, route or VLAN", "TCP reaches it: the address belongs to no RDMA device, or a filter"}},
    ComplaintWords{R"((?i)time[d]?[ -]?out|no (?:response|answer|reply)|not respond|deadline exceeded|\bETIMEDOUT\b)",
            {"an answer did not come in time",
             "the other side at this time: does it run, what does its log say; then a capture at its port: does the request arrive, is it answered?",
             "the other side was gone or stuck", "it came first", "requests do not arrive there: the path"}},
    ComplaintWords{R"((?i)reset by|broken pipe|connection (?:was )?(?:closed|lost|aborted|error|failed)|disconnect|communication error|failed to send|socket ?error|\bECONNRESET\b|\bEPIPE\b)",
            {"a connection to the other side that the line names ended or failed",
             "the log and dmesg of the other side from before this time, rdma resource show qp on both ends; a capture at its port if it says nothing",
             "its process or host ended or stood still", "it came first", "it says that this side closed: look at the lines before this one"}},
    ComplaintWords{R"((?i)not supported|unsupported|not implemented|unknown (?:option|argument|command)|\bEOPNOTSUPP\b|\bENOSYS\b)",
            {"what is asked for is not supported by this device, driver, library or kernel",
             "ibv_devinfo -v (capabilities), versions of kernel, driver, firmware and library; the same without that feature",
             "another version or device has it", "use that, or do without", "an option is misspelt"}},
    ComplaintWords{R"((?i)invalid (?:argument|parameter|value|option|configuration)|bad (?:address|argument|parameter)|\bEINVAL\b|\bEFAULT\b)",
            {"an argument was not accepted: a size, an index or a setting that the device, the driver or the other end does not take",
             "that setting against ibv_devinfo -v (max_qp_wr, max_sge, max_qp_rd_atom), show_gids (index), active_mtu; dmesg at that time",
             "it is above what the device takes, or names what is not there", "correct it", "versions of driver, firmware and library"}},
    ComplaintWords{R"((?i)\bnot valid\b|\binvalid\b|validation failed|\bmust\b|\bexpected\b|\billegal\b|malformed)",
            {"what the line names is not as it must be: a setting, a port, an identifier",
             "that setting against what the line asks for, on this host and on one where it works; versions of the program and of the driver",
             "it differs from a host that works", "set it alike", "it is alike everywhere: the program, or what it talks to, is of another version"}},
    ComplaintWords{R"((?i)temperature|overheat|over.?current|voltage|\bpower\b.*(?:fail|exceed|insufficient)|\balarm\b)",
            {"a reading of the hardware is out of its range",
             "sensors, ipmitool sel list, ethtool -m IF, mlxlink -m: which part, since when; fans and air flow",
             "it is out of range under load", "cool or replace that part", "it passed: watch it"}},
    ComplaintWords{R"((?i)checksum|\bcrc\b|corrupt|bad magic|parity)",
            {"data arrived or lies changed",
             "error counters of both ends twice (ethtool -S, perfquery, mlxlink), memory errors (EDAC, rasdaemon)",
             "counters of a link grow", "that link: cable or transceiver", "memory or the program itself"}},
};

struct ErrnoRow {
    unsigned number;
    std::string_view name;
    std::string_view words;
};
constexpr std::array kErrnos{
    ErrnoRow{1, "EPERM", "operation not permitted"},       ErrnoRow{2, "ENOENT", "no such file or directory"},
    ErrnoRow{5, "EIO", "input/output error"},              ErrnoRow{11, "EAGAIN", "resource temporarily unavailable"},
    ErrnoRow{12, "ENOMEM", "cannot allocate memory"},      ErrnoRow{13, "EACCES", "permission denied"},
    ErrnoRow{14, "EFAULT", "bad address"},                 ErrnoRow{16, "EBUSY", "device or resource busy"},
    ErrnoRow{19, "ENODEV", "no such device"},              ErrnoRow{22, "EINVAL", "invalid argument"},
    ErrnoRow{28, "ENOSPC", "no space left"},               ErrnoRow{32, "EPIPE", "broken pipe"},
    ErrnoRow{38, "ENOSYS", "function not implemented"},    ErrnoRow{70, "ECOMM", "communication error on send"},
    ErrnoRow{71, "EPROTO", "protocol error"},              ErrnoRow{95, "EOPNOTSUPP", "operation not supported"},
    ErrnoRow{98, "EADDRINUSE", "address already in use"},  ErrnoRow{99, "EADDRNOTAVAIL", "no interface has that address"},
    ErrnoRow{100, "ENETDOWN", "network is down"},          ErrnoRow{101, "ENETUNREACH", "network is unreachable"},
    ErrnoRow{103, "ECONNABORTED", "connection aborted"},   ErrnoRow{104, "ECONNRESET", "connection reset by the peer"},
    ErrnoRow{107, "ENOTCONN", "not connected"},            ErrnoRow{110, "ETIMEDOUT", "timed out: no answer came"},
    ErrnoRow{111, "ECONNREFUSED", "connection refused"},   ErrnoRow{112, "EHOSTDOWN", "host is down"},
    ErrnoRow{113, "EHOSTUNREACH", "no route to the host"}, ErrnoRow{121, "EREMOTEIO", "remote I/O error"},
    ErrnoRow{125, "ECANCELED", "operation canceled"},
};
// clang-format on

struct WordPatterns {
    std::vector<std::unique_ptr<RE2>> all;
    WordPatterns() {
        for (const ComplaintWords& row : kComplaintWords)
            all.push_back(std::make_unique<RE2>(piece(row.pattern), RE2::Latin1));
    }
};

}  // namespace

const ComplaintMeaning* meaning_of(std::string_view complaint) {
    static const WordPatterns patterns;
    const std::string with_errno = fmt::format("{} {}", complaint, errno_text(complaint));
    complaint = with_errno;
    for (std::size_t i = 0; i < kComplaintWords.size(); ++i)
        if (RE2::PartialMatch(piece(complaint), *patterns.all[i])) return &kComplaintWords[i].meaning;
    return nullptr;
}

std::string errno_text(std::string_view complaint) {
    static const RE2 given(
        R"((?i)(?:errno:?|error:?|err:?|err ?code:?|rc:?|ret(?:urned)?:?|status:?)\s*[=:(]?\s*-(\d{1,3})\b|(?:errno[ :=(]+|non-zero status:? |failed[ :]+\(?-?|\[|with error )(\d{1,3})\b[\])]?)");
    std::string negative, positive;
    if (!RE2::PartialMatch(piece(complaint), given, &negative, &positive)) return {};
    const auto number = dissect::parse_decimal(negative.empty() ? positive : negative);
    return number ? errno_text(*number) : std::string{};
}

std::string errno_text(std::uint64_t number) {
    for (const ErrnoRow& row : kErrnos)
        if (number == row.number) return fmt::format("errno {}, {}: {}", row.number, row.name, row.words);
    return {};
}

ComplaintParts parts_of(std::string_view line) {
    static const RE2 stamps(
        R"(^(?:[\d\[(<][\d\[\]()<>T:.,/+Z -]{4,}[\])>]?\s*|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d\S* +\S+ +)+)");
    static const RE2 source(R"(^(?:\S*/)?([\w-]+\.(?:c|cc|cpp|cu|h|hpp|py|go|rs))(?::\w+)*:? ?\d*:? *)");
    static const RE2 program(R"(^([A-Za-z][\w./-]{1,40})(?:\[\d+\])?: +)");
    re2::StringPiece text(line.data(), line.size());
    ComplaintParts parts;
    RE2::Consume(&text, stamps);
    if (!RE2::Consume(&text, source, &parts.program)) RE2::Consume(&text, program, &parts.program);
    parts.text = {text.data(), text.size()};
    if (parts.text.empty()) parts.text = line;
    return parts;
}

std::string action_of(std::string_view complaint) {
    constexpr std::size_t kMost = 100;
    static const RE2 clause(
        R"((?i)(?:failed to|fails to|unable to|cannot|can ?not|can't|could not|could ?n'?t|not able to|did not) (\w[^.;()\[\]]{2,200}))");
    static const RE2 noun(R"((?i)(\b[\w.() -]{3,60}?) (?:has )?failed\b)");
    static const RE2 error(
        R"((?i)(\b[\w.-]{3,60}): (?:invalid argument|permission denied|operation not|no such|not supported|connection |input/output|bad |device or|resource))");
    std::string found;
    if (!finds(complaint, clause, &found) && !finds(complaint, noun, &found) && !finds(complaint, error, &found))
        return {};
    while (!found.empty() && found.back() == ' ') found.pop_back();
    return found.substr(0, kMost);
}

bool is_complaint(std::string_view line, bool anything) {
    static const RE2 complains(
        R"((?i)\b(?:errors?|err|failed|failure|fail|fatal|cannot|can't|could ?n.t|could not|unable to|denied|refused|rejected|timed? ?out|not found|no such|not supported|unsupported|invalid|mismatch|incompatible|exceeded|insufficient|in use by|abort(?:ed|ing)?|lost|unreachable|must be|must bind|not loaded|disabling|not valid|did not|no [\w -]{1,60} (?:found|available|detected|usable))\b)");
    static const RE2 about(
        R"((?i)rdma|infiniband|\bmlx\d|roce\b|\bibv?_|verbs?\b|\bqps?\b|queue pair|\bcq\b|\bhca\b|\bgids?\b|nccl|rccl|\bucx\b|libfabric|\befa\b|psm2?\b|\bhfi|\bsrp\b|\biser\b|nvme|nvmf|\bnfs|lustre|beegfs|gluster|gpfs|mmfs|spdk|dpdk|mooncake|nvshmem|openib|\bcm event|\bsharp|\bcxi|\bpeermem|libfabric|\bofi|\bsriov|sri-?ov|\blid\b|peer.?mem|memlock|register(?:ed)? memory|memory regist)");
    static const RE2 harmless(R"((?i)\b(?:0|no) (?:errors?|failures?)\b|^\s*(?:#|//|\*))");
    constexpr std::size_t kLongest = 1'000;  // of a line that is worth it
    return line.size() <= kLongest && RE2::PartialMatch(piece(line), complains) &&
           (anything || RE2::PartialMatch(piece(line), about)) && !RE2::PartialMatch(piece(line), harmless);
}

}  // namespace qps::casework
