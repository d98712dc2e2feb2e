// Judges of what managers of a fabric count, report, refuse and leave unanswered (volume 1, 13.4, 14.2.5, 15.2, 16.1).
#include <tests/court/datagram.hpp>
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr std::size_t kDataOfSubnet = 64, kDataOfAdministration = 56;  // places in a MAD
constexpr std::uint32_t kAdministrationClass = 3, kPerformanceClass = 4;
constexpr std::uint32_t kNotice = 0x02, kPortCounters = 0x12, kPathRecord = 0x35, kMemberRecord = 0x38;

std::uint64_t figure(const std::string& words) { return count_of(words).value_or(0); }

void join_failed(Hearing& hearing) {
    const auto said = hearing.must_say("^Subnet administration refused " + kNumber +
                                       " joins?, the first from (\\S+) to group (\\S+): MAD status 0x([0-9a-f]{4})");
    if (!said) return;
    std::uint64_t refused = 0;
    for (const Datagram& mad : datagrams(hearing)) {
        if (mad.management_class != kAdministrationClass || mad.attribute != kMemberRecord || !mad.answers() || mad.status == 0) continue;
        if (refused++ != 0) continue;
        hearing.expect(mad.wire->to == (*said)[2], "the first was refused to " + mad.wire->to);
        hearing.equal("as status", std::stoul((*said)[4], nullptr, 16), mad.status);
    }
    hearing.equal("joins refused", figure((*said)[1]), refused);
}

// PortCounters of 16.1.3.5: where each counter is, and how wide.
struct Counter {
    std::string_view name;
    std::size_t at, octets;
};
constexpr std::array kCounters{Counter{"Symbol errors", 4, 2}, Counter{"Link error recoveries", 6, 1}, Counter{"Link downed", 7, 1}};

void errors_counted(Hearing& hearing) {
    const auto said = hearing.must_say("^(\\S+) port (\\d+) counted errors within " + kQuantity + ":");
    if (!said) return;
    std::vector<Datagram> answers;
    for (const Datagram& mad : datagrams(hearing))
        if (mad.management_class == kPerformanceClass && mad.attribute == kPortCounters && mad.answers() && mad.wire->from == (*said)[1] &&
            mad.number(kDataOfSubnet + 1, 1) == figure((*said)[2]))
            answers.push_back(mad);
    if (answers.size() < 2) return hearing.object("no two answers tell of that port");
    hearing.equal("between the answers", (*said)[3], static_cast<double>(answers.back().wire->time - answers.front().wire->time));
    std::uint64_t moved = 0, named = 0;
    for (const Counter& counter : kCounters) {
        const std::uint64_t first = answers.front().number(kDataOfSubnet + counter.at, counter.octets);
        const std::uint64_t last = answers.back().number(kDataOfSubnet + counter.at, counter.octets);
        moved += last != first ? 1U : 0U;
        const auto one = hearing.take(std::string(counter.name) + " \\+" + kNumber + " to " + kNumber);
        if (!one) continue;
        ++named;
        hearing.equal(counter.name, figure((*one)[1]), last - first);
        hearing.equal(counter.name, figure((*one)[2]), last);
    }
    hearing.equal("counters that moved", named, moved);
    for (const std::size_t frame : {answers.front().wire->frame, answers.back().wire->frame})
        hearing.expect(std::ranges::count(hearing.claim().frames, frame) != 0, fmt::format("frame {} is not in its evidence", frame));
}

void trap_reported(Hearing& hearing) {
    const auto said = hearing.must_say("^(\\S+) reported to (\\S+): trap (\\d+)");
    if (!said) return;
    std::uint64_t notices = 0;
    const Datagram* first = nullptr;
    const auto all = datagrams(hearing);
    for (const Datagram& mad : all) {
        if (mad.attribute != kNotice || mad.answers() || (mad.method != 5 && mad.method != 6)) continue;
        const std::size_t data = mad.management_class == kAdministrationClass ? kDataOfAdministration : kDataOfSubnet;
        if ((mad.number(data, 1) & 0x80U) == 0 || mad.number(data + 4, 2) != figure((*said)[3])) continue;
        if (notices++ == 0) first = &mad;
    }
    if (first == nullptr) return hearing.object("there is no such notice");
    hearing.expect(first->wire->from == (*said)[1] && first->wire->to == (*said)[2], "the first is between other hosts");
    const auto total = hearing.take("\\(" + kNumber + " notices? in total\\)");
    hearing.equal("notices", total ? figure((*total)[1]) : 1, notices);
    const std::size_t details = (first->management_class == kAdministrationClass ? kDataOfAdministration : kDataOfSubnet) + 10;
    // 14.2.5.1: of trap 128 the details begin with the LID, of 129 to 131 they have it behind two reserved bytes, then the port.
    const std::size_t lid_at = details + (figure((*said)[3]) == 128 ? 0 : 2);
    if (const auto lid = hearing.take("LID of the (?:switch|port) (\\d+)"))
        hearing.equal("as LID", figure((*lid)[1]), first->number(lid_at, 2));
    if (const auto port = hearing.take("Port number (\\d+)")) hearing.equal("as port", figure((*port)[1]), first->number(details + 4, 1));
}

// Requests of one kind from one to another, by transaction.
void unanswered(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kNumber + " requests? for SubnAdm Get PathRecord from (\\S+) to (\\S+) got no answer");
    if (!said) return;
    std::uint64_t requests = 0;
    const auto all = datagrams(hearing);
    for (const Datagram& mad : all) {
        if (mad.management_class != kAdministrationClass || mad.attribute != kPathRecord || mad.answers() || mad.wire->from != (*said)[2] ||
            mad.wire->to != (*said)[3])
            continue;
        const bool answered =
            std::ranges::any_of(all, [&](const Datagram& other) { return other.answers() && other.transaction == mad.transaction; });
        requests += answered ? 0U : 1U;
    }
    hearing.equal("requests without answer", figure((*said)[1]), requests);
}

void query_failed(Hearing& hearing) {
    const auto said = hearing.must_say("^Subnet administration at (\\S+) rejected SubnAdm Get PathRecord from (\\S+) " + kTimes +
                                       ": ([A-Za-z _]+) \\(0x([0-9a-f]{4})\\)");
    if (!said) return;
    const auto status = static_cast<std::uint32_t>(std::stoul((*said)[5], nullptr, 16));
    std::uint64_t refused = 0;
    for (const Datagram& mad : datagrams(hearing))
        refused += mad.management_class == kAdministrationClass && mad.attribute == kPathRecord && mad.answers() && mad.status == status &&
                           mad.wire->from == (*said)[1] && mad.wire->to == (*said)[2]
                       ? 1U
                       : 0U;
    hearing.equal("refusals", figure((*said)[3]), refused);
    // 15.2.5.1: the upper byte is of subnet administration.
    static const std::map<std::uint32_t, std::string> kMeanings{
        {0x0100, "No resources"}, {0x0200, "Request invalid"}, {0x0300, "No records"}};
    const auto meaning = kMeanings.find(status);
    hearing.expect(meaning != kMeanings.end() && meaning->second == (*said)[4], "the status means something else");
}

constexpr std::array kFabricJudges{
    Judge{"multicast-join-failed", join_failed}, Judge{"port-errors-counted", errors_counted}, Judge{"trap-reported", trap_reported},
    Judge{"management-unanswered", unanswered},  Judge{"sa-query-failed", query_failed},
};

}  // namespace

std::span<const Judge> fabric_judges() { return kFabricJudges; }

}  // namespace qps::court
