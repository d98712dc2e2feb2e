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

bool says(const Hearing& hearing, const std::string& name) { return hearing.claim().facts.contains(name); }

// What the program calls truncated: fewer bytes than were on the wire.
void capture_truncated(Hearing& hearing) {
    std::uint64_t cut = 0;
    std::uint32_t shortest = 0;
    for (const Record& record : hearing.recording().records) {
        if (record.bytes.size() >= record.wire) continue;
        if (cut++ == 0 || record.wire < shortest) shortest = record.wire;
    }
    hearing.equal_fact("packets", static_cast<double>(cut));
    hearing.equal_fact("all_packets", static_cast<double>(hearing.recording().records.size()));
    hearing.equal_fact("shortest_truncated", shortest);
    if (says(hearing, "without_header")) hearing.at_most_fact("without_header", static_cast<double>(cut));
    if (!says(hearing, "unread_answers")) return;
    // What has its BTH, and not the syndrome that its opcode promises; or a READ whose length is not there.
    const auto unread = std::ranges::count_if(hearing.wires(), [](const Wire& wire) {
        return (wire.answer() && !wire.syndrome && wire.operation() != 14) || (wire.read_request() && !wire.reth);
    });
    hearing.at_most_fact("unread_answers", static_cast<double>(unread));
}

void one_way_capture(Hearing& hearing) {
    std::map<std::pair<std::string, std::string>, std::uint64_t> sent;
    for (const Wire& wire : hearing.wires()) ++sent[{wire.from, wire.to}];
    std::uint64_t one_way = 0;
    for (const auto& [pair, packets] : sent) one_way += sent.contains({pair.second, pair.first}) ? 0U : 1U;
    hearing.at_most_fact("host_pairs", static_cast<double>(one_way));
    const std::string from = hearing.word("from_host").value_or(""), to = hearing.word("to_host").value_or("");
    const auto example = sent.find({from, to});
    if (example == sent.end()) return hearing.object("no packet goes from " + from + " to " + to);
    hearing.at_most_fact("packets", static_cast<double>(example->second));
    hearing.expect(!sent.contains({to, from}), "packets of the other direction are in the capture");
}

void link_local_gid(Hearing& hearing) {
    const auto example = hearing.list("example_hosts");
    hearing.expect(example.size() == 2 && (example[0].starts_with("fe80:") || example[1].starts_with("fe80:")),
                   "its example is not link-local");
    std::set<std::pair<std::string, std::uint32_t>> pairs;
    for (const Wire& wire : hearing.wires())
        if (wire.from.starts_with("fe80:") && !wire.management()) pairs.insert({wire.to, wire.to_qp});
    hearing.at_most_fact("connections", static_cast<double>(pairs.size()));
    for (const std::size_t frame : hearing.claim().frames) {
        const Wire* wire = hearing.wire(frame);
        hearing.expect(wire != nullptr && (wire->from.starts_with("fe80:") || wire->to.starts_with("fe80:")),
                       fmt::format("frame {} is not link-local", frame));
    }
    if (hearing.number("unanswered_connections"))
        hearing.at_most_fact("unanswered_connections", static_cast<double>(pairs.size()));
}

// Packets of which an equal one was recorded before, links, hops and checksums aside; and how long before, in ns.
std::vector<std::int64_t> copies_of(const Hearing& hearing) {
    std::map<Octets, std::int64_t> seen;
    std::vector<std::int64_t> apart;
    for (const Wire& wire : hearing.wires()) {
        const Octets& all = hearing.recording().records[wire.frame - 1].bytes;
        const auto [first, is_new] =
            seen.emplace(Octets(all.begin() + static_cast<std::ptrdiff_t>(wire.bth), all.end()), wire.time);
        if (!is_new) apart.push_back(wire.time - first->second);
    }
    std::ranges::sort(apart);
    return apart;
}

void taps(Hearing& hearing) {
    hearing.expect(!hearing.flag("taps_mixed"), "files are read twice, so that taps are told apart");
    const auto apart = copies_of(hearing);
    std::set<std::pair<std::string, std::string>> pairs;
    for (const Wire& wire : hearing.wires()) pairs.insert(std::minmax(wire.from, wire.to));
    hearing.equal_fact("taps", 2);
    hearing.at_most_fact("host_pairs", static_cast<double>(pairs.size()));
    hearing.at_most_fact("packets", static_cast<double>(apart.size()));
    hearing.equal_fact("all_packets", static_cast<double>(hearing.recording().records.size()));
    (void)hearing.number("tap_drift_ns");
    // Some copy is as late or early, but for what the analyser takes off where both ways were recorded.
    const auto offset = hearing.number("tap_offset_ns"), tolerance = hearing.number("tap_tolerance_ns");
    constexpr double kWay = 100'000;  // ns
    hearing.expect(offset.has_value() != tolerance.has_value(), "the times of the taps are either the same or not");
    hearing.expect(apart.empty() || offset.value_or(tolerance.value_or(0)) - kWay <= static_cast<double>(apart.back()),
                   "no copy is as late or early as that");
}

void capture_duplicates(Hearing& hearing) {
    if (says(hearing, "taps")) return taps(hearing);
    const auto apart = copies_of(hearing);
    hearing.at_most_fact("packets", static_cast<double>(apart.size()));
    hearing.equal_fact("all_packets", static_cast<double>(hearing.recording().records.size()));
    const double by_others = hearing.number("copies_of_other_taps").value_or(0),
                 by_same = hearing.number("copies_of_same_tap").value_or(0);
    hearing.equal_fact("packets", by_others + by_same);
    if (hearing.flag("same_times"))
        return hearing.expect(apart.empty() || apart.back() == 0, "copies have other times");
    if (apart.empty()) return;
    hearing.equal_fact("most_apart_ns", static_cast<double>(apart.back()));
    hearing.equal_fact("least_apart_ns", static_cast<double>(apart.front()));
}

// Some request was recorded so long after an answer to it or to a later one; of these there are at least as many as it
// counts.
void clock_offset(Hearing& hearing) {
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
            if (!request.request() || request.from != answer.to || request.to != answer.from ||
                request.time == answer.time)
                continue;
            if (psn_distance(request.psn, answer.psn) < 0) continue;
            is_early = true;
            if (request.psn == answer.psn) apart.insert(request.time - answer.time);
        }
        early += is_early ? 1U : 0U;
        if (is_early) asked_by.emplace(answer.to, answer.to_qp);
    }
    hearing.at_most_fact("answers_before_requests", static_cast<double>(early));
    const double named = hearing.number("earliest_answer_ns").value_or(0);
    hearing.expect(apart.contains(static_cast<std::int64_t>(named)), "no request was recorded so long after an answer");
    hearing.at_most_fact("connections", static_cast<double>(asked_by.size()));
}

void clock_backwards(Hearing& hearing) {
    std::uint64_t steps = 0;
    std::int64_t most = 0;
    const auto& records = hearing.recording().records;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const std::int64_t back = records[i - 1].time - records[i].time;
        steps += back > 0 ? 1U : 0U;
        most = std::max(most, back);
    }
    hearing.at_most_fact("steps_back", static_cast<double>(steps));
    hearing.equal_fact("largest_step_back_ns", static_cast<double>(most));
}

// PSNs of requests and of READ responses that were jumped over: no more can have been sent and not recorded, but at the
// beginning and the end. A READ takes at least as many PSNs as its data has packets at the largest path MTU; those are
// not missing.
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
        stream.of_reads =
            wire.read_request() && wire.reth && wire.reth->length > 0 ? (wire.reth->length - 1) / kLargestMtu : 0;
    }
    Skipped skipped;
    for (const auto& [key, stream] : streams) {
        skipped.psns += stream.skipped;
        skipped.flows += stream.skipped != 0 ? 1U : 0U;
    }
    return skipped;
}

void missing_packets(Hearing& hearing, const std::string& name) {
    const Skipped skipped = skipped_psns(hearing);
    hearing.at_most_fact(name, static_cast<double>(skipped.psns));
    hearing.at_most_fact("connections", static_cast<double>(skipped.flows));
}
void capture_lost_packets(Hearing& hearing) {
    if (!says(hearing, "uncaptured")) return hearing.object("the court gave it no count of drops");
    missing_packets(hearing, "uncaptured");
}
void gaps_unexplained(Hearing& hearing) { missing_packets(hearing, "missing_packets"); }

void malformed(Hearing& hearing) {
    hearing.at_most_fact("packets", hearing.number("all_packets").value_or(0));
    hearing.at_most_fact("all_packets", static_cast<double>(hearing.recording().records.size()));
    if (!says(hearing, "different_packets")) return;
    std::set<Octets> seen;  // from the transport header on
    for (const Wire& wire : hearing.wires()) {
        const Octets& all = hearing.recording().records[wire.frame - 1].bytes;
        seen.insert(Octets(all.begin() + static_cast<std::ptrdiff_t>(wire.bth), all.end()));
    }
    hearing.at_most_fact("different_packets", static_cast<double>(seen.size()));
}

// First fragments of datagrams to port 4791, of IPv4 right behind Ethernet.
void ip_fragments(Hearing& hearing) {
    constexpr std::uint32_t kMoreAndOffset = 0x3fff, kMore = 0x2000;
    const auto first = [](const Record& record) {
        const Octets& bytes = record.bytes;
        return bytes.size() >= 54 && number_at(bytes, 12, 2) == 0x0800 && bytes[14] == 0x45 && bytes[23] == 17 &&
               (number_at(bytes, 20, 2) & kMoreAndOffset) == kMore && number_at(bytes, 36, 2) == 4791;
    };
    const auto& records = hearing.recording().records;
    hearing.equal_fact("packets", static_cast<double>(std::ranges::count_if(records, first)));
    hearing.at_most_fact("all_packets", static_cast<double>(records.size()));
}

constexpr std::array kCaptureJudges{
    Judge{"capture-truncated", capture_truncated},
    Judge{"one-way-capture", one_way_capture},
    Judge{"link-local-gid", link_local_gid},
    Judge{"capture-duplicates", capture_duplicates},
    Judge{"clock-offset", clock_offset},
    Judge{"clock-backwards", clock_backwards},
    Judge{"capture-lost-packets", capture_lost_packets},
    Judge{"gaps-unexplained", gaps_unexplained},
    Judge{"malformed-packets", malformed},
    Judge{"ip-fragments", ip_fragments},
};

}  // namespace

std::span<const Judge> capture_judges() { return kCaptureJudges; }

}  // namespace qps::court
