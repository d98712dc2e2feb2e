// Connection attempts as people read them.
#include "cm_text.hpp"

#include <dissect/render_value.hpp>
#include <transport-replay/instant.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <vector>

#include "tone.hpp"
#include "wrapped.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

constexpr std::size_t kIndent = 4;

// 4.096 us * 2^exponent, as all timeouts of CM and of the transport are written.
std::string timeout_text(std::uint8_t exponent) {
    constexpr double kUnit = 4.096e-6;
    return human_time(kUnit * static_cast<double>(std::uint64_t{1} << (exponent & 31)));
}

template <class T>
std::string value_text(const std::optional<T>& value) {
    if (!value) return "?";
    if constexpr (std::is_same_v<T, Psn>) return std::to_string(value->value());
    else if constexpr (std::is_enum_v<T>) return std::to_string(std::to_underlying(*value));
    else return std::to_string(*value);
}

// "17 <-> 18" of what both sides say; empty where neither does.
template <class T>
std::string pair_text(std::string_view what, const std::optional<T>& active, const std::optional<T>& passive) {
    if (!active && !passive) return {};
    return fmt::format("{} {} <-> {}", what, value_text(active), value_text(passive));
}

std::string rnr_text(const std::optional<std::uint8_t>& count) {
    constexpr std::uint8_t kForever = 7;
    return count && *count == kForever ? "forever" : value_text(count);
}

std::vector<std::string> agreed(const CmAttempt& attempt) {
    std::vector<std::string> all;
    const auto add = [&](std::string text) {
        if (!text.empty()) all.push_back(std::move(text));
    };
    add(pair_text("QP", attempt.active.qpn, attempt.passive.qpn));
    add(pair_text("starting PSN", attempt.active.starting_psn, attempt.passive.starting_psn));
    if (attempt.path_mtu) add(fmt::format("path MTU {}", *attempt.path_mtu));
    if (attempt.pkey) add(fmt::format("P_Key {:#06x}", std::to_underlying(*attempt.pkey)));
    if (attempt.local_ack_timeout)
        add(fmt::format("ACK timeout {} ({})", *attempt.local_ack_timeout, timeout_text(*attempt.local_ack_timeout)));
    if (attempt.retry_count) add(fmt::format("retries {}", *attempt.retry_count));
    if (attempt.active.rnr_retry_count || attempt.passive.rnr_retry_count)
        add(fmt::format("RNR retries {} <-> {}", rnr_text(attempt.active.rnr_retry_count), rnr_text(attempt.passive.rnr_retry_count)));
    add(pair_text("READs answered at once", attempt.active.responder_resources, attempt.passive.responder_resources));
    add(pair_text("READs outstanding", attempt.active.initiator_depth, attempt.passive.initiator_depth));
    if (attempt.max_cm_retries) add(fmt::format("CM retries {}", *attempt.max_cm_retries));
    if (attempt.remote_response_timeout) add(fmt::format("waits {} for a REP", timeout_text(*attempt.remote_response_timeout)));
    if (attempt.mra_service_timeout) add(fmt::format("MRA asks for {}", timeout_text(*attempt.mra_service_timeout)));
    if (attempt.sidr_qkey) add(fmt::format("Q_Key {:#010x}", std::to_underlying(*attempt.sidr_qkey)));
    if (attempt.sidr_status && *attempt.sidr_status != 0) add(fmt::format("SIDR status {}", *attempt.sidr_status));
    return all;
}

std::string remarks(const CmAttempt& attempt) {
    std::vector<std::string> all;
    if (attempt.roles_guessed) all.emplace_back("who asked whom is a guess");
    if (attempt.incomplete) all.emplace_back("the capture lacks messages of it");
    if (attempt.data_without_rtu)
        all.push_back(fmt::format("no RTU; data in frame {} took its place", std::to_underlying(*attempt.data_without_rtu)));
    if (attempt.rungs_dropped != 0) all.push_back(fmt::format("{} not shown", counted(attempt.rungs_dropped, "message")));
    return fmt::format("{}", fmt::join(all, "; "));
}

void append_line(std::string& out, std::string_view words) {
    if (!words.empty()) append_wrapped(out, std::string(kIndent, ' '), kIndent, words);
}

void append_private_data(std::string& out, std::string_view whose, const PrivateData& data) {
    if (data.used == 0) return;
    std::string hex;
    append_hex(hex, data.bytes());
    append_line(out, fmt::format("private data of the {}: {}{}", whose, hex, data.used > kPrivateBytesKept ? "..." : ""));
}

void append_ladder(std::string& out, const CmAttempt& attempt, bool color) {
    for (const CmRung& rung : attempt.ladder) {
        const std::string arrow = rung.from_active ? fmt::format("-- {:-<9}>", fmt::format("{} ", name(rung.message)))
                                                   : fmt::format("<- {:-<9}-", fmt::format("{} ", name(rung.message)));
        const Instant first = attempt.ladder.front().time;
        std::string line =
            fmt::format("    {:>8}  {:>12}  {}", std::to_underlying(rung.frame), seconds_text(elapsed(first, rung.time)), arrow);
        if (rung.duplicate) line += "  again";
        if (rung.refused) line += fmt::format("  not possible when {}", name(rung.state));
        const std::string_view tone = !color || (!rung.duplicate && !rung.refused) ? std::string_view{}
                                      : rung.refused                               ? kErrorTone
                                                                                   : kWarningTone;
        out += tone.empty() ? line : fmt::format("{}{}{}", tone, line, kToneEnd);
        out += '\n';
    }
}

bool went_wrong(CmOutcome outcome) {
    return outcome == CmOutcome::rejected || outcome == CmOutcome::no_answer || outcome == CmOutcome::half_open ||
           outcome == CmOutcome::unresolved;
}

}  // namespace

std::string service_text(const CmAttempt& attempt) {
    if (!attempt.ip) return attempt.service_id ? fmt::format("service {:#018x}", *attempt.service_id) : "";
    constexpr std::uint8_t kTcp = 6;
    constexpr std::uint8_t kUdp = 17;
    const std::string space = attempt.ip->protocol == kTcp   ? "TCP"
                              : attempt.ip->protocol == kUdp ? "UDP"
                                                             : fmt::format("IP protocol {}", attempt.ip->protocol);
    return fmt::format("RDMA {} port {}", space, attempt.ip->port);
}

std::string reject_text(std::uint16_t reason) {
    const std::string_view words = reject_reason(reason);
    return words.empty() ? fmt::format("reason {}", reason) : std::string(words);
}

void append_attempt(std::string& out, const CmAttempt& attempt, Instant start, bool color) {
    std::string heading = fmt::format("attempt {}: {} -> {}", attempt.uid, text(attempt.active.address), text(attempt.passive.address));
    if (attempt.service) heading += fmt::format("  {}", name(*attempt.service));
    if (const std::string service = service_text(attempt); !service.empty()) heading += fmt::format(", {}", service);
    const bool wrong = color && went_wrong(attempt.outcome);
    heading += fmt::format("  {}{}{}", wrong ? kErrorTone : "", name(attempt.outcome), wrong ? kToneEnd : "");
    const bool is_set_up = attempt.outcome == CmOutcome::established || attempt.outcome == CmOutcome::disconnected;
    if (const auto setup = attempt.setup_time())
        heading += fmt::format(", {} {}", is_set_up ? "set up in" : "answered after", duration_text(*setup));
    if (!attempt.ladder.empty()) heading += fmt::format(", at {}", seconds_text(elapsed(start, attempt.ladder.front().time)));
    out += heading + "\n";
    if (attempt.rejection) {
        append_line(out, fmt::format("rejected by the {} side: {} ({})", attempt.rejection->by_active ? "active" : "passive",
                                     reject_text(attempt.rejection->reason), attempt.rejection->reason));
        append_private_data(out, "REJ", attempt.rejection->private_data);
    }
    if (attempt.ip && attempt.ip->addressed)
        append_line(out, fmt::format("IP {}:{} -> {}:{}", text(attempt.ip->source), attempt.ip->source_port, text(attempt.ip->destination),
                                     attempt.ip->port));
    append_line(out, fmt::format("{}", fmt::join(agreed(attempt), ", ")));
    append_private_data(out, "active side", attempt.active.private_data);
    append_private_data(out, "passive side", attempt.passive.private_data);
    append_line(out, remarks(attempt));
    append_ladder(out, attempt, color);
}

void append_joins(std::string& out, const CmReport& report, Instant start) {
    if (report.joins.empty()) return;
    constexpr std::uint8_t kSet = 2;
    constexpr std::uint8_t kDelete = 0x15;
    out += "multicast groups\n";
    for (const MulticastJoin& join : report.joins) {
        const std::string_view verb = join.method == kSet ? "joins" : join.method == kDelete ? "leaves" : "asks for";
        std::string line = fmt::format("{:>8}  {:>12}  {} {} {}", std::to_underlying(join.frame), seconds_text(elapsed(start, join.time)),
                                       text(join.member), verb, text(join.group));
        if (join.answered_after) line += fmt::format(", answered after {}", duration_text(*join.answered_after));
        if (!join.status) line += ", no answer";
        else if (*join.status != 0) line += fmt::format(", refused with status {:#06x}", *join.status);
        append_line(out, line);
    }
    if (report.joins_dropped != 0) append_line(out, fmt::format("and {} more", grouped(report.joins_dropped)));
}

}  // namespace qps::cli
