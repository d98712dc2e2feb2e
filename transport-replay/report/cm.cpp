// Connection attempts in words, and their messages as rows.
#include <dissect/base/timers.hpp>
#include <dissect/base/types.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/report/cm.hpp>
#include <transport-replay/report/figures.hpp>

#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::transport {

using namespace dissect;

namespace {

std::string timeout_text(std::uint8_t exponent) {
    return human_time(static_cast<double>(timeout_of(exponent & kMostTimeoutCode)) * 1e-9);
}

template <class T> std::string value_text(const std::optional<T>& value) {
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
    return count && *count == kForever ? "infinite" : value_text(count);
}

// The terms of MPA that both ends of an iWARP connection sent.
std::string mpa_text(const CmAttempt& attempt) {
    const auto pair = [&](std::string_view what, auto text_of) {
        const auto one = [&](const CmSide& side) { return side.mpa ? text_of(*side.mpa) : std::string("?"); };
        return fmt::format("{} {} <-> {}", what, one(attempt.active), one(attempt.passive));
    };
    const auto yes = [](bool value) { return std::string(value ? "yes" : "no"); };
    const auto depth = [](const std::optional<std::uint16_t>& value) { return value ? std::to_string(*value) : "?"; };
    std::vector<std::string> all{pair("MPA revision", [](const MpaSetUp& mpa) { return std::to_string(mpa.revision); }),
                                 pair("CRC", [&](const MpaSetUp& mpa) { return yes(mpa.crc); }),
                                 pair("wants markers", [&](const MpaSetUp& mpa) { return yes(mpa.markers); })};
    const auto enhanced = [](const CmSide& side) { return side.mpa && side.mpa->ird; };
    if (enhanced(attempt.active) || enhanced(attempt.passive)) {
        all.push_back(pair("IRD", [&](const MpaSetUp& mpa) { return depth(mpa.ird); }));
        all.push_back(pair("ORD", [&](const MpaSetUp& mpa) { return depth(mpa.ord); }));
        all.push_back(pair("peer-to-peer", [&](const MpaSetUp& mpa) { return yes(mpa.peer_to_peer); }));
    }
    return fmt::format("{}", fmt::join(all, ", "));
}

std::string time_text(const CmRow& row) { return seconds_text(row.rung.time - row.attempt.ladder.front().time); }

constexpr std::array kCmColumns{
    TableColumn<CmRow>{"attempt", "attempt", Side::right, [](const CmRow& row) { return number(row.attempt.uid); }},
    TableColumn<CmRow>{"active", "active", Side::left,
                       [](const CmRow& row) { return text_cell(text(row.attempt.active.address)); }},
    TableColumn<CmRow>{"passive", "passive", Side::left,
                       [](const CmRow& row) { return text_cell(text(row.attempt.passive.address)); }},
    TableColumn<CmRow>{"service", "service", Side::left,
                       [](const CmRow& row) { return text_cell(service_text(row.attempt)); }},
    TableColumn<CmRow>{"outcome", "outcome", Side::left,
                       [](const CmRow& row) { return text_cell(name(row.attempt.outcome)); }},
    TableColumn<CmRow>{"frame", "frame", Side::right, [](const CmRow& row) { return number(row.rung.frame); }},
    TableColumn<CmRow>{"time_ns", "time", Side::right, [](const CmRow& row) { return number(row.rung.time); },
                       time_text},
    TableColumn<CmRow>{"message", "message", Side::left,
                       [](const CmRow& row) { return text_cell(message_text(row.attempt, row.rung)); }},
    TableColumn<CmRow>{"from_active", "from", Side::left, [](const CmRow& row) -> Cell { return row.rung.from_active; },
                       [](const CmRow& row) { return std::string(row.rung.from_active ? "active" : "passive"); }},
    TableColumn<CmRow>{"duplicate", "", Side::left, [](const CmRow& row) -> Cell { return row.rung.duplicate; }},
    TableColumn<CmRow>{"unexpected", "", Side::left, [](const CmRow& row) -> Cell { return row.rung.refused; }},
    TableColumn<CmRow>{"state", "state", Side::left, [](const CmRow& row) { return text_cell(name(row.rung.state)); }},
    TableColumn<CmRow>{"", "remarks", Side::left, [](const CmRow& row) { return text_cell(remarks_text(row.rung)); }},
};

}  // namespace

std::span<const TableColumn<CmRow>> cm_columns() { return kCmColumns; }

Tone tone_of(const CmAttempt& attempt) {
    switch (attempt.outcome) {
        case CmOutcome::rejected:
        case CmOutcome::no_answer:
        case CmOutcome::half_open:
        case CmOutcome::unresolved: return Tone::error;
        default: return Tone::plain;
    }
}

Tone tone_of(const CmRung& rung) { return rung.refused ? Tone::error : rung.duplicate ? Tone::warning : Tone::plain; }

std::string title_text(const CmAttempt& attempt) {
    std::string title =
        fmt::format("attempt {}: {} -> {}", attempt.uid, text(attempt.active.address), text(attempt.passive.address));
    if (attempt.service) title += fmt::format("  {}", name(*attempt.service));
    if (const std::string service = service_text(attempt); !service.empty()) title += fmt::format(", {}", service);
    return title;
}

std::string service_text(const CmAttempt& attempt) {
    if (!attempt.ip) return attempt.service_id ? fmt::format("service {:#018x}", *attempt.service_id) : "";
    constexpr std::uint8_t kTcp = 6;
    constexpr std::uint8_t kUdp = 17;
    const std::string space = attempt.ip->protocol == kTcp   ? "TCP"
                              : attempt.ip->protocol == kUdp ? "UDP"
                                                             : fmt::format("IP protocol {}", attempt.ip->protocol);
    return fmt::format("RDMA {} port {}", space, attempt.ip->port);
}

std::string setup_text(const CmAttempt& attempt) {
    const auto setup = attempt.setup_time();
    if (!setup) return {};
    const bool is_set_up = was_set_up(attempt.outcome);
    return fmt::format("{} {}", is_set_up ? "set up in" : "answered after", duration_text(*setup));
}

std::string rejection_text(const CmAttempt& attempt) {
    if (!attempt.rejection) return {};
    return fmt::format("rejected by the {} side: {} ({})", attempt.rejection->by_active ? "active" : "passive",
                       reject_text(attempt.rejection->reason), attempt.rejection->reason);
}

std::string reject_text(std::uint16_t reason) {
    const std::string_view known = reject_reason(reason);
    return known.empty() ? fmt::format("reason {}", reason) : std::string(known);
}

std::string ip_text(const CmAttempt& attempt) {
    if (!attempt.ip || !attempt.ip->addressed) return {};
    return fmt::format("IP {}:{} -> {}:{}", text(attempt.ip->source), attempt.ip->source_port,
                       text(attempt.ip->destination), attempt.ip->port);
}

std::vector<std::string> agreed_texts(const CmAttempt& attempt) {
    std::vector<std::string> all;
    const auto add = [&](std::string text) {
        if (!text.empty()) all.push_back(std::move(text));
    };
    const bool iwarp = attempt.service == CmService::iwarp;
    add(pair_text(iwarp ? "TCP port" : "QP", attempt.active.qpn, attempt.passive.qpn));
    if (iwarp) add(mpa_text(attempt));
    add(pair_text("starting PSN", attempt.active.starting_psn, attempt.passive.starting_psn));
    if (attempt.path_mtu) add(fmt::format("path MTU {}", *attempt.path_mtu));
    if (attempt.pkey) add(fmt::format("P_Key {:#06x}", std::to_underlying(*attempt.pkey)));
    if (attempt.local_ack_timeout)
        add(fmt::format("ACK timeout {} ({})", *attempt.local_ack_timeout, timeout_text(*attempt.local_ack_timeout)));
    if (attempt.retry_count) add(fmt::format("retries {}", *attempt.retry_count));
    if (attempt.active.rnr_retry_count || attempt.passive.rnr_retry_count)
        add(fmt::format("RNR retries {} <-> {}", rnr_text(attempt.active.rnr_retry_count),
                        rnr_text(attempt.passive.rnr_retry_count)));
    add(pair_text("responder resources", attempt.active.responder_resources, attempt.passive.responder_resources));
    add(pair_text("initiator depth", attempt.active.initiator_depth, attempt.passive.initiator_depth));
    if (attempt.max_cm_retries) add(fmt::format("CM retries {}", *attempt.max_cm_retries));
    if (attempt.remote_response_timeout)
        add(fmt::format("response timeout {}", timeout_text(*attempt.remote_response_timeout)));
    if (attempt.mra_service_timeout)
        add(fmt::format("MRA service timeout {}", timeout_text(*attempt.mra_service_timeout)));
    if (attempt.sidr_qkey) add(fmt::format("Q_Key {:#010x}", std::to_underlying(*attempt.sidr_qkey)));
    if (attempt.sidr_status && *attempt.sidr_status != 0) add(fmt::format("SIDR status {}", *attempt.sidr_status));
    return all;
}

std::string remarks_text(const CmAttempt& attempt) {
    std::vector<std::string> all;
    if (attempt.roles_guessed) all.emplace_back("active and passive side are guessed");
    if (attempt.incomplete) all.emplace_back("the capture lacks some of its messages");
    if (attempt.data_without_rtu)
        all.push_back(
            fmt::format("no RTU; established by data in frame {}", std::to_underlying(*attempt.data_without_rtu)));
    if (attempt.rungs_dropped != 0)
        all.push_back(fmt::format("{} not shown", counted(attempt.rungs_dropped, "message")));
    return fmt::format("{}", fmt::join(all, "; "));
}

std::string private_data_text(std::string_view whose, const PrivateData& data) {
    if (data.used == 0) return {};
    std::string hex;
    append_hex(hex, data.bytes());
    return fmt::format("private data of the {}: {}{}", whose, hex, data.used > kPrivateBytesKept ? "..." : "");
}

std::string_view message_text(const CmAttempt& attempt, const CmRung& rung) {
    if (attempt.service != CmService::iwarp) return name(rung.message);
    return rung.from_active ? "MPA_REQ" : "MPA_REP";
}

std::string remarks_text(const CmRung& rung) {
    std::string again = rung.duplicate ? "retransmitted" : "";
    if (!rung.refused) return again;
    return fmt::format("{}{}not valid in state {}", again, again.empty() ? "" : "  ", name(rung.state));
}

std::string join_text(const MulticastJoin& join) {
    constexpr std::uint8_t kSet = 2;
    constexpr std::uint8_t kDelete = 0x15;
    const std::string_view verb = join.method == kSet ? "joins" : join.method == kDelete ? "leaves" : "queries";
    std::string line = fmt::format("{} {} {}", text(join.member), verb, text(join.group));
    if (join.answered_after) line += fmt::format(", answered after {}", duration_text(*join.answered_after));
    if (!join.status) line += ", no answer";
    else if (*join.status != 0) line += fmt::format(", refused with status {:#06x}", *join.status);
    return line;
}

}  // namespace qps::transport
