// Judges of Ultra Ethernet: what came again by its sender's own flag, NACKs and return codes by their numbers, trimmed
// packets by their lengths, and paths by their entropy (UEC Specification 1.0).
#include <tests/court/context.hpp>
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace qps::court {

namespace {

// 0 where it does not say so.
std::uint64_t amount(Hearing& hearing, const std::string& name) {
    return static_cast<std::uint64_t>(hearing.number(name).value_or(0));
}

// Both ways between the two ends of the finding, of the contexts that it names.
struct Talk {
    std::string from, to;
    std::vector<Delivery> all;
};
Talk talk_of(Hearing& hearing) {
    const ClaimedEnd mine = hearing.end("sender").value_or(ClaimedEnd{}),
                     theirs = hearing.end("receiver").value_or(ClaimedEnd{});
    Talk talk{mine.address, theirs.address, {}};
    for (Delivery& one : read_deliveries(hearing.recording())) {
        const bool there = one.from == talk.from && one.to == talk.to,
                   back = one.from == talk.to && one.to == talk.from;
        if (!there && !back) continue;
        const auto fits = [](std::optional<std::uint32_t> known, std::uint32_t named) {
            return !known || named == 0 || *known == named;
        };
        if (fits(there ? mine.qp : theirs.qp, one.source) && fits(there ? theirs.qp : mine.qp, one.target))
            talk.all.push_back(std::move(one));
    }
    if (talk.all.empty()) hearing.object(fmt::format("nothing passed between {} and {}", talk.from, talk.to));
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
        hearing.expect(std::ranges::count(hearing.claim().frames, frames[i]) != 0,
                       fmt::format("frame {} is not in its evidence", frames[i]));
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
            sent[one.psn] = {.entropy = one.entropy,
                             .time = one.time,
                             .once = !one.again(),
                             .trimmed = one.trimmed,
                             .acknowledged = done};
        } else if (one.from == talk.to && one.nack()) {
            if (const auto found = sent.find(one.psn); found != sent.end() && !found->second.acknowledged)
                found->second.nack = one.code;
        } else if (one.from == talk.to && one.ack()) {
            if (const auto named = sent.find(one.answered);
                one.names_packet() && named != sent.end() && !named->second.acknowledged) {
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
                packet.acknowledged |=
                    static_cast<std::int32_t>(psn - one.psn) <= 0 || (place < 64 && (one.sack >> place & 1U) != 0);
            }
        }
    }
    return sums;
}

void retransmitted(Hearing& hearing) {
    const Talk talk = talk_of(hearing);
    const Sums sums = sums_of(talk);
    hearing.equal_fact("retransmitted", static_cast<double>(sums.again));
    hearing.equal_fact("all_packets", static_cast<double>(sums.requests));
    const auto part = [&](const std::string& name, std::uint64_t shown) {
        hearing.equal(name, amount(hearing, name), shown);
    };
    part("after_trimming", sums.trimming);
    part("after_other_nack", sums.other_nack);
    part("already_acknowledged", sums.acknowledged);
    part("first_unseen", sums.unseen);
    expect_evidence(hearing, frames_of(talk.all, [&](const Delivery& one) {
                        return one.from == talk.from && one.request() && one.again();
                    }));
}

constexpr std::array<std::string_view, 27> kNackNames{"",
                                                      "TRIMMED",
                                                      "TRIMMED_LASTHOP",
                                                      "TRIMMED_ACK",
                                                      "NO_PDC_AVAIL",
                                                      "NO_CCC_AVAIL",
                                                      "NO_BITMAP",
                                                      "NO_PKT_BUFFER",
                                                      "NO_GTD_DEL_AVAIL",
                                                      "NO_SES_MSG_AVAIL",
                                                      "NO_RESOURCE",
                                                      "PSN_OOR_WINDOW",
                                                      "",
                                                      "ROD_OOO",
                                                      "INV_DPDCID",
                                                      "PDC_HDR_MISMATCH",
                                                      "CLOSING",
                                                      "CLOSING_IN_ERR",
                                                      "PKT_NOT_RCVD",
                                                      "GTD_RESP_UNAVAIL",
                                                      "ACK_WITH_DATA",
                                                      "INVALID_SYN",
                                                      "PDC_MODE_MISMATCH",
                                                      "NEW_START_PSN",
                                                      "RCVD_SES_PROCG",
                                                      "UNEXP_EVENT",
                                                      "RCVR_INFER_LOSS"};

void nacked(Hearing& hearing) {
    const Talk talk = talk_of(hearing);
    const std::uint64_t code = amount(hearing, "nack_code");
    const std::string_view name = code < kNackNames.size() ? kNackNames[code] : "";
    hearing.expect(hearing.word("nack_name") == (name.empty() ? fmt::format("{:#04x}", code) : std::string(name)),
                   "the NACK has another name");
    const auto nacks =
        frames_of(talk.all, [&](const Delivery& one) { return one.from == talk.to && one.nack() && one.code == code; });
    hearing.equal_fact("packets", static_cast<double>(nacks.size()));
    expect_evidence(hearing, nacks);
    if (!hearing.flag("nothing_after_nack") || nacks.empty()) return;
    for (const Delivery& one : talk.all)
        hearing.expect(one.from != talk.to || !one.ack() || one.frame < nacks.front(),
                       fmt::format("frame {} acknowledges after it", one.frame));
}

void trimmed(Hearing& hearing) {
    const Talk talk = talk_of(hearing);
    const auto cut =
        frames_of(talk.all, [&](const Delivery& one) { return one.from == talk.from && one.request() && one.trimmed; });
    const auto nacks = frames_of(talk.all, [&](const Delivery& one) {
        return one.from == talk.to && one.nack() && one.code >= 1 && one.code <= 3;
    });
    const auto last =
        frames_of(talk.all, [&](const Delivery& one) { return one.from == talk.to && one.nack() && one.code == 2; });
    hearing.expect(!cut.empty() || !nacks.empty(), "nothing was trimmed");
    hearing.equal("trimmed packets", amount(hearing, "trimmed"), cut.size());
    hearing.equal("reports", amount(hearing, "reported_trimmed"), nacks.size());
    hearing.equal("reports of the last hop", amount(hearing, "trimmed_at_last_hop"), last.size());
    hearing.expect(hearing.flag("all_at_last_hop") == (!last.empty() && last.size() == nacks.size()),
                   "not all of it was at the last hop, or all of it");
}

void path_loss(Hearing& hearing) {
    const Sums sums = sums_of(talk_of(hearing));
    std::uint64_t resent = 0, packets = 0;
    for (const auto& [entropy, path] : sums.paths) {
        resent += path.resent;
        packets += path.packets;
    }
    const auto path = sums.paths.find(static_cast<std::uint32_t>(amount(hearing, "entropy")));
    if (path == sums.paths.end()) return hearing.object("no packet had that entropy");
    hearing.equal_fact("path_retransmitted", static_cast<double>(path->second.resent));
    hearing.equal_fact("retransmitted", static_cast<double>(resent));
    constexpr double kDigits = 1e-5;  // JSON has six of a share
    const double share = static_cast<double>(path->second.packets) / static_cast<double>(packets);
    const double said = hearing.number("path_share").value_or(0);
    hearing.expect(said >= share * (1 - kDigits) && said <= share * (1 + kDigits),
                   fmt::format("says a share of {}, and the packets show {}", said, share));
}

void path_slow(Hearing& hearing) {
    const Sums sums = sums_of(talk_of(hearing));
    const auto own = static_cast<std::uint32_t>(amount(hearing, "entropy"));
    std::int64_t sum = 0, samples = 0;
    for (const auto& [entropy, path] : sums.paths) {
        if (entropy == own) continue;
        sum += path.sum;
        samples += static_cast<std::int64_t>(path.samples);
    }
    const auto path = sums.paths.find(own);
    if (path == sums.paths.end() || samples == 0) return hearing.object("no packet had that entropy, or none another");
    hearing.equal_fact("soonest_ack_ns", static_cast<double>(path->second.least));
    hearing.equal_fact("other_paths_ack_ns", static_cast<double>(sum / samples));  // whole ns
}

constexpr std::array<std::string_view, 7> kViolations{"PERM_VIOLATION", "OP_VIOLATION", "BAD_INDEX", "BAD_PID",
                                                      "BAD_JOB_ID",     "BAD_MKEY",     "BAD_ADDR"};
constexpr std::uint32_t kFirstViolation = 0x17;

void rejected(Hearing& hearing) {
    const Talk talk = talk_of(hearing);
    const std::uint64_t code = amount(hearing, "return_code");
    if (code < kFirstViolation || code >= kFirstViolation + kViolations.size())
        return hearing.object("the court does not know that return code");
    hearing.expect(hearing.word("return_code_name") == kViolations[code - kFirstViolation],
                   "the return code has another name");
    const auto answers =
        frames_of(talk.all, [&](const Delivery& one) { return one.from == talk.to && one.return_code == code; });
    hearing.equal_fact("requests_refused", static_cast<double>(answers.size()));
    expect_evidence(hearing, answers);
}

constexpr std::array kUltraEthernetJudges{
    Judge{"uet-retransmitted", retransmitted}, Judge{"uet-nack", nacked},         Judge{"uet-trimmed", trimmed},
    Judge{"uet-path-loss", path_loss},         Judge{"uet-path-slow", path_slow}, Judge{"uet-refused", rejected},
};

}  // namespace

std::span<const Judge> ultra_ethernet_judges() { return kUltraEthernetJudges; }

}  // namespace qps::court
