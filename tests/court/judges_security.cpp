// Judges of who tries what he was not given, or says he is another: R_Keys, queue pairs, PSNs, CNPs, ARP, connection
// requests; and of storage without authentication.
#include <tests/court/judges.hpp>
#include <tests/court/messages.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr std::uint32_t kRemoteAccessError = 2;
constexpr std::int64_t kAnswerDue = 1'000'000'000;  // ns

// Requests with an R_Key of one host to another, each with the NAK that refused it: the next to the same PSN, of the
// other.
void keys_tried(Hearing& hearing) {
    const std::string from = hearing.word("host").value_or(""), to = hearing.word("peer").value_or("");
    std::set<std::uint32_t> keys;
    std::int64_t first = 0, last = 0;
    std::size_t last_nak = 0;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from != from || wire.to != to || !wire.reth || !wire.request() || wire.frame <= last_nak) continue;
        const auto refuses = [&](const Wire& answer) {
            return answer.frame > wire.frame && answer.from == wire.to && answer.to == wire.from &&
                   answer.psn == wire.psn && answer.nak(kRemoteAccessError);
        };
        const auto nak = std::ranges::find_if(hearing.wires(), refuses);
        if (nak == hearing.wires().end() || !keys.insert(wire.reth->key).second) continue;
        if (keys.size() == 1) first = wire.time;
        last = nak->time;
        last_nak = nak->frame;
    }
    hearing.equal_fact("keys_tried", static_cast<double>(keys.size()));
    hearing.equal_fact("span_ns", static_cast<double>(last - first));
    hearing.expect(keys.size() >= 8, "too few");
    hearing.expect(hearing.claim().party == "requester", "blames another");
}

void queue_pairs_tried(Hearing& hearing) {
    const std::string from = hearing.word("host").value_or(""), to = hearing.word("peer").value_or("");
    std::set<std::uint32_t> answered;  // PSNs
    bool heard = false;
    for (const Wire& wire : hearing.wires())
        if (wire.from == to && wire.to == from) answered.insert(wire.psn), heard = true;
    std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> tried;  // first and last packet
    for (const Wire& wire : hearing.wires()) {
        if (wire.from != from || wire.to != to || !wire.request() || answered.contains(wire.psn)) continue;
        tried.try_emplace(wire.to_qp, wire.time, wire.time).first->second.second = wire.time;
    }
    const std::int64_t end = hearing.recording().records.back().time;
    std::erase_if(tried, [&](const auto& one) { return end - one.second.first < kAnswerDue; });
    if (tried.empty()) return hearing.object("every request was answered, or its answer was not due");
    std::int64_t first = INT64_MAX, last = 0;
    for (const auto& [qp, times] : tried) first = std::min(first, times.first), last = std::max(last, times.second);
    hearing.equal_fact("queue_pairs_tried", static_cast<double>(tried.size()));
    hearing.equal_fact("span_ns", static_cast<double>(last - first));
    hearing.equal_fact("least_queue_pair", tried.begin()->first);
    hearing.equal_fact("greatest_queue_pair", tried.rbegin()->first);
    hearing.expect(heard, "the tap may not hear its answers");
    hearing.expect(hearing.claim().party == "undecided", "blames somebody");
}

void psn_conflict(Hearing& hearing) {
    constexpr std::int32_t kFar = 262'144, kBack = 4096;
    const auto from = hearing.end("sender"), to = hearing.end("receiver");
    if (!from || !to) return hearing.object("names no sender and receiver");
    std::uint64_t returns = 0;
    const Wire *before = nullptr, *away = nullptr;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from != from->address || wire.to != to->address || !wire.request()) continue;
        if (to->qp && wire.to_qp != *to->qp) continue;
        if (before != nullptr && away == nullptr && std::abs(psn_distance(before->psn, wire.psn)) > kFar) {
            away = &wire;
            continue;
        }
        if (away != nullptr && std::abs(psn_distance(before->psn, wire.psn)) <= kBack) ++returns, away = nullptr;
        if (away == nullptr) before = &wire;
    }
    hearing.equal_fact("psn_returns", static_cast<double>(returns));
    hearing.equal_fact("psn_distance", kFar);
    hearing.expect(hearing.claim().party == "undecided", "blames somebody");
}

void cnp_unexpected_source(Hearing& hearing) {
    const std::string source = hearing.word("host").value_or(""), peer = hearing.word("peer").value_or("");
    const auto to = hearing.end("receiver");
    if (!to) return hearing.object("does not say who had them");
    std::uint64_t cnps = 0, talks = 0;
    for (const Wire& wire : hearing.wires()) {
        if (wire.to != to->address || wire.to_qp != to->qp) continue;
        if (wire.cnp()) cnps += wire.from == source ? 1U : 0U;
        else if (hearing.expect(wire.from != source, "it is connected with who sent them"); wire.from == peer) ++talks;
    }
    hearing.equal_fact("packets", static_cast<double>(cnps));
    hearing.expect(talks >= 3, "it is not connected with that one");
}

void address_conflict(Hearing& hearing) {
    const std::string host = hearing.word("host").value_or(""), one = hearing.word("first_mac").value_or(""),
                      other = hearing.word("second_mac").value_or("");
    hearing.expect(hearing.word("asked_by") == "ARP", "by another protocol, which the court does not read");
    struct Last {
        std::string mac;
        std::int64_t time = 0;
    };
    std::map<std::string, Last> by_asker;
    std::uint64_t both = 0;
    for (const Record& record : hearing.recording().records) {
        const Octets& bytes = record.bytes;
        if (bytes.size() < 42 || number_at(bytes, 12, 2) != 0x0806 || number_at(bytes, 20, 2) != 2) continue;
        if (fmt::format("{}.{}.{}.{}", bytes[28], bytes[29], bytes[30], bytes[31]) != host) continue;
        const auto mac_text = [&](std::size_t at) {
            return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", bytes[at], bytes[at + 1], bytes[at + 2],
                               bytes[at + 3], bytes[at + 4], bytes[at + 5]);
        };
        const std::string mac = mac_text(22);
        hearing.expect(mac == one || mac == other, "a third one answered");
        Last& last = by_asker[mac_text(32)];
        const bool same = !last.mac.empty() && last.mac != mac && record.time - last.time <= 200'000'000;
        both += same ? 1U : 0U;
        last = {same ? "" : mac, record.time};
    }
    hearing.equal_fact("neighbour_requests", static_cast<double>(both));
    hearing.expect(
        std::ranges::any_of(hearing.wires(), [&](const Wire& wire) { return wire.from == host || wire.to == host; }),
        "it is no RoCE peer");
}

// REQs by the ID of who asked, with whether a REJ came; the second in which most were.
void request_flood(Hearing& hearing) {
    const std::string to = hearing.word("peer").value_or("");
    constexpr std::size_t kMad = 12 + 8, kAttribute = 16, kMessage = 24;
    struct Asked {
        std::int64_t time = 0;
        std::string from;
        bool refused = false;
    };
    std::map<std::pair<std::string, std::uint32_t>, Asked> asked;
    for (const Wire& wire : hearing.wires()) {
        if (!wire.management()) continue;
        const Octets& bytes = hearing.recording().records[wire.frame - 1].bytes;
        const std::uint32_t attribute = number_at(bytes, wire.bth + kMad + kAttribute, 2),
                            own = number_at(bytes, wire.bth + kMad + kMessage, 4),
                            others = number_at(bytes, wire.bth + kMad + kMessage + 4, 4);
        if (attribute == 0x10 && wire.to == to) asked.try_emplace({wire.from, own}, wire.time, wire.from);
        if (const auto one = asked.find({wire.to, others}); attribute == 0x12 && one != asked.end())
            one->second.refused = true;
    }
    std::set<std::string> from;
    std::uint64_t refused = 0;
    std::int64_t first = INT64_MAX, last = 0;
    for (const auto& [id, one] : asked) {
        from.insert(one.from);
        refused += one.refused ? 1U : 0U;
        first = std::min(first, one.time), last = std::max(last, one.time);
    }
    if (const auto host = hearing.word("host"))
        hearing.expect(from == std::set<std::string>{*host}, "others asked, too");
    else hearing.equal_fact("asking_hosts", static_cast<double>(from.size()));
    hearing.equal_fact("requests_sent", static_cast<double>(asked.size()));
    hearing.equal_fact("useless_requests", static_cast<double>(refused));
    hearing.expect(hearing.flag("all_useless") == (refused == asked.size()), "some led to a connection, or none did");
    hearing.equal_fact("span_ns", static_cast<double>(last - first));
}

// Storage: hosts by pair.

using Pairs = std::set<std::pair<std::string, std::string>>;

void one_of(Hearing& hearing, const Pairs& pairs) {
    const std::string from = hearing.word("host").value_or(""), to = hearing.word("peer").value_or("");
    const auto more = hearing.number("more_pairs");
    if (hearing.wires().empty()) return;  // over TCP, whose messages the court does not put together
    hearing.expect(pairs.contains({from, to}), "not between these two");
    hearing.expect(more.value_or(0) + 1 == static_cast<double>(pairs.size()),
                   fmt::format("there are {} pairs", pairs.size()));
    hearing.equal("pairs", hearing.claim().count, pairs.size());
}

// Connect: fabrics command type 1; of its completion bytes 2 and 3 say what the subsystem requires.
void nvme_unauthenticated(Hearing& hearing) {
    constexpr std::size_t kCompletion = 16, kCommand = 64;
    std::map<std::pair<std::string, std::string>, std::uint32_t> connects;  // command ID of the last one
    Pairs pairs;
    for (const Sent& sent : sent_messages(hearing)) {
        const Octets& bytes = sent.bytes;
        if (bytes.size() >= kCommand && bytes[0] == 0x7f && bytes[4] == 1)
            connects[{sent.from, sent.to}] = number_at(bytes, 2, 2);
        const auto asked = connects.find({sent.to, sent.from});
        if (bytes.size() != kCompletion || asked == connects.end() || number_at(bytes, 12, 2) != asked->second)
            continue;
        if (number_at(bytes, 2, 2) == 0 && (number_at(bytes, 14, 2) & 0xfeffU) == 0) pairs.insert(asked->first);
        connects.erase(asked);
    }
    one_of(hearing, pairs);
}

// A call of NFS with credentials of flavor 1; which procedures are in a compound the court does not know.
void nfs_auth_sys(Hearing& hearing) {
    Pairs pairs;
    for (const Sent& sent : sent_messages(hearing))
        for (std::size_t at = 0; at + 24 <= sent.bytes.size() && at < 256; at += 4)
            if (number_at(sent.bytes, at, 4) == 0 && number_at(sent.bytes, at + 4, 4) == 2 &&
                number_at(sent.bytes, at + 8, 4) == 100003 && number_at(sent.bytes, at + 20, 4) == 1)
                pairs.insert({sent.from, sent.to});
    one_of(hearing, pairs);
}

constexpr std::array kSecurityJudges{
    Judge{"keys-tried", keys_tried},
    Judge{"queue-pairs-tried", queue_pairs_tried},
    Judge{"psn-conflict", psn_conflict},
    Judge{"cnp-unexpected-source", cnp_unexpected_source},
    Judge{"address-conflict", address_conflict},
    Judge{"cm-request-flood", request_flood},
    Judge{"nvme-unauthenticated", nvme_unauthenticated},
    Judge{"nfs-auth-sys", nfs_auth_sys},
};

}  // namespace

std::span<const Judge> security_judges() { return kSecurityJudges; }

}  // namespace qps::court
