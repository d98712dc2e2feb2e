// Judges of what the capture itself lacks, doubles or cuts, and of how hosts are set up.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace qps::court {

namespace {

// What the program calls truncated: fewer bytes than were on the wire.
void capture_truncated(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kNumber + " of " + kNumber + " packets? (?:was|were) truncated by the capture");
    if (!said) return;
    std::uint64_t cut = 0;
    std::uint32_t shortest = 0;
    for (const Record& record : hearing.recording().records) {
        if (record.bytes.size() >= record.wire) continue;
        if (cut++ == 0 || record.wire < shortest) shortest = record.wire;
    }
    hearing.equal("truncated packets", count_of((*said)[1]).value_or(0), cut);
    hearing.equal("packets", count_of((*said)[2]).value_or(0), hearing.recording().records.size());
    if (const auto least = hearing.take("the shortest " + kNumber + " bytes long on the wire"))
        hearing.equal("bytes of the shortest", count_of((*least)[1]).value_or(0), shortest);
    if (const auto blind = hearing.take(kNumber + " of them lack the transport header"))
        hearing.at_most("without header", count_of((*blind)[1]).value_or(0), cut);
    if (const auto mute = hearing.take(kNumber + " answers? cannot be read")) {
        // What has its BTH, and not the syndrome that its opcode promises; or a READ whose length is not there.
        const auto unread = std::ranges::count_if(hearing.wires(), [](const Wire& wire) {
            return (wire.answer() && !wire.syndrome && wire.operation() != 14) || (wire.read_request() && !wire.reth);
        });
        hearing.at_most("answers that cannot be read", count_of((*mute)[1]).value_or(0), static_cast<std::uint64_t>(unread));
    }
}

void one_way_capture(Hearing& hearing) {
    const auto said =
        hearing.must_say("^Only one direction of " + kNumber +
                         " pairs? of hosts (?:was captured|is in this capture), such as (.+?) to (.+?) \\(" + kNumber + " packets?\\)");
    if (!said) return;
    std::map<std::pair<std::string, std::string>, std::uint64_t> sent;
    for (const Wire& wire : hearing.wires()) ++sent[{wire.from, wire.to}];
    std::uint64_t one_way = 0;
    for (const auto& [pair, packets] : sent) one_way += sent.contains({pair.second, pair.first}) ? 0U : 1U;
    hearing.at_most("pairs of hosts", count_of((*said)[1]).value_or(0), one_way);
    const auto example = sent.find({(*said)[2], (*said)[3]});
    if (example == sent.end()) return hearing.object("no packet goes from " + (*said)[2] + " to " + (*said)[3]);
    hearing.at_most("packets", count_of((*said)[4]).value_or(0), example->second);
    hearing.expect(!sent.contains({(*said)[3], (*said)[2]}), "packets of the other direction are in the capture");
}

void link_local_gid(Hearing& hearing) {
    const auto example = hearing.list("example_hosts");
    hearing.expect(example.size() == 2 && (example[0].starts_with("fe80:") || example[1].starts_with("fe80:")), "its example is not link-local");
    std::set<std::pair<std::string, std::uint32_t>> pairs;
    for (const Wire& wire : hearing.wires())
        if (wire.from.starts_with("fe80:") && !wire.management()) pairs.insert({wire.to, wire.to_qp});
    hearing.at_most_fact("connections", static_cast<double>(pairs.size()));
    for (const std::size_t frame : hearing.claim().frames) {
        const Wire* wire = hearing.wire(frame);
        hearing.expect(wire != nullptr && (wire->from.starts_with("fe80:") || wire->to.starts_with("fe80:")),
                       fmt::format("frame {} is not link-local", frame));
    }
    if (hearing.number("unanswered_connections")) hearing.at_most_fact("unanswered_connections", static_cast<double>(pairs.size()));
}

// Packets of which an equal one was recorded before, links, hops and checksums aside; and how long before, in ns.
std::vector<std::int64_t> copies_of(const Hearing& hearing) {
    std::map<Octets, std::int64_t> seen;
    std::vector<std::int64_t> apart;
    for (const Wire& wire : hearing.wires()) {
        const Octets& all = hearing.recording().records[wire.frame - 1].bytes;
        const auto [first, is_new] = seen.emplace(Octets(all.begin() + static_cast<std::ptrdiff_t>(wire.bth), all.end()), wire.time);
        if (!is_new) apart.push_back(wire.time - first->second);
    }
    std::ranges::sort(apart);
    return apart;
}

void taps(Hearing& hearing, const Groups& said) {
    const auto apart = copies_of(hearing);
    std::set<std::pair<std::string, std::string>> pairs;
    for (const Wire& wire : hearing.wires()) pairs.insert(std::minmax(wire.from, wire.to));
    hearing.equal("taps", count_of(said[1]).value_or(0), 2);
    hearing.at_most("pairs of hosts", count_of(said[2]).value_or(0), pairs.size());
    hearing.at_most("packets of the other tap", count_of(said[3]).value_or(0), apart.size());
    hearing.equal("packets", count_of(said[4]).value_or(0), hearing.recording().records.size());
    if (apart.empty()) return;
    // Some copy is as late or early, but for what the analyser takes off where both ways were recorded.
    const auto times = hearing.take("(?:which recorded them|the second one) (?:at the same times within )?" + kQuantity + "(?: later| earlier)?");
    const auto named = times ? quantity_of((*times)[1]) : std::nullopt;
    constexpr double kWay = 100'000;  // ns
    if (named) hearing.expect(named->least - kWay <= static_cast<double>(apart.back()), "no copy is as late or early as that");
    (void)hearing.take("drift " + kQuantity);
}

void capture_duplicates(Hearing& hearing) {
    if (const auto said = hearing.take("^(?:At least )?(\\d+) taps(?:, each with a file or an interface of its own,)? recorded the same packets of " + kNumber +
                                       " pairs? of hosts: " + kNumber + " of " + kNumber + " packets? are of the other ones?"))
        return taps(hearing, *said);
    const auto said = hearing.must_say("^" + kNumber + " of " + kNumber + " packets? were recorded more than once");
    if (!said) return;
    const auto apart = copies_of(hearing);
    const std::uint64_t copies = count_of((*said)[1]).value_or(0);
    hearing.at_most("copies", copies, apart.size());
    hearing.equal("packets", count_of((*said)[2]).value_or(0), hearing.recording().records.size());
    if (const auto by = hearing.take("\\(" + kNumber + " by another tap, " + kNumber + " by the same\\)"))
        hearing.equal("copies of both kinds", count_of((*by)[1]).value_or(0) + count_of((*by)[2]).value_or(0), copies);
    if (hearing.take("with the same timestamps")) return hearing.expect(apart.empty() || apart.back() == 0, "copies have other times");
    const auto distance = hearing.take(kQuantity + " to " + kQuantity + " apart");
    if (!distance || apart.empty()) return;
    hearing.equal("apart at most", (*distance)[2], static_cast<double>(apart.back()));
    hearing.equal("apart at least", (*distance)[1], static_cast<double>(apart.front()));
}

// Some request was recorded so long after an answer to it or to a later one; of these there are at least as many as it counts.
void clock_offset(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kNumber + " answers? of " + kNumber + " connections? (?:was|were) captured before (?:its request|their requests), by up to " +
                                       kQuantity);
    if (!said) return;
    constexpr std::int64_t kPatience = 5'000'000;  // ns
    const std::vector<Wire>& wires = hearing.wires();
    std::set<std::pair<std::string, std::uint32_t>> asked_by;
    std::set<std::int64_t> apart;
    std::uint64_t early = 0;
    for (std::size_t i = 0; i < wires.size(); ++i) {
        const Wire& answer = wires[i];
        if (!answer.answer()) continue;
        bool is_early = false;
        for (std::size_t k = i + 1; k < wires.size() && wires[k].time - answer.time <= kPatience; ++k) {
            const Wire& request = wires[k];
            if (!request.request() || request.from != answer.to || request.to != answer.from || request.time == answer.time) continue;
            if (psn_distance(request.psn, answer.psn) < 0) continue;
            is_early = true;
            if (request.psn == answer.psn) apart.insert(request.time - answer.time);
        }
        early += is_early ? 1U : 0U;
        if (is_early) asked_by.emplace(answer.to, answer.to_qp);
    }
    hearing.at_most("answers", count_of((*said)[1]).value_or(0), early);
    const auto named = quantity_of((*said)[3]);
    hearing.expect(named && std::ranges::any_of(apart, [&](std::int64_t by) { return named->has(static_cast<double>(by)); }),
                   "no request was recorded so long after an answer");
    hearing.at_most("connections", count_of((*said)[2]).value_or(0), asked_by.size());
}

void clock_backwards(Hearing& hearing) {
    const auto said = hearing.must_say("^Timestamps go backwards " + kTimes + ", by up to " + kQuantity);
    if (!said) return;
    std::uint64_t steps = 0;
    std::int64_t most = 0;
    const auto& records = hearing.recording().records;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const std::int64_t back = records[i - 1].time - records[i].time;
        steps += back > 0 ? 1U : 0U;
        most = std::max(most, back);
    }
    hearing.at_most("steps back", count_of((*said)[1]).value_or(0), steps);
    hearing.equal("at most", (*said)[2], static_cast<double>(most));
}

// PSNs of requests and of READ responses that were jumped over: no more can have been sent and not recorded, but at the beginning and
// the end. A READ takes at least as many PSNs as its data has packets at the largest path MTU; those are not missing.
struct Skipped {
    std::uint64_t psns = 0;
    std::uint64_t flows = 0;
};
Skipped skipped_psns(const Hearing& hearing) {
    constexpr std::uint32_t kLargestMtu = 4096;
    struct Stream {
        std::optional<std::uint32_t> highest;
        std::uint32_t of_reads = 0;
        std::uint64_t skipped = 0;
    };
    std::map<std::tuple<std::string, std::string, std::uint32_t, bool>, Stream> streams;
    for (const Wire& wire : hearing.wires()) {
        if (!wire.request() && !wire.read_response() && wire.service() != 1) continue;  // UC has requests alone
        Stream& stream = streams[{wire.from, wire.to, wire.to_qp, wire.answer()}];
        const std::int32_t step = stream.highest ? psn_distance(*stream.highest, wire.psn) : 1;
        if (step <= 0) continue;
        const auto jumped = static_cast<std::uint32_t>(step - 1);
        stream.skipped += jumped - std::min(jumped, stream.of_reads);
        stream.highest = wire.psn;
        stream.of_reads = wire.read_request() && wire.reth && wire.reth->length > 0 ? (wire.reth->length - 1) / kLargestMtu : 0;
    }
    Skipped skipped;
    for (const auto& [key, stream] : streams) {
        skipped.psns += stream.skipped;
        skipped.flows += stream.skipped != 0 ? 1U : 0U;
    }
    return skipped;
}

void capture_lost_packets(Hearing& hearing) {
    if (hearing.claim().sentence.starts_with("The capturing program reports")) return hearing.object("the court gave it no count of drops");
    const auto said = hearing.must_say("^The capture lacks " + kNumber + " packets? of " + kNumber + " connections?");
    if (!said) return;
    const Skipped skipped = skipped_psns(hearing);
    hearing.at_most("packets", count_of((*said)[1]).value_or(0), skipped.psns);
    hearing.at_most("connections", count_of((*said)[2]).value_or(0), skipped.flows);
}
void gaps_unexplained(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kNumber + " packets? of " + kNumber + " connections? (?:is|are) missing");
    if (!said) return;
    const Skipped skipped = skipped_psns(hearing);
    hearing.at_most("packets", count_of((*said)[1]).value_or(0), skipped.psns);
    hearing.at_most("connections", count_of((*said)[2]).value_or(0), skipped.flows);
}

void malformed(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kNumber + " of " + kNumber + " RDMA packets? (?:is|are) malformed");
    if (!said) return;
    hearing.at_most("malformed packets", count_of((*said)[1]).value_or(0), count_of((*said)[2]).value_or(0));
    hearing.at_most("packets", count_of((*said)[2]).value_or(0), hearing.recording().records.size());
    const auto different = hearing.take(kNumber + " of them different");
    if (!different) return;
    std::set<Octets> seen;  // from the transport header on
    for (const Wire& wire : hearing.wires()) {
        const Octets& all = hearing.recording().records[wire.frame - 1].bytes;
        seen.insert(Octets(all.begin() + static_cast<std::ptrdiff_t>(wire.bth), all.end()));
    }
    hearing.at_most("different ones", count_of((*different)[1]).value_or(0), seen.size());
}

// First fragments of datagrams to port 4791, of IPv4 right behind Ethernet.
void ip_fragments(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kNumber + " of " + kNumber + " RDMA packets? (?:is|are each) the first fragment of an IP datagram");
    if (!said) return;
    constexpr std::uint32_t kMoreAndOffset = 0x3fff, kMore = 0x2000;
    const auto first = [](const Record& record) {
        const Octets& bytes = record.bytes;
        return bytes.size() >= 54 && number_at(bytes, 12, 2) == 0x0800 && bytes[14] == 0x45 && bytes[23] == 17 &&
               (number_at(bytes, 20, 2) & kMoreAndOffset) == kMore && number_at(bytes, 36, 2) == 4791;
    };
    const auto& records = hearing.recording().records;
    hearing.equal("fragments", count_of((*said)[1]).value_or(0), static_cast<std::uint64_t>(std::ranges::count_if(records, first)));
    hearing.at_most("packets", count_of((*said)[2]).value_or(0), records.size());
}

constexpr std::array kCaptureJudges{
    Judge{"capture-truncated", capture_truncated},           Judge{"one-way-capture", one_way_capture},
    Judge{"link-local-gid", link_local_gid},     Judge{"capture-duplicates", capture_duplicates},
    Judge{"clock-offset", clock_offset},
    Judge{"clock-backwards", clock_backwards},   Judge{"capture-lost-packets", capture_lost_packets},
    Judge{"gaps-unexplained", gaps_unexplained}, Judge{"malformed-packets", malformed},
    Judge{"ip-fragments", ip_fragments},
};

}  // namespace

std::span<const Judge> capture_judges() { return kCaptureJudges; }

}  // namespace qps::court
