// Judges of what the ends of a link announce by LLDP (IEEE 802.1AB, 802.1Q annex D, CEE DCBX), read here from its
// bytes, and of RoCE packets that have none of the lossless priorities.
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr std::int64_t kASecondLong = 1'000'000'000;
constexpr std::int64_t kTakes = 10 * kASecondLong;

// ETS assigns each priority a selection and a share of the bandwidth; this is the one of a single priority.
struct ShareOf {
    std::string selection;           // in words; "" of a share of the bandwidth
    std::uint32_t percent = 0;       // of which
    std::set<std::uint32_t> with{};  // and of which priorities
    [[nodiscard]] bool operator==(const ShareOf&) const = default;
};

// One frame of LLDP to the nearest bridge.
struct Announced {
    std::size_t frame = 0;
    std::int64_t time = 0, lifetime = 0;
    std::string sender;
    std::string station;                 // bytes of its chassis and port
    bool bridge = false, older = false;  // CEE
    std::optional<std::uint32_t> lossless{};
    bool lossless_willing = false, shares_willing = false, applications_willing = false;
    std::optional<std::array<ShareOf, 8>> shares{}, recommended{};  // of each priority
    std::set<std::uint32_t> roce{};
    std::map<std::uint32_t, std::set<std::uint32_t>> code_points{};
    std::string content;  // all behind the first three TLVs

    [[nodiscard]] std::int64_t until() const { return time + lifetime; }
};

std::string mac_at(const Octets& frame, std::size_t at) {
    std::string text;
    for (std::size_t i = 0; i < 6; ++i) text += fmt::format("{}{:02x}", i == 0 ? "" : ":", frame[at + i]);
    return text;
}

// Facts hold lists of numbers as texts.
std::vector<std::string> listed(const std::set<std::uint32_t>& priorities) {
    std::vector<std::string> texts;
    for (const std::uint32_t one : priorities) texts.push_back(std::to_string(one));
    return texts;
}
std::set<std::uint32_t> of_bits(std::uint32_t bits) {
    std::set<std::uint32_t> out;
    for (std::uint32_t i = 0; i < 8; ++i)
        if ((bits >> i & 1U) != 0) out.insert(i);
    return out;
}

// `classes`: of priorities; `tables`: where percents and, in IEEE, algorithms stand behind each other.
std::array<ShareOf, 8> shared_out(const Octets& tlv, std::size_t classes, bool older) {
    std::array<std::uint32_t, 8> of{};
    for (std::size_t i = 0; i < 8; ++i) of[i] = tlv[classes + i / 2] >> (i % 2 == 0 ? 4U : 0U) & 15U;
    std::array<ShareOf, 8> shares;
    for (std::size_t i = 0; i < 8; ++i) {
        const std::uint32_t algorithm = older ? (of[i] == 15 ? 0U : 2U) : tlv[classes + 12 + of[i] % 8];
        std::set<std::uint32_t> with;
        for (std::uint32_t k = 0; k < 8; ++k)
            if (of[k] == of[i]) with.insert(k);
        if (algorithm == 2) shares[i] = {"", tlv[classes + 4 + of[i] % 8], std::move(with)};
        else
            shares[i].selection = algorithm == 0   ? "strict priority"
                                  : algorithm == 1 ? "a credit-based shaper"
                                                   : "an algorithm of its vendor";
    }
    return shares;
}

void read_older(const Octets& tlv, Announced& out) {
    out.older = true;
    for (std::size_t at = 6; at + 6 <= tlv.size();) {
        const std::size_t length = (number_at(tlv, at, 2) & 511U) + 2;
        const Octets one(tlv.begin() + static_cast<std::ptrdiff_t>(at),
                         tlv.begin() + static_cast<std::ptrdiff_t>(std::min(at + length, tlv.size())));
        at += length;
        const unsigned type = one[0] >> 1U;
        if (one.size() < 6 || (one[4] & 0x80U) == 0) continue;
        const bool willing = (one[4] & 0x40U) != 0;
        if (type == 2 && one.size() >= 19) out.shares = shared_out(one, 6, true), out.shares_willing = willing;
        if (type == 3 && one.size() >= 8) out.lossless = one[6], out.lossless_willing = willing;
        if (type != 4) continue;
        out.applications_willing = willing;
        for (std::size_t entry = 6; entry + 6 <= one.size(); entry += 6)
            if (number_at(one, entry, 2) == 4791 && (one[entry + 2] & 3U) == 1) out.roce.merge(of_bits(one[entry + 5]));
    }
}

void read_newer(const Octets& tlv, Announced& out) {
    const bool willing = tlv.size() > 6 && (tlv[6] & 0x80U) != 0;
    if (tlv[5] == 9 && tlv.size() >= 27) out.shares = shared_out(tlv, 7, false), out.shares_willing = willing;
    if (tlv[5] == 10 && tlv.size() >= 27) out.recommended = shared_out(tlv, 7, false);
    if (tlv[5] == 11 && tlv.size() >= 8) out.lossless = tlv[7], out.lossless_willing = willing;
    if (tlv[5] != 12) return;
    for (std::size_t entry = 7; entry + 3 <= tlv.size(); entry += 3) {
        const std::uint32_t priority = tlv[entry] >> 5U, selector = tlv[entry] & 7U,
                            protocol = number_at(tlv, entry + 1, 2);
        if ((selector == 3 || selector == 4) && protocol == 4791) out.roce.insert(priority);
        if (selector == 5) out.code_points[protocol].insert(priority);
    }
}

std::optional<Announced> read_announced(const Record& record, std::size_t frame) {
    const Octets& bytes = record.bytes;
    if (bytes.size() < 30 || mac_at(bytes, 0) != "01:80:c2:00:00:0e" || number_at(bytes, 12, 2) != 0x88cc) return {};
    Announced out;
    out.frame = frame;
    out.time = record.time;
    out.sender = mac_at(bytes, 6);
    std::size_t number = 0;
    for (std::size_t at = 14; at + 2 <= bytes.size(); ++number) {
        const std::size_t length = (number_at(bytes, at, 2) & 511U) + 2;
        if (at + length > bytes.size()) return {};
        const Octets tlv(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                         bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
        at += length;
        const unsigned type = tlv[0] >> 1U;
        if (type == 0) break;
        (number < 2 ? out.station : out.content).append(tlv.begin(), tlv.end());
        if (type == 3) out.lifetime = number_at(tlv, 2, 2) * kASecondLong;
        if (type == 7 && tlv.size() >= 6) out.bridge = (number_at(tlv, 4, 2) & 4U) != 0;
        if (type != 127 || tlv.size() < 6) continue;
        if (number_at(tlv, 2, 3) == 0x0080c2) read_newer(tlv, out);
        if (number_at(tlv, 2, 3) == 0x001b21 && tlv[5] == 2) read_older(tlv, out);
    }
    return out;
}

std::vector<Announced> all_of(const Recording& recording) {
    std::vector<Announced> out;
    for (std::size_t i = 0; i < recording.records.size(); ++i)
        if (auto one = read_announced(recording.records[i], i + 1)) out.push_back(std::move(*one));
    return out;
}

// The last words of an end, and how long it has said the same.
struct LastWords {
    Announced said;
    std::int64_t since = 0;
    std::vector<std::int64_t> times;  // of those that say the same
};
// By a second tap; an agent sends one a second at most (802.1AB 9.2.5.22).
bool another_recording(const Announced& before, const Announced& one) {
    if (one.time < before.time) return true;
    return one.time - before.time < kASecondLong * 9 / 10 && one.content == before.content &&
           one.lifetime == before.lifetime;
}
std::optional<LastWords> last_of(const std::vector<Announced>& all, const std::string& sender) {
    std::optional<LastWords> last;
    for (const Announced& one : all) {
        if (one.sender != sender) continue;
        if (last && another_recording(last->said, one)) continue;
        if (!last || last->said.content != one.content || one.time > last->said.until())
            last = LastWords{one, one.time, {}};
        last->said = one;
        last->times.push_back(one.time);
    }
    return last;
}

// What a finding of two ends rests on.
struct Both {
    LastWords a, b;  // the announcer, and its partner
};
std::optional<Both> both_of(Hearing& hearing) {
    const std::string a = hearing.word("announcer").value_or(""), b = hearing.word("partner").value_or("");
    hearing.equal_fact("interface", 0);
    const auto all = all_of(hearing.recording());
    std::set<std::string> senders, stations;
    for (const Announced& one : all) senders.insert(one.sender), stations.insert(one.sender + one.station);
    hearing.expect(senders.size() == 2 && stations.size() == 2, "more than two announce there");
    auto first = last_of(all, a), second = last_of(all, b);
    if (!first || !second) return hearing.object("one of them announces nothing"), std::nullopt;
    hearing.expect(first->said.bridge != second->said.bridge, "not a bridge and a station");
    hearing.expect(first->said.older == second->said.older, "of two dialects");
    hearing.expect(first->said.time <= second->said.until() && second->said.time <= first->said.until(),
                   "not at the same time");
    bool proven = false;
    for (const std::size_t frame : hearing.claim().frames)
        proven |= frame == first->said.frame || frame == second->said.frame;
    hearing.expect(proven, "its evidence has none of their last words");
    return Both{std::move(*first), std::move(*second)};
}

// How often the end announced the same again since the other one said something new.
void repeated(Hearing& hearing, const LastWords& taker, const LastWords& other) {
    const auto after =
        std::ranges::count_if(taker.times, [&](std::int64_t time) { return time > other.since && time > taker.since; });
    hearing.equal_fact("repeated", static_cast<double>(after));
    hearing.equal_fact("repeated_within_ns", static_cast<double>(taker.said.time - other.since));
    hearing.expect(after >= 2 && taker.said.time - other.since >= kTakes, "it had no time to take it");
}

// Neither is willing, or who is and went on.
void whether_it_lasts(Hearing& hearing, const Both& both, bool a_willing, bool b_willing) {
    const auto willing = hearing.word("willing_end");
    if (!willing) return hearing.expect(!a_willing && !b_willing, "one of them is willing");
    const bool is_a = *willing == both.a.said.sender;
    const LastWords &taker = is_a ? both.a : both.b, &other = is_a ? both.b : both.a;
    hearing.expect(is_a || *willing == both.b.said.sender, "who is willing is no end of the link");
    hearing.expect(is_a ? a_willing : b_willing, "it is not willing");
    hearing.expect(!a_willing || !b_willing || taker.said.sender > other.said.sender,
                   "the other end would have to take");
    hearing.expect(!taker.said.older, "CEE announces what is wished for");
    repeated(hearing, taker, other);
}

void lossless(Hearing& hearing) {
    const auto both = both_of(hearing);
    if (!both) return;
    const LastWords &a = both->a, &b = both->b;
    if (!a.said.lossless || !b.said.lossless) return hearing.object("one of them says nothing of PFC");
    hearing.expect(hearing.list("announcer_priorities") == listed(of_bits(*a.said.lossless)),
                   "the first announces other priorities");
    hearing.expect(hearing.list("partner_priorities") == listed(of_bits(*b.said.lossless)),
                   "the second announces other priorities");
    hearing.expect(*a.said.lossless != *b.said.lossless, "they announce the same");
    whether_it_lasts(hearing, *both, a.said.lossless_willing, b.said.lossless_willing);
}

// `end` is the prefix of the facts that describe one end of the link.
void equal_share(Hearing& hearing, const std::string& end, const ShareOf& shown) {
    hearing.expect(hearing.word(end + "_selection").value_or("") == shown.selection,
                   "the " + end + " selects by " + shown.selection);
    if (!shown.selection.empty()) return;
    hearing.equal_fact(end + "_percent", shown.percent);
    const auto with = hearing.list(end + "_class");
    hearing.expect(with == (shown.with.size() == 1 ? std::vector<std::string>{} : listed(shown.with)),
                   "the " + end + " has another class");
}

void shares(Hearing& hearing) {
    const auto both = both_of(hearing);
    if (!both) return;
    const bool advised = hearing.flag("recommended");
    const auto& theirs = advised ? both->a.said.recommended : both->a.said.shares;
    const auto& own = both->b.said.shares;
    if (!theirs || !own) return hearing.object("one of them says nothing of ETS");
    const auto priority = static_cast<std::size_t>(hearing.number("priority").value_or(8));
    if (priority > 7) return hearing.object("there is no such priority");
    equal_share(hearing, "announcer", (*theirs)[priority]);
    equal_share(hearing, "partner", (*own)[priority]);
    hearing.expect((*theirs)[priority] != (*own)[priority], "they share this one out alike");
    std::uint64_t differ = 0;
    for (std::size_t i = 0; i < 8; ++i) differ += (*theirs)[i] != (*own)[i] ? 1U : 0U;
    hearing.equal_fact("differing_priorities", static_cast<double>(differ));
    whether_it_lasts(hearing, *both, !advised && both->a.said.shares_willing, both->b.said.shares_willing);
}

void applications(Hearing& hearing) {
    const auto both = both_of(hearing);
    if (!both) return;
    hearing.expect(hearing.list("announcer_priorities") == listed(both->a.said.roce),
                   "the first announces other priorities");
    hearing.expect(hearing.list("partner_priorities") == listed(both->b.said.roce),
                   "the second announces other priorities");
    for (const std::uint32_t one : both->a.said.roce)
        hearing.expect(!both->b.said.roce.contains(one), "they have one in common");
    if (!hearing.number("repeated"))
        return hearing.expect(
            both->a.said.older && !both->a.said.applications_willing && !both->b.said.applications_willing,
            "they may be willing");
    repeated(hearing, both->b, both->a);
}

// The priorities that a packet may have by an announcement; none where nobody can tell.
std::set<std::uint32_t> possible_of(const Announced& said, const Wire& wire) {
    std::set<std::uint32_t> possible;
    if (const auto mapped = said.code_points.find(wire.dscp()); mapped != said.code_points.end())
        possible = mapped->second;
    if (possible.empty() && (!wire.priority || wire.dscp() != 0)) return {};
    possible.insert(wire.priority.value_or(0));
    possible.insert(wire.dscp() / 8);
    return possible;
}
bool is_outside(const Announced& said, const Wire& wire) {
    const std::set<std::uint32_t> possible = possible_of(said, wire);
    if (possible.empty() || said.lossless.value_or(0) == 0) return false;
    return std::ranges::none_of(possible, [&](std::uint32_t one) { return (*said.lossless >> one & 1U) != 0; });
}

// What is said of packets by priority and DSCP; `still`: of those that would be outside by the last announcement, too.
struct SaidOutside {
    std::string end, to;
    std::uint32_t priority = 0, dscp = 0;
    bool tagged = false, still = false;
};
void compare_outside(Hearing& hearing, const SaidOutside& claim) {
    const auto all = all_of(hearing.recording());
    std::set<std::string> bridges, stations;
    for (const Announced& one : all) (one.bridge ? bridges : stations).insert(one.sender + one.station);
    hearing.expect(bridges.size() == 1 && stations.size() == 1, "not one bridge and one station");
    const auto last = last_of(all, claim.end);
    if (!last) return hearing.object("it announces nothing");
    const auto announced = hearing.list("announcer_priorities");
    hearing.expect((announced.empty() && !claim.still) || listed(of_bits(last->said.lossless.value_or(0))) == announced,
                   "it announces other priorities");
    std::uint64_t named = 0, others = 0;
    for (const Wire& wire : hearing.wires()) {
        std::optional<Announced> now;
        bool known = false;
        for (const Announced& one : all) {
            known |= one.sender == claim.to && one.frame < wire.frame;
            if (one.sender == claim.end && one.frame < wire.frame) now = one;
        }
        if (!known || !now || mac_at(hearing.recording().records[wire.frame - 1].bytes, 0) != claim.to) continue;
        if (wire.time > now->until() || wire.cnp() || wire.management() || !is_outside(*now, wire) ||
            is_outside(last->said, wire) != claim.still)
            continue;
        const auto mapped = now->code_points.find(wire.dscp());
        const std::uint32_t by_map =
            mapped == now->code_points.end() || mapped->second.empty() ? 8 : *mapped->second.begin();
        const bool this_one = wire.dscp() == claim.dscp && wire.priority.has_value() == claim.tagged &&
                              (claim.tagged ? *wire.priority : by_map) == claim.priority;
        (this_one ? named : others) += 1;
    }
    hearing.equal_fact("outside_packets", static_cast<double>(named));
    hearing.equal("packets of others", static_cast<std::uint64_t>(hearing.number("other_outside").value_or(0)), others);
}

// Packets of which the end announced that no priority that they may have is lossless: now, or when they passed.
void outside(Hearing& hearing) {
    const std::string end = hearing.word("announcer").value_or("");
    const auto number = [&](const std::string& name) {
        return static_cast<std::uint32_t>(hearing.number(name).value_or(99));
    };
    hearing.equal_fact("interface", 0);
    compare_outside(hearing, {.end = end,
                              .to = hearing.word("station").value_or(end),
                              .priority = number("priority"),
                              .dscp = number("dscp"),
                              .tagged = hearing.flag("tagged"),
                              .still = !hearing.flag("no_longer")});
}

void stopped(Hearing& hearing) {
    const auto last = last_of(all_of(hearing.recording()), hearing.word("announcer").value_or(""));
    if (!last) return hearing.object("it announces nothing");
    hearing.equal_fact("interface", 0);
    const auto& records = hearing.recording().records;
    const std::int64_t silence = records.back().time - last->said.time;
    hearing.equal_fact("lldp_silence_ns", static_cast<double>(silence));
    hearing.equal("time to live", static_cast<std::uint64_t>(hearing.number("lifetime_ns").value_or(0)),
                  static_cast<std::uint64_t>(last->said.lifetime));
    std::int64_t heard = silence;
    for (std::size_t i = last->said.frame; i < records.size(); ++i)
        if (const std::int64_t still = records[i].time - records[i - 1].time; still > 30 * kASecondLong) heard -= still;
    hearing.expect(heard > last->said.lifetime, "it still had time");
}

constexpr std::array kBridgingJudges{
    Judge{"pfc-differs", lossless},
    Judge{"ets-differs", shares},
    Judge{"application-priority-differs", applications},
    Judge{"roce-outside-pfc", outside},
    Judge{"lldp-stopped", stopped},
};

}  // namespace

std::span<const Judge> bridging_judges() { return kBridgingJudges; }

}  // namespace qps::court
