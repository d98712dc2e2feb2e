// Judges of how hosts are set up: traffic classes, path MTUs, versions of RoCE, depths of READs, bursts of many
// senders, clocks.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace qps::court {

namespace {

// What an entry of a list begins with: "1,017 packets" is 1,017.
std::uint64_t number(std::string_view entry) {
    std::uint64_t value = 0;
    for (const char c : entry) {
        if (c == ',') continue;
        if (c < '0' || c > '9') break;
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
}

using Counts = std::map<std::uint32_t, std::uint64_t>;  // packets by value

// Whether most packets of the direction have this value; of values that are as frequent any is.
template <class Value> bool is_most(const Way& way, const std::string& from, double said, Value value) {
    Counts counts;
    for (const Wire* wire : way.all)
        if (wire->from == from && !wire->cnp()) ++counts[value(*wire)];
    const auto own = counts.find(static_cast<std::uint32_t>(said));
    return own != counts.end() &&
           std::ranges::all_of(counts, [&](const auto& other) { return other.second <= own->second; });
}

// Classes

void dscp_differs(Hearing& hearing) {
    const auto way = way_between(hearing, "first_end", "second_end");
    if (!way) return;
    const auto dscp = hearing.number("first_dscp");
    const auto value = [&](const Wire& wire) { return dscp ? wire.dscp() : wire.priority.value_or(8); };
    const double first = dscp.value_or(hearing.number("first_priority").value_or(9));
    const double second = hearing.number(dscp ? "second_dscp" : "second_priority").value_or(9);
    hearing.expect(first != second, "they do not differ");
    hearing.expect(is_most(*way, way->from, first, value), "most packets of the first have another");
    hearing.expect(is_most(*way, way->to, second, value), "most packets of the second have another");
}

void dscp_changes(Hearing& hearing) {
    const auto way = way_between(hearing, "sender", "receiver");
    if (!way) return;
    Counts shown;
    for (const Wire* wire : way->all)
        if (wire->from == way->from && !wire->cnp()) ++shown[wire->dscp()];
    std::uint64_t all = 0, most = 0;
    for (const auto& [dscp, packets] : shown) all += packets, most = std::max(most, packets);
    const auto values = hearing.list("packets_of_dscps");
    for (const std::string& value : values) {
        const std::uint64_t dscp = number(value),
                            packets = number(value.substr(std::min(value.find('(') + 1, value.size())));
        hearing.equal(fmt::format("packets of DSCP {}", dscp), packets, shown[static_cast<std::uint32_t>(dscp)]);
    }
    hearing.expect(values.size() > 1, "names one class only");
    hearing.equal("packets of most_dscp", shown[static_cast<std::uint32_t>(hearing.number("most_dscp").value_or(64))],
                  most);
    hearing.equal_fact("other_dscp_packets", static_cast<double>(all - most));
    hearing.equal("packets of other classes than most", hearing.claim().count, all - most);
}

void dscp_between_connections(Hearing& hearing) {
    const std::string host = hearing.word("host").value_or(""), peer = hearing.word("peer").value_or("");
    std::map<std::pair<std::string, std::uint32_t>, Counts> flows;  // of requests
    for (const Wire& wire : hearing.wires()) {
        const bool between = (wire.from == host && wire.to == peer) || (wire.from == peer && wire.to == host);
        if (between && (wire.request() || wire.service() == 1)) ++flows[{wire.to, wire.to_qp}][wire.dscp()];
    }
    std::map<std::uint64_t, std::uint64_t> connections;
    for (const auto& [flow, counts] : flows)
        ++connections[std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; })->first];
    std::uint64_t fewest = UINT64_MAX;
    const auto classes = hearing.list("connections_of_dscps");
    std::set<std::uint64_t> least;  // DSCPs of the fewest
    for (const std::string& value : classes) {
        const std::uint64_t count = number(value), dscp = number(value.substr(value.rfind(' ') + 1));
        hearing.at_most(fmt::format("connections on DSCP {}", dscp), count, connections[dscp]);
        if (count < fewest) least.clear();
        fewest = std::min(fewest, count);
        if (count == fewest) least.insert(dscp);
    }
    hearing.expect(classes.size() > 1, "names one class only");
    hearing.equal_fact("fewest_connections", static_cast<double>(fewest));
    hearing.expect(least.contains(static_cast<std::uint64_t>(hearing.number("fewest_dscp").value_or(64))),
                   "another DSCP has the fewest");
    hearing.equal("connections of the fewest", hearing.claim().count, fewest);
}

// Path MTU: what packets that others follow carry.

std::uint32_t path_mtu_of(const Way& way, const std::string& from) {
    std::uint32_t most = 0;
    for (const Wire* wire : way.all)
        if (wire->from == from && !wire->ends() && !wire->acknowledge()) most = std::max(most, wire->payload);
    return most;
}

void path_mtu_differs(Hearing& hearing) {
    const auto way = way_between(hearing, "first_end", "second_end");
    if (!way) return;
    const std::uint32_t first = path_mtu_of(*way, way->from), second = path_mtu_of(*way, way->to);
    if (hearing.number("first_mtu")) {
        hearing.equal_fact("first_mtu", first);
        hearing.equal_fact("second_mtu", second);
        hearing.expect(first != second, "they do not differ");
    } else {
        hearing.equal_fact("packet_mtu", std::max(first, second));
    }
    const auto agreed = hearing.number("negotiated_mtu");
    if (!agreed) return;
    // A REQ, 12.6.5: the path MTU is the upper half of byte 50, as a code.
    constexpr std::size_t kBeforeMessage = 12 + 8 + 24, kPathMtu = 50;
    const bool said = std::ranges::any_of(hearing.wires(), [&](const Wire& wire) {
        const Octets& bytes = hearing.recording().records[wire.frame - 1].bytes;
        const std::size_t message = wire.bth + kBeforeMessage;
        return wire.management() && message + kPathMtu < bytes.size() && number_at(bytes, message - 8, 2) == 0x10 &&
               static_cast<double>(std::uint64_t{128} << (bytes[message + kPathMtu] >> 4U)) == *agreed;
    });
    hearing.expect(said, "no REQ has that path MTU");
}

void path_mtu_small(Hearing& hearing) {
    std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> mtus;
    std::uint64_t bytes = 0;
    for (const Wire& wire : hearing.wires()) {
        bytes += hearing.recording().records[wire.frame - 1].wire;
        if (!wire.reliable() || wire.ends() || wire.acknowledge()) continue;
        std::uint32_t& most = mtus[{wire.to, wire.to_qp}];
        most = std::max(most, wire.payload);
    }
    const auto small = static_cast<std::uint64_t>(hearing.number("packet_mtu").value_or(0));
    constexpr std::uint64_t kAround =
        38 + 20 + 8 + 12 + 4;  // Ethernet with preamble, gap and FCS, IPv4, UDP, BTH, ICRC
    const auto is_small = [&](const auto& one) { return one.second != 0 && one.second <= small; };
    hearing.at_most_fact("connections", static_cast<double>(std::ranges::count_if(mtus, is_small)));
    hearing.at_most_fact("moved_bytes", static_cast<double>(bytes));
    hearing.expect(std::ranges::any_of(mtus, [&](const auto& one) { return one.second == small; }),
                   "nobody has the small path MTU");
    const std::uint64_t great = std::ranges::max_element(mtus, {}, [](const auto& one) { return one.second; })->second;
    hearing.equal_fact("greatest_mtu", static_cast<double>(great));
    const auto part = [&](std::uint64_t mtu) {
        return static_cast<double>(kAround) / static_cast<double>(kAround + mtu);
    };
    hearing.near_fact("header_share", part(small));
    hearing.near_fact("least_header_share", part(great));
}

void version_mismatch(Hearing& hearing) {
    // A GID of RoCEv1 that holds an IPv4 address is written as that.
    const auto plain = [](const std::string& address) {
        return address.starts_with("::ffff:") ? address.substr(7) : address;
    };
    const auto packets = [&](const std::string& from, const std::string& to, bool first) {
        return static_cast<std::uint64_t>(std::ranges::count_if(hearing.wires(), [&](const Wire& wire) {
            return plain(wire.from) == plain(from) && plain(wire.to) == plain(to) && wire.version_1() == first;
        }));
    };
    const std::string one = hearing.word("host").value_or(""), other = hearing.word("peer").value_or("");
    hearing.equal_fact("roce_v1_packets", static_cast<double>(packets(one, other, true)));
    hearing.equal_fact("roce_v2_packets", static_cast<double>(packets(other, one, false)));
    hearing.expect(packets(one, other, false) + packets(other, one, true) == 0, "either speaks the other version too");
}

// READs

void read_depth_limited(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    std::vector<const Wire*> open;
    std::uint64_t most = 0, times = 0, done = 0, bytes = 0;
    std::int64_t waited = 0;
    for (const Wire* wire : way->all) {
        if (wire->from == way->from && (wire->read_request() || wire->atomic_request())) {
            open.push_back(wire);
            if (open.size() > most) most = open.size(), times = 0;
            times += open.size() == most ? 1U : 0U;
        }
        const bool ends = wire->from == way->to && ((wire->read_response() && wire->ends()) || wire->atomic_response());
        while (ends && !open.empty() && psn_distance(open.front()->psn, wire->psn) >= 0) {
            ++done;
            bytes += open.front()->reth ? open.front()->reth->length : 0;
            waited += wire->time - open.front()->time;
            open.erase(open.begin());
        }
    }
    hearing.equal_fact("reads_outstanding", static_cast<double>(most));
    hearing.equal_fact("at_most", static_cast<double>(times));
    if (hearing.number("negotiated_depth")) hearing.equal_fact("negotiated_depth", static_cast<double>(most));
    if (!hearing.number("allowed_rate")) return;
    if (done == 0 || waited == 0) return hearing.object("no READ was answered");
    hearing.equal_fact("read_length", static_cast<double>(bytes / done));
    hearing.equal_fact("read_took_ns", static_cast<double>(waited / static_cast<std::int64_t>(done)));
    hearing.near_fact("allowed_rate", static_cast<double>(most * bytes * 8) / static_cast<double>(waited) * 1e9);
}

void requests_unanswered(Hearing& hearing) {
    const auto way = way_between(hearing, "requester", "responder");
    if (!way) return;
    std::optional<std::uint32_t> answered;
    for (const Wire* answer : way->answers)
        if ((answer->positive() || answer->read_response()) && (!answered || psn_distance(*answered, answer->psn) > 0))
            answered = answer->psn;
    std::set<std::uint32_t> open;
    for (const Wire* request : way->requests)
        if (request->begins() && (!answered || psn_distance(*answered, request->psn) > 0)) open.insert(request->psn);
    const bool disconnected = hearing.flag("requester_disconnected");
    const auto silent = hearing.number("silent_for_ns"), unanswered = hearing.number("messages");
    if (!disconnected) {
        hearing.equal_fact("messages", static_cast<double>(open.size()));
        return hearing.equal_fact("silent_for_ns",
                                  static_cast<double>(hearing.recording().records.back().time - way->all.back()->time));
    }
    // Its DREQ is among the evidence.
    const Wire* last = nullptr;
    for (const Wire* wire : way->all)
        if (wire->from == way->from) last = wire;
    const bool shown = std::ranges::any_of(hearing.claim().frames, [&](std::size_t frame) {
        const Wire* wire = hearing.wire(frame);
        return wire != nullptr && wire->management() && last != nullptr &&
               silent == static_cast<double>(wire->time - last->time);
    });
    hearing.expect(shown, "disconnected at another time");
    hearing.expect(unanswered && *unanswered <= static_cast<double>(open.size()),
                   "more messages had no answer than there are");
}

// Bursts

// The rate of a flow in the 4 whole milliseconds before and after each burst of CNPs, 4 ms after the one before.
// Of bursts of CNPs that went on for nine bins, where nearly all packets are marked.
void kept_rate(Hearing& hearing, const std::map<std::int64_t, double>& bytes, const std::vector<std::int64_t>& cnps) {
    constexpr std::int64_t kBins = 4;
    double first = 0, then = 0;
    std::uint64_t counted = 0;
    const auto at = [&](std::int64_t bin) { return bytes.contains(bin) ? bytes.at(bin) : 0.0; };
    for (std::size_t i = 0; i < cnps.size();) {
        const std::int64_t begin = cnps[i];
        std::size_t end = i + 1;
        while (end < cnps.size() && cnps[end] - cnps[end - 1] < kBins) ++end;
        if (cnps[end - 1] >= begin + 2 * kBins) {
            for (std::int64_t bin = 1; bin <= kBins; ++bin) first += at(begin + bin), then += at(begin + kBins + bin);
            counted += static_cast<std::uint64_t>(std::count_if(
                cnps.begin(), cnps.end(), [&](std::int64_t bin) { return bin >= begin && bin <= begin + 2 * kBins; }));
        }
        i = end;
    }
    if (first == 0) return hearing.object("no burst of CNPs went on");
    hearing.at_most_fact("long_burst_cnps", static_cast<double>(counted + 1));
    const double named = hearing.number("rate_left").value_or(0);
    hearing.expect(std::abs(named - then / first) <= 0.006 * named,
                   fmt::format("says {:.4g} of the rate, and the packets show {:.4g}", named, then / first));
}

void cnp_without_effect(Hearing& hearing) {
    constexpr std::int64_t kBin = 1'000'000, kBins = 4;
    const std::string from = hearing.word("from_host").value_or("");
    const auto receiver = hearing.end("receiver");
    if (!receiver) return hearing.object("does not say to whom");
    std::map<std::int64_t, double> bytes;  // by millisecond
    std::vector<std::int64_t> bursts, cnps;
    std::optional<std::int64_t> before;
    for (const Wire& wire : hearing.wires()) {
        if (wire.from == from && wire.to == receiver->address && wire.to_qp == receiver->qp && !wire.cnp())
            bytes[wire.time / kBin] += hearing.recording().records[wire.frame - 1].wire;
        if (!wire.cnp() || wire.from != receiver->address || wire.to != from) continue;
        if (!before || wire.time - *before >= kBins * kBin) bursts.push_back(wire.time / kBin);
        before = wire.time;
        cnps.push_back(wire.time / kBin);
    }
    if (bytes.empty()) return hearing.object("there is no such flow");
    if (hearing.number("long_burst_cnps")) return kept_rate(hearing, bytes, cnps);
    double sum_before = 0, sum_after = 0;
    std::uint64_t bins_before = 0, bins_after = 0, measured = 0;
    for (const std::int64_t burst : bursts) {
        double own_before = 0;
        std::uint64_t own_bins = 0, later = 0;
        for (std::int64_t i = 1; i <= kBins; ++i) {
            if (burst - i > bytes.begin()->first) own_before += bytes[burst - i], ++own_bins;
            later += burst + i < bytes.rbegin()->first ? 1U : 0U;
        }
        if (own_before == 0 || later == 0) continue;
        ++measured, sum_before += own_before, bins_before += own_bins, bins_after += later;
        for (std::int64_t i = 1; i <= static_cast<std::int64_t>(later); ++i) sum_after += bytes[burst + i];
    }
    hearing.equal_fact("cnp_bursts", static_cast<double>(measured));
    if (measured == 0) return hearing.object("no burst can be measured");
    const double after = sum_after / static_cast<double>(bins_after),
                 rate_before = sum_before / static_cast<double>(bins_before);
    const double shown = after / rate_before, named = hearing.number("rate_left").value_or(0);
    hearing.expect(std::abs(named - shown) <= 0.006 * shown,
                   fmt::format("says {:.4g} of the rate, and the packets show {:.4g}", named, shown));
}

void many_senders(Hearing& hearing) {
    const std::string to = hearing.word("to_host").value_or("");
    const double length = hearing.number("burst_length_ns").value_or(-1),
                 named = hearing.number("burst_bytes").value_or(0);
    const double named_senders = hearing.number("burst_senders").value_or(0);
    std::uint64_t marked = 0;
    bool found = false;
    for (const Wire& wire : hearing.wires()) {
        marked += (wire.traffic_class & 3U) == 3 ? 1U : 0U;
        if (found || wire.to != to || std::ranges::count(hearing.claim().frames, wire.frame) == 0) continue;
        std::set<std::string> senders;
        std::uint64_t bytes = 0;
        for (const Wire& other : hearing.wires()) {
            const auto since = static_cast<double>(other.time - wire.time);
            if (other.to != wire.to || since < 0 || since > length || other.payload == 0) continue;
            senders.insert(other.from);
            bytes += hearing.recording().records[other.frame - 1].wire;
        }
        // The last of them is as long after the first as it says.
        const bool ends = std::ranges::any_of(hearing.wires(), [&](const Wire& other) {
            return other.to == wire.to && other.payload != 0 && static_cast<double>(other.time - wire.time) == length;
        });
        if (!ends) continue;
        found = static_cast<double>(senders.size()) == named_senders && static_cast<double>(bytes) == named;
    }
    hearing.expect(found, "no burst of its evidence has so many senders and bytes");
    constexpr std::size_t kListed = 16;  // frames of evidence, one a burst
    if (hearing.claim().frames.size() < kListed)
        hearing.equal_fact("bursts", static_cast<double>(hearing.claim().frames.size()));
    else hearing.equal_fact("bursts", static_cast<double>(hearing.claim().count));
    hearing.at_most_fact("burst_marks", static_cast<double>(marked));
    for (const std::size_t frame : hearing.claim().frames)
        hearing.expect(hearing.wire(frame) != nullptr && hearing.wire(frame)->payload != 0,
                       fmt::format("frame {} sends nothing", frame));
}

// The capture

// Between the two hosts of each frame of its evidence at least two queue pairs could belong to what it began.
void pairing_uncertain(Hearing& hearing) {
    std::map<std::pair<std::string, std::string>, std::set<std::uint32_t>> pairs;
    std::uint64_t flows = 0;
    for (const Wire& wire : hearing.wires())
        if (wire.reliable()) flows += pairs[{wire.from, wire.to}].insert(wire.to_qp).second ? 1U : 0U;
    hearing.at_most_fact("connections", static_cast<double>(flows));
    for (const std::size_t frame : hearing.claim().frames) {
        const Wire* wire = hearing.wire(frame);
        if (wire == nullptr) return hearing.object(fmt::format("frame {} is no packet", frame));
        const std::size_t there = pairs[{wire->from, wire->to}].size(), back = pairs[{wire->to, wire->from}].size();
        hearing.expect(std::max(there, back) > 1,
                       fmt::format("nothing else could belong to what frame {} began", frame));
    }
}

void clock_coarse(Hearing& hearing) {
    const auto said = hearing.number("clock_resolution_ns");
    if (!said) return hearing.object("does not say the resolution");
    const auto tick = static_cast<std::int64_t>(*said);
    const auto& records = hearing.recording().records;
    const auto all_are = [&](std::int64_t unit) {
        return std::ranges::all_of(records, [&](const Record& one) { return one.time % unit == 0; });
    };
    hearing.expect(all_are(tick), "a timestamp is finer");
    hearing.expect(!all_are(10 * tick), "all timestamps are coarser");
}

// Of CNPs so many streams are followed, from a host to a queue pair of another; those of others are counted.
void bounded(Hearing& hearing) {
    constexpr std::size_t kStreams = 65536;
    std::set<std::tuple<std::string, std::string, std::uint32_t>> followed;
    std::uint64_t others = 0;
    for (const Wire& wire : hearing.wires()) {
        if (!wire.cnp() || followed.contains({wire.from, wire.to, wire.to_qp})) continue;
        if (followed.size() == kStreams) ++others;
        else followed.insert({wire.from, wire.to, wire.to_qp});
    }
    const auto left_out = hearing.list("left_out");
    hearing.expect(std::ranges::find(left_out, fmt::format("{} packets of further flows, congestion not judged",
                                                           others)) != left_out.end(),
                   fmt::format("{} CNPs are of further streams", others));
}

constexpr std::array kSetupJudges{
    Judge{"dscp-differs", dscp_differs},
    Judge{"dscp-changes", dscp_changes},
    Judge{"dscp-differs-between-connections", dscp_between_connections},
    Judge{"path-mtu-differs", path_mtu_differs},
    Judge{"path-mtu-small", path_mtu_small},
    Judge{"roce-version-mismatch", version_mismatch},
    Judge{"read-depth-limited", read_depth_limited},
    Judge{"requests-unanswered", requests_unanswered},
    Judge{"cnp-without-effect", cnp_without_effect},
    Judge{"incast", many_senders},
    Judge{"pairing-uncertain", pairing_uncertain},
    Judge{"clock-coarse", clock_coarse},
    Judge{"analysis-bounded", bounded},
};

}  // namespace

std::span<const Judge> setup_judges() { return kSetupJudges; }

}  // namespace qps::court
