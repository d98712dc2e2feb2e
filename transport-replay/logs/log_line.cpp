// Reads lines of logs: addresses, queue pair numbers, completion statuses.
#include <dissect/bytes.hpp>
#include <dissect/parse_value.hpp>
#include <transport-replay/logs/log_line.hpp>

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
    Phrase{"rnr retry", Complaint::rnr_retries_exceeded},
    Phrase{"transport retry counter exceeded", Complaint::retries_exceeded},
    Phrase{"transport retry count exceeded", Complaint::retries_exceeded},
    Phrase{"retry_exc", Complaint::retries_exceeded},
    Phrase{"retry count exceeded", Complaint::retries_exceeded},
    Phrase{"retry exceeded", Complaint::retries_exceeded},
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
    Phrase{"local qp operation error", Complaint::local},
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
    Status{8, Complaint::local},
    Status{9, Complaint::remote_invalid_request},
    Status{10, Complaint::remote_access},
    Status{11, Complaint::remote_operation},
    Status{12, Complaint::retries_exceeded},
    Status{13, Complaint::rnr_retries_exceeded},
};
// The syndrome of an error CQE of mlx5.
constexpr std::array kSyndromes{
    Status{0x05, Complaint::flushed},          Status{0x12, Complaint::remote_invalid_request},
    Status{0x13, Complaint::remote_access},    Status{0x14, Complaint::remote_operation},
    Status{0x15, Complaint::retries_exceeded}, Status{0x16, Complaint::rnr_retries_exceeded},
};
// What mlx5 drivers say beside status 12 or 13.
constexpr std::array kVendorErrors{Status{0x81, Complaint::retries_exceeded}};

template <class T>
void add_once(std::vector<T>& values, const T& value) {
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "0x1a2", "418"; nothing where more letters follow.
std::optional<std::uint64_t> number_at(std::string_view text) {
    return parse_number(text.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_word) - text.begin())));
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

// An address, alone or with a port behind it.
std::optional<Address> address(std::string token) {
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
    constexpr std::array<std::string_view, 6> kEnds{"qp", "qpn", "qp_num", "qpnum", "qp_number", "qp_no"};
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

// Names and the numbers behind them. `line` is in lower case.
void read_numbers(std::string_view line, LogLine& result, std::optional<Complaint>& by_vendor) {
    constexpr std::uint64_t kLargestQpn = 0xffffff;
    std::string_view before;  // the word before
    for (std::size_t at = 0; at < line.size();) {
        if (!is_word(line[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < line.size() && is_word(line[end])) ++end;
        const std::string_view word = line.substr(at, end - at);
        at = end;
        if (const auto value = number_at(after_name(line.substr(end)))) {
            if (means_qp(word) || (before == "qp" && (word == "number" || word == "num" || word == "no"))) {
                if (*value <= kLargestQpn && *value > 1) add_once(result.qpns, Qpn{static_cast<std::uint32_t>(*value)});
            } else if (means_lid(word)) {
                if (*value != 0)  // what RoCE, which has none, is printed with
                    add_once(result.addresses, Address{{0, *value & 0xffff}, AddressSpace::infiniband_lid});
            } else if (word.ends_with("status") || word == "wc") {
                if (!result.complaint) result.complaint = find(kStatuses, *value);
            } else if (word == "synd" || word == "syndrome") {
                if (!result.complaint) result.complaint = find(kSyndromes, *value);
            } else if ((before.starts_with("vend") && word.starts_with("err")) || word == "vend" || word == "vendor_err") {
                by_vendor = find(kVendorErrors, *value);
            }
        }
        before = word;
    }
}

}  // namespace

LogLine read_log_line(std::string_view line) {
    LogLine result;
    std::string lower(line);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto phrase = std::ranges::find_if(kPhrases, [&](const Phrase& row) { return lower.find(row.words) != std::string::npos; });
    if (phrase != kPhrases.end()) result.complaint = phrase->complaint;
    read_addresses(line, result);
    std::optional<Complaint> by_vendor;
    read_numbers(lower, result, by_vendor);
    if (!result.complaint) result.complaint = by_vendor;
    return result;
}

std::string_view meaning(Complaint complaint) {
    switch (complaint) {
        case Complaint::retries_exceeded: return "retries exceeded (status 12): the peer did not answer";
        case Complaint::rnr_retries_exceeded: return "RNR retries exceeded (status 13): the peer had no receive posted";
        case Complaint::remote_access: return "remote access error (status 10): the peer refused the R_Key, address or permission";
        case Complaint::remote_invalid_request:
            return "remote invalid request (status 9): the peer refused the kind or length of the request";
        case Complaint::remote_operation: return "remote operation error (status 11): the peer failed while it worked on the request";
        case Complaint::flushed: return "flushed (status 5): a consequence of an earlier error";
        case Complaint::local: break;
    }
    return "a local error, which does not show on the wire";
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
    if (line.complaint) add("error", {std::string(meaning(*line.complaint))});
    return told;
}

}  // namespace qps::transport
