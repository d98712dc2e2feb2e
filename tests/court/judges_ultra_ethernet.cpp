// Judges of Ultra Ethernet: what came again by its sender's own flag, NACKs and return codes by their numbers, trimmed packets by their
// lengths, and paths by their entropy (UEC Specification 1.0).
#include <tests/court/context.hpp>
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace qps::court {

namespace {

std::uint64_t amount(const std::string& words) { return count_of(words).value_or(0); }

// Both ways between the two ends of the finding, whose contexts are those that it names.
struct Talk {
    std::string from, to;
    std::vector<Delivery> all;
};
Talk talk_of(Hearing& hearing, const std::string& from, const std::string& to) {
    Talk talk{from, to, {}};
    std::optional<std::uint32_t> mine, theirs;
    if (const auto& ends = hearing.claim().ends)
        for (const ClaimedEnd& end : *ends) (end.address == from ? mine : theirs) = end.qp;
    for (Delivery& one : read_deliveries(hearing.recording())) {
        const bool there = one.from == from && one.to == to, back = one.from == to && one.to == from;
        if (!there && !back) continue;
        const auto fits = [](std::optional<std::uint32_t> known, std::uint32_t named) { return !known || named == 0 || *known == named; };
        if (fits(there ? mine : theirs, one.source) && fits(there ? theirs : mine, one.target)) talk.all.push_back(std::move(one));
    }
    if (talk.all.empty()) hearing.object(fmt::format("nothing passed between {} and {}", from, to));
    return talk;
}
std::vector<std::size_t> frames_of(const std::vector<Delivery>& all, const auto& fits) {
    std::vector<std::size_t> frames;
    for (const Delivery& one : all)
        if (fits(one)) frames.push_back(one.frame);
    return frames;
}
void expect_evidence(Hearing& hearing, const std::vector<std::size_t>& frames) {
    constexpr std::size_t kMost = 16;
    for (std::size_t i = 0; i < std::min(frames.size(), kMost); ++i)
        hearing.expect(std::ranges::count(hearing.claim().frames, frames[i]) != 0, fmt::format("frame {} is not in its evidence", frames[i]));
}

// What became of what one end sent.
struct PathSums {
    std::uint64_t packets = 0, resent = 0, samples = 0;
    std::int64_t sum = 0, least = INT64_MAX;
};
struct Sums {
    std::uint64_t requests = 0, again = 0, trimming = 0, other_nack = 0, acknowledged = 0, unseen = 0;
    std::map<std::uint32_t, PathSums> paths;
};
Sums sums_of(const Talk& talk) {
    struct Last {
        std::uint32_t entropy = 0, nack = 0;
        std::int64_t time = 0;
        bool once = true, trimmed = false, acknowledged = false;
    };
    Sums sums;
    std::map<std::uint32_t, Last> sent;
    for (const Delivery& one : talk.all) {
        if (one.from == talk.from && one.request()) {
            ++sums.paths[one.entropy].packets;
            const auto before = sent.find(one.psn);
            if (one.again() || before == sent.end()) ++sums.requests;  // else it is a copy
            if (one.again()) {
                ++sums.again;
                if (before == sent.end()) ++sums.unseen;
                else if (before->second.acknowledged) ++sums.acknowledged;
                else {
                    const std::uint32_t nack = before->second.nack;
                    ++sums.paths[before->second.entropy].resent;
                    if (nack >= 1 && nack <= 3) ++sums.trimming;
                    else if (nack != 0) ++sums.other_nack;
                }
            }
            const bool done = before != sent.end() && before->second.acknowledged;
            sent[one.psn] = {.entropy = one.entropy, .time = one.time, .once = !one.again(), .trimmed = one.trimmed, .acknowledged = done};
        } else if (one.from == talk.to && one.nack()) {
            if (const auto found = sent.find(one.psn); found != sent.end() && !found->second.acknowledged) found->second.nack = one.code;
        } else if (one.from == talk.to && one.ack()) {
            if (const auto named = sent.find(one.answered); one.names_packet() && named != sent.end() && !named->second.acknowledged) {
                if (named->second.once && !named->second.trimmed) {
                    PathSums& path = sums.paths[named->second.entropy];
                    const std::int64_t took = one.time - named->second.time;
                    ++path.samples;
                    path.sum += took;
                    path.least = std::min(path.least, took);
                }
                named->second.acknowledged = true;
            }
            for (auto& [psn, packet] : sent) {
                const std::uint32_t place = psn - one.sack_base;
                packet.acknowledged |= static_cast<std::int32_t>(psn - one.psn) <= 0 || (place < 64 && (one.sack >> place & 1U) != 0);
            }
        }
    }
    return sums;
}

void retransmitted(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " retransmitted " + kNumber + " of " + kNumber + " packets? to ([0-9.]+[0-9])");
    if (!said) return;
    const Talk talk = talk_of(hearing, (*said)[1], (*said)[4]);
    const Sums sums = sums_of(talk);
    hearing.equal("retransmissions", amount((*said)[2]), sums.again);
    hearing.equal("packets", amount((*said)[3]), sums.requests);
    const auto part = [&](const std::string& what, std::uint64_t shown) {
        const auto found = hearing.take("[:,] " + kNumber + " " + what);
        hearing.equal(what, found ? amount((*found)[1]) : 0, shown);
    };
    part("after a NACK for trimming", sums.trimming);
    part("after another NACK", sums.other_nack);
    part("already acknowledged", sums.acknowledged);
    part("whose first transmission is not in the capture", sums.unseen);
    expect_evidence(hearing, frames_of(talk.all, [&](const Delivery& one) { return one.from == talk.from && one.request() && one.again(); }));
}

constexpr std::array<std::string_view, 27> kNackNames{
    "",          "TRIMMED",        "TRIMMED_LASTHOP", "TRIMMED_ACK",       "NO_PDC_AVAIL",  "NO_CCC_AVAIL",      "NO_BITMAP",
    "NO_PKT_BUFFER", "NO_GTD_DEL_AVAIL", "NO_SES_MSG_AVAIL", "NO_RESOURCE", "PSN_OOR_WINDOW", "",                 "ROD_OOO",
    "INV_DPDCID", "PDC_HDR_MISMATCH", "CLOSING",        "CLOSING_IN_ERR",    "PKT_NOT_RCVD",  "GTD_RESP_UNAVAIL",  "ACK_WITH_DATA",
    "INVALID_SYN", "PDC_MODE_MISMATCH", "NEW_START_PSN", "RCVD_SES_PROCG",   "UNEXP_EVENT",   "RCVR_INFER_LOSS"};

void nacked(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " answered " + kNumber + " packets? of " + kHost + " with NACK ([A-Z_]+|0x[0-9a-f]+)");
    if (!said) return;
    const Talk talk = talk_of(hearing, (*said)[3], (*said)[1]);
    const std::string& name = (*said)[4];
    const auto found = std::ranges::find(kNackNames, name);
    const auto code = found != kNackNames.end() ? static_cast<std::uint32_t>(found - kNackNames.begin())
                                                : static_cast<std::uint32_t>(std::strtoul(name.c_str(), nullptr, 16));
    const auto nacks = frames_of(talk.all, [&](const Delivery& one) { return one.from == talk.to && one.nack() && one.code == code; });
    hearing.equal("NACKs", amount((*said)[2]), nacks.size());
    expect_evidence(hearing, nacks);
    if (!hearing.take(", and acknowledged nothing after it") || nacks.empty()) return;
    for (const Delivery& one : talk.all)
        hearing.expect(one.from != talk.to || !one.ack() || one.frame < nacks.front(), fmt::format("frame {} acknowledges after it", one.frame));
}

void trimmed(Hearing& hearing) {
    const auto seen = hearing.take("^Switches trimmed " + kNumber + " packets? from " + kHost + " to ([0-9.]+[0-9])");
    const auto reported = hearing.take(kHost + " reported " + kNumber + " packets? of " + kHost + " as trimmed(?: \\(" + kNumber + " at the last hop\\))?");
    if (!seen && !reported) return hearing.object("says nothing of trimming");
    const Talk talk = seen ? talk_of(hearing, (*seen)[2], (*seen)[3]) : talk_of(hearing, (*reported)[3], (*reported)[1]);
    const auto cut = frames_of(talk.all, [&](const Delivery& one) { return one.from == talk.from && one.request() && one.trimmed; });
    const auto nacks = frames_of(talk.all, [&](const Delivery& one) { return one.from == talk.to && one.nack() && one.code >= 1 && one.code <= 3; });
    const auto last = frames_of(talk.all, [&](const Delivery& one) { return one.from == talk.to && one.nack() && one.code == 2; });
    hearing.equal("trimmed packets", seen ? amount((*seen)[1]) : 0, cut.size());
    hearing.equal("reports", reported ? amount((*reported)[2]) : 0, nacks.size());
    hearing.equal("reports of the last hop", reported ? amount((*reported)[4]) : 0, last.size());
}

void path_loss(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kNumber + " of " + kNumber + " packets? that " + kHost + " retransmitted to " + kHost +
                                       " were first sent with entropy 0x([0-9a-f]+), which ([\\d.]+) % of all packets have");
    if (!said) return;
    const Sums sums = sums_of(talk_of(hearing, (*said)[3], (*said)[4]));
    std::uint64_t resent = 0, packets = 0;
    for (const auto& [entropy, path] : sums.paths) {
        resent += path.resent;
        packets += path.packets;
    }
    const auto path = sums.paths.find(static_cast<std::uint32_t>(std::strtoul((*said)[5].c_str(), nullptr, 16)));
    if (path == sums.paths.end()) return hearing.object("no packet had that entropy");
    hearing.equal("retransmissions of the path", amount((*said)[1]), path->second.resent);
    hearing.equal("retransmissions", amount((*said)[2]), resent);
    hearing.share((*said)[6], path->second.packets, packets);
}

void path_slow(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " acknowledged packets of " + kHost + " with entropy 0x([0-9a-f]+) after " + kQuantity +
                                       " at the soonest, those of other paths after " + kQuantity + " on average");
    if (!said) return;
    const Sums sums = sums_of(talk_of(hearing, (*said)[2], (*said)[1]));
    const auto own = static_cast<std::uint32_t>(std::strtoul((*said)[3].c_str(), nullptr, 16));
    std::int64_t sum = 0;
    std::uint64_t samples = 0;
    for (const auto& [entropy, path] : sums.paths) {
        if (entropy == own) continue;
        sum += path.sum;
        samples += path.samples;
    }
    const auto path = sums.paths.find(own);
    if (path == sums.paths.end() || samples == 0) return hearing.object("no packet had that entropy, or none another");
    hearing.equal("delay of the path", (*said)[4], static_cast<double>(path->second.least));
    hearing.equal("delay of others", (*said)[5], static_cast<double>(sum) / static_cast<double>(samples));
}

constexpr std::array<std::string_view, 7> kViolations{"PERM_VIOLATION", "OP_VIOLATION", "BAD_INDEX", "BAD_PID", "BAD_JOB_ID", "BAD_MKEY", "BAD_ADDR"};
constexpr std::uint32_t kFirstViolation = 0x17;

void rejected(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + " answered " + kNumber + " requests? of " + kHost + " with return code ([A-Z_]+|0x[0-9a-f]+)");
    if (!said) return;
    const Talk talk = talk_of(hearing, (*said)[3], (*said)[1]);
    const auto found = std::ranges::find(kViolations, (*said)[4]);
    if (found == kViolations.end()) return hearing.object("the court does not know that return code");
    const auto code = kFirstViolation + static_cast<std::uint32_t>(found - kViolations.begin());
    const auto answers = frames_of(talk.all, [&](const Delivery& one) { return one.from == talk.to && one.return_code == code; });
    hearing.equal("answers", amount((*said)[2]), answers.size());
    expect_evidence(hearing, answers);
}

constexpr std::array kUltraEthernetJudges{
    Judge{"uet-retransmitted", retransmitted}, Judge{"uet-nack", nacked},         Judge{"uet-trimmed", trimmed},
    Judge{"uet-path-loss", path_loss},         Judge{"uet-path-slow", path_slow}, Judge{"uet-refused", rejected},
};

}  // namespace

std::span<const Judge> ultra_ethernet_judges() { return kUltraEthernetJudges; }

}  // namespace qps::court
