// Judges of what managers of a fabric count, report, refuse and leave unanswered (volume 1, 13.4, 14.2.5, 15.2, 16.1).
#include <tests/court/datagram.hpp>
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <regex>

#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr std::size_t kDataOfSubnet = 64, kDataOfAdministration = 56;  // places in a MAD
constexpr std::uint32_t kAdministrationClass = 3, kPerformanceClass = 4;
constexpr std::uint32_t kNotice = 0x02, kPortCounters = 0x12, kPathRecord = 0x35, kMemberRecord = 0x38;

bool proves(const Hearing& hearing, const Datagram& mad) {
    return std::ranges::count(hearing.claim().frames, mad.wire->frame) != 0;
}

void join_failed(Hearing& hearing) {
    std::uint64_t refused = 0;
    for (const Datagram& mad : datagrams(hearing)) {
        if (mad.management_class != kAdministrationClass || mad.attribute != kMemberRecord || !mad.answers() ||
            mad.status == 0)
            continue;
        if (refused++ != 0) continue;
        hearing.expect(hearing.word("host") == mad.wire->to, "the first was refused to " + mad.wire->to);
        hearing.equal_fact("mad_status", mad.status);
    }
    hearing.equal_fact("refused_joins", static_cast<double>(refused));
}

// PortCounters of 16.1.3.5: where each counter is, and how wide.
struct Counter {
    std::string_view name;
    std::size_t at, octets;
};
constexpr std::array kCounters{Counter{"Symbol errors", 4, 2}, Counter{"Link error recoveries", 6, 1},
                               Counter{"Link downed", 7, 1}};

void errors_counted(Hearing& hearing) {
    const std::string node = hearing.word("node").value_or("");
    const auto port = hearing.number("port_number");
    std::vector<Datagram> answers;
    for (const Datagram& mad : datagrams(hearing))
        if (mad.management_class == kPerformanceClass && mad.attribute == kPortCounters && mad.answers() &&
            mad.wire->from == node && mad.number(kDataOfSubnet + 1, 1) == port)
            answers.push_back(mad);
    if (answers.size() < 2) return hearing.object("no two answers tell of that port");
    hearing.equal_fact("span_ns", static_cast<double>(answers.back().wire->time - answers.front().wire->time));
    std::vector<std::string> shown;
    for (const Counter& counter : kCounters) {
        const std::uint64_t first = answers.front().number(kDataOfSubnet + counter.at, counter.octets);
        const std::uint64_t last = answers.back().number(kDataOfSubnet + counter.at, counter.octets);
        if (last != first) shown.push_back(fmt::format("{} +{} to {}", counter.name, last - first, last));
    }
    std::vector<std::string> said = hearing.list("error_counters");
    for (std::string& counter : said) std::erase(counter, ',');  // between thousands
    hearing.expect(said == shown, fmt::format("the packets show {}", fmt::join(shown, ", ")));
    hearing.expect(proves(hearing, answers.front()) && proves(hearing, answers.back()),
                   "the first or the last answer is not in its evidence");
}

void trap_reported(Hearing& hearing) {
    const auto trap = hearing.number("trap");
    const std::string notice = hearing.word("notice").value_or("");
    std::uint64_t notices = 0;
    const Datagram* first = nullptr;
    const auto all = datagrams(hearing);
    for (const Datagram& mad : all) {
        if (mad.attribute != kNotice || mad.answers() || (mad.method != 5 && mad.method != 6)) continue;
        const std::size_t data = mad.management_class == kAdministrationClass ? kDataOfAdministration : kDataOfSubnet;
        if ((mad.number(data, 1) & 0x80U) == 0 || mad.number(data + 4, 2) != trap) continue;
        if (notices++ == 0) first = &mad;
    }
    if (first == nullptr) return hearing.object("there is no such notice");
    hearing.expect(hearing.word("host") == first->wire->from && hearing.word("peer") == first->wire->to,
                   "the first is between other hosts");
    hearing.expect(notice.starts_with(fmt::format("trap {}, ", *trap)), "its words are of another trap");
    hearing.expect(hearing.number("notices").value_or(1) == static_cast<double>(notices),
                   fmt::format("there are {} notices", notices));
    const std::size_t details =
        (first->management_class == kAdministrationClass ? kDataOfAdministration : kDataOfSubnet) + 10;
    // 14.2.5.1: of trap 128 the details begin with the LID, of 129 to 131 they have it behind two reserved bytes, then
    // the port.
    const std::size_t lid_at = details + (trap == 128 ? 0 : 2);
    static const std::regex kLid("LID of the (?:switch|port) (\\d+)"), kPort("Port number (\\d+)");
    std::smatch match;
    if (std::regex_search(notice, match, kLid)) hearing.equal("as LID", std::stoul(match[1]), first->number(lid_at, 2));
    if (std::regex_search(notice, match, kPort))
        hearing.equal("as port", std::stoul(match[1]), first->number(details + 4, 1));
}

// Requests of one kind from one to another, by transaction.
struct Between {
    std::string requester, responder;
};
std::optional<Between> path_queries(Hearing& hearing) {
    const auto from = hearing.end("requester"), to = hearing.end("responder");
    if (from && to && hearing.word("management_request") == "SubnAdm Get PathRecord")
        return Between{from->address, to->address};
    hearing.object("the court knows no such request");
    return {};
}

void unanswered(Hearing& hearing) {
    const auto ends = path_queries(hearing);
    if (!ends) return;
    std::uint64_t requests = 0;
    const auto all = datagrams(hearing);
    for (const Datagram& mad : all) {
        if (mad.management_class != kAdministrationClass || mad.attribute != kPathRecord || mad.answers() ||
            mad.wire->from != ends->requester || mad.wire->to != ends->responder)
            continue;
        const bool answered = std::ranges::any_of(
            all, [&](const Datagram& other) { return other.answers() && other.transaction == mad.transaction; });
        requests += answered ? 0U : 1U;
    }
    hearing.equal_fact("requests_sent", static_cast<double>(requests));
}

void query_failed(Hearing& hearing) {
    const auto ends = path_queries(hearing);
    const auto status = hearing.number("mad_status");
    if (!ends || !status) return hearing.object("does not say who rejected what, and how");
    std::uint64_t refused = 0;
    for (const Datagram& mad : datagrams(hearing))
        refused += mad.management_class == kAdministrationClass && mad.attribute == kPathRecord && mad.answers() &&
                           mad.status == *status && mad.wire->from == ends->responder && mad.wire->to == ends->requester
                       ? 1U
                       : 0U;
    hearing.equal_fact("refusals", static_cast<double>(refused));
    // 15.2.5.1: the upper byte is of subnet administration.
    static const std::map<double, std::string> kMeanings{
        {0x0100, "No resources"}, {0x0200, "Request invalid"}, {0x0300, "No records"}};
    const auto meaning = kMeanings.find(*status);
    hearing.expect(meaning != kMeanings.end() && hearing.word("status_meaning") == meaning->second,
                   "the status means something else");
}

constexpr std::array kFabricJudges{
    Judge{"multicast-join-failed", join_failed}, Judge{"port-errors-counted", errors_counted},
    Judge{"trap-reported", trap_reported},       Judge{"management-unanswered", unanswered},
    Judge{"sa-query-failed", query_failed},
};

}  // namespace

std::span<const Judge> fabric_judges() { return kFabricJudges; }

}  // namespace qps::court
