// Judges of who tries what he was not given, or says he is another: R_Keys, queue pairs, PSNs, CNPs, ARP, connection requests; and of storage
// without authentication.
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

std::uint64_t named_count(const std::string& words) { return count_of(words).value_or(0); }

// Requests with an R_Key of one host to another, each with the NAK that refused it: the next to the same PSN, of the other.
void keys_tried(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " tried " + kNumber + " different R_Keys on " + kHost + " one after the other, within " + kQuantity +
                                       ", and " + kHost + " refused each \\(remote access error\\)\\.$");
    if (!said) return;
    std::set<std::uint32_t> keys;
    std::int64_t first = 0, last = 0;
    std::size_t last_nak = 0;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from != (*said)[1] || wire.to != (*said)[3] || !wire.reth || !wire.request() || wire.frame <= last_nak) continue;
        const auto refuses = [&](const Wire& answer) {
            return answer.frame > wire.frame && answer.from == wire.to && answer.to == wire.from && answer.psn == wire.psn && answer.nak(kRemoteAccessError);
        };
        const auto nak = std::ranges::find_if(hearing.wires(), refuses);
        if (nak == hearing.wires().end() || !keys.insert(wire.reth->key).second) continue;
        if (keys.size() == 1) first = wire.time;
        last = nak->time;
        last_nak = nak->frame;
    }
    hearing.equal("R_Keys", named_count((*said)[2]), keys.size());
    hearing.equal("time", (*said)[4], static_cast<double>(last - first));
    hearing.expect((*said)[5] == (*said)[3], "another one refused");
    hearing.expect(keys.size() >= 8, "too few");
    hearing.expect(hearing.claim().party == "requester", "blames another");
}

void queue_pairs_tried(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " sent requests to " + kNumber + " queue pairs of " + kHost + " one after the other, within " + kQuantity +
                                       " \\(numbers (\\d+) to (\\d+)\\), and no answer of theirs was read\\.$");
    if (!said) return;
    std::set<std::uint32_t> answered;  // PSNs
    bool heard = false;
    for (const Wire& wire : hearing.wires())
        if (wire.from == (*said)[3] && wire.to == (*said)[1]) answered.insert(wire.psn), heard = true;
    std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> tried;  // first and last packet
    for (const Wire& wire : hearing.wires()) {
        if (wire.from != (*said)[1] || wire.to != (*said)[3] || !wire.request() || answered.contains(wire.psn)) continue;
        tried.try_emplace(wire.to_qp, wire.time, wire.time).first->second.second = wire.time;
    }
    const std::int64_t end = hearing.recording().records.back().time;
    std::erase_if(tried, [&](const auto& one) { return end - one.second.first < kAnswerDue; });
    if (tried.empty()) return hearing.object("every request was answered, or its answer was not due");
    std::int64_t first = INT64_MAX, last = 0;
    for (const auto& [qp, times] : tried) first = std::min(first, times.first), last = std::max(last, times.second);
    hearing.equal("queue pairs", named_count((*said)[2]), tried.size());
    hearing.equal("time", (*said)[4], static_cast<double>(last - first));
    hearing.equal("least number", named_count((*said)[5]), tried.begin()->first);
    hearing.equal("greatest number", named_count((*said)[6]), tried.rbegin()->first);
    hearing.expect(heard, "the tap may not hear its answers");
    hearing.expect(hearing.claim().party == "undecided", "blames somebody");
}

void psn_conflict(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kTimes + " the PSNs of " + kHost + " to " + kHost + kQp + " left their sequence by more than 262,144 and came back to it "
                                       "within a second: packets of two senders, or recordings by two clocks\\.$");
    if (!said) return;
    std::uint64_t returns = 0;
    const Wire *before = nullptr, *away = nullptr;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from != (*said)[2] || wire.to != (*said)[3] || !wire.request()) continue;
        if (!(*said)[4].empty() && wire.to_qp != named_count((*said)[4])) continue;
        if (before != nullptr && away == nullptr && std::abs(psn_distance(before->psn, wire.psn)) > 262'144) {
            away = &wire;
            continue;
        }
        if (away != nullptr && std::abs(psn_distance(before->psn, wire.psn)) <= 4096) ++returns, away = nullptr;
        if (away == nullptr) before = &wire;
    }
    hearing.equal("returns", named_count((*said)[1]), returns);
    hearing.expect(hearing.claim().party == "undecided", "blames somebody");
}

void cnp_unexpected_source(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " sent " + kNumber + " CNPs? to " + kHost + " QP (\\d+), which was connected with " + kHost +
                                       " meanwhile: its CNPs come from there\\.$");
    if (!said) return;
    std::uint64_t cnps = 0, talks = 0;
    for (const Wire& wire : hearing.wires()) {
        if (wire.to != (*said)[3] || wire.to_qp != named_count((*said)[4])) continue;
        if (wire.cnp()) cnps += wire.from == (*said)[1] ? 1U : 0U;
        else if (hearing.expect(wire.from != (*said)[1], "it is connected with who sent them"); wire.from == (*said)[5]) ++talks;
    }
    hearing.equal("CNPs", named_count((*said)[2]), cnps);
    hearing.expect(talks >= 3, "it is not connected with that one");
}

void address_conflict(Hearing& hearing) {
    const std::string host = hearing.word("host").value_or(""), one = hearing.word("first_mac").value_or(""), other = hearing.word("second_mac").value_or("");
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
            return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3], bytes[at + 4], bytes[at + 5]);
        };
        const std::string mac = mac_text(22);
        hearing.expect(mac == one || mac == other, "a third one answered");
        Last& last = by_asker[mac_text(32)];
        const bool same = !last.mac.empty() && last.mac != mac && record.time - last.time <= 200'000'000;
        both += same ? 1U : 0U;
        last = {same ? "" : mac, record.time};
    }
    hearing.equal_fact("neighbour_requests", static_cast<double>(both));
    hearing.expect(std::ranges::any_of(hearing.wires(), [&](const Wire& wire) { return wire.from == host || wire.to == host; }), "it is no RoCE peer");
}

// REQs by the ID of who asked, with whether a REJ came; the second in which most were.
void request_flood(Hearing& hearing) {
    const auto said = hearing.must_say("^(?:" + kHost + "|" + kNumber + " hosts?) sent " + kNumber + " connection requests? to " + kHost + " within " + kQuantity +
                                       ", and (?:none of them led to a connection|" + kNumber + " of them led to no connection)\\.$");
    if (!said) return;
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
        const std::uint32_t attribute = number_at(bytes, wire.bth + kMad + kAttribute, 2), own = number_at(bytes, wire.bth + kMad + kMessage, 4),
                            others = number_at(bytes, wire.bth + kMad + kMessage + 4, 4);
        if (attribute == 0x10 && wire.to == (*said)[4]) asked.try_emplace({wire.from, own}, wire.time, wire.from);
        if (const auto one = asked.find({wire.to, others}); attribute == 0x12 && one != asked.end()) one->second.refused = true;
    }
    std::set<std::string> from;
    std::uint64_t refused = 0;
    std::int64_t first = INT64_MAX, last = 0;
    for (const auto& [id, one] : asked) {
        from.insert(one.from);
        refused += one.refused ? 1U : 0U;
        first = std::min(first, one.time), last = std::max(last, one.time);
    }
    if ((*said)[1].empty()) hearing.equal("hosts", named_count((*said)[2]), from.size());
    else hearing.expect(from == std::set<std::string>{(*said)[1]}, "others asked, too");
    hearing.equal("requests", named_count((*said)[3]), asked.size());
    hearing.equal("refused", named_count((*said)[(*said)[6].empty() ? 3 : 6]), refused);
    hearing.equal("time", (*said)[5], static_cast<double>(last - first));
}

// Storage: hosts by pair.

using Pairs = std::set<std::pair<std::string, std::string>>;

void one_of(Hearing& hearing, const Groups& said, const Pairs& pairs) {
    if (hearing.wires().empty()) return;  // over TCP, whose messages the court does not put together
    hearing.expect(pairs.contains({said[1], said[2]}), "not between these two");
    hearing.equal("more pairs", named_count(said[3]), pairs.empty() ? 0 : pairs.size() - 1);
    hearing.equal("pairs", hearing.claim().count, pairs.size());
}
inline const std::string kMorePairs = "(?: \\(and " + kNumber + " more pairs? of hosts\\))?\\.$";

// Connect: fabrics command type 1; of its completion bytes 2 and 3 say what the subsystem requires.
void nvme_unauthenticated(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " connected without DH-HMAC-CHAP to the NVMe subsystem of " + kHost + kMorePairs);
    if (!said) return;
    constexpr std::size_t kCompletion = 16, kCommand = 64;
    std::map<std::pair<std::string, std::string>, std::uint32_t> connects;  // command ID of the last one
    Pairs pairs;
    for (const Sent& sent : sent_messages(hearing)) {
        const Octets& bytes = sent.bytes;
        if (bytes.size() >= kCommand && bytes[0] == 0x7f && bytes[4] == 1) connects[{sent.from, sent.to}] = number_at(bytes, 2, 2);
        const auto asked = connects.find({sent.to, sent.from});
        if (bytes.size() != kCompletion || asked == connects.end() || number_at(bytes, 12, 2) != asked->second) continue;
        if (number_at(bytes, 2, 2) == 0 && (number_at(bytes, 14, 2) & 0xfeffU) == 0) pairs.insert(asked->first);
        connects.erase(asked);
    }
    one_of(hearing, *said, pairs);
}

// A call of NFS with credentials of flavor 1; which procedures are in a compound the court does not know.
void nfs_auth_sys(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " asked with AUTH_SYS for data of the NFS server " + kHost + kMorePairs);
    if (!said) return;
    Pairs pairs;
    for (const Sent& sent : sent_messages(hearing))
        for (std::size_t at = 0; at + 24 <= sent.bytes.size() && at < 256; at += 4)
            if (number_at(sent.bytes, at, 4) == 0 && number_at(sent.bytes, at + 4, 4) == 2 && number_at(sent.bytes, at + 8, 4) == 100003 &&
                number_at(sent.bytes, at + 20, 4) == 1)
                pairs.insert({sent.from, sent.to});
    one_of(hearing, *said, pairs);
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
