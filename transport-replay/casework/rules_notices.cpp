// Rules about single lines: those that say by themselves what is wrong, and complaints that no other rule takes up.
#include <transport-replay/casework/claim_rows.hpp>
#include <transport-replay/casework/complaint_words.hpp>
#include <transport-replay/casework/counter_words.hpp>
#include <transport-replay/casework/notices.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>

#include <fmt/args.h>
#include <fmt/format.h>

namespace qps::casework {

namespace {

using Group = std::vector<const Event*>;

// The devices that lines of a group name, else the words for none.
std::set<std::string> devices_of(const Group& group) {
    std::set<std::string> devices;
    for (const Event* event : group)
        if (!event->device.empty()) devices.insert(event->device);
    return devices;
}

std::string filled(std::string_view words, const Group& group) {
    const Event& first = *group.front();
    fmt::dynamic_format_arg_store<fmt::format_context> facts;
    facts.push_back(fmt::arg("device", list_text(devices_of(group), 4)));
    facts.push_back(fmt::arg("peer", first.peer));
    facts.push_back(fmt::arg("operation", first.operation));
    facts.push_back(fmt::arg("text", first.text));
    facts.push_back(fmt::arg("number", first.number));
    return fmt::vformat(words, facts);
}

// A rule that met no packet did nothing.
bool counted_nothing(const Notice& row, const Event& first) {
    return row.says.contains("{number} packets") && first.number == 0;
}

// A benchmark of the case reached what the bus carries, and no more.
bool bus_is_reached(const Case& read, const Notice& row, const Event& first) {
    if (row.id != "case-bus-narrow") return false;
    const double bus = std::strtod(first.operation.c_str(), nullptr) * 1e9;
    return std::ranges::any_of(read.measurements, [&](const Measurement& each) {
        return each.rdma && each.bits_per_second > bus * 0.8 && each.bits_per_second < bus;
    });
}

// Something else went wrong that the line may not explain: what only follows, and what nobody explains, is nothing
// else.
bool other_trouble(const Facts& facts) {
    using enum EventKind;
    static constexpr std::array kNothingElse{port_up, work_request, controller_created, queues_created, reboot,
                                             notice,  unexplained,  peer_closed,        remote_error,   disconnected};
    return std::ranges::any_of(facts.read.events, [](const Event& event) {
        return std::ranges::find(kNothingElse, event.kind) == kNothingElse.end();
    });
}

// Whether complaints of others stand in the same file before the line, or none after it: what comes so late follows.
bool comes_last(const Case& read, const Event& event) {
    bool before = false, after = false;
    for (const Event* complaint : events_of(read, {EventKind::completion_error, EventKind::watchdog}))
        if (complaint->place.file == event.place.file) (complaint->place < event.place ? before : after) = true;
    return before && !after;
}

}  // namespace

void judge_notices(const Facts& facts, Verdict& verdict) {
    const auto rows = notices();
    std::map<std::pair<std::size_t, std::string>, Group> groups;
    for (const Event* event : events_of(facts.read, {EventKind::notice}))
        if (event->notice != 0 && event->notice <= rows.size())
            groups[{event->notice - 1U, rows[event->notice - 1U].of_peer ? event->peer : event->host}].push_back(event);
    const bool failed = other_trouble(facts);
    for (const auto& [key, group] : groups) {
        const Notice& row = rows[key.first];
        const bool reached = !failed && bus_is_reached(facts.read, row, *group.front());
        const Weight weight = reached                                  ? Weight::shown
                              : counted_nothing(row, *group.front())   ? Weight::remark
                              : !failed                                ? row.weight
                              : comes_last(facts.read, *group.front()) ? Weight::remark
                                                                       : row.beside;
        const auto devices = devices_of(group);
        claim(verdict, row.id, weight,
              reached                   ? Party::local_host
              : weight >= Weight::shown ? row.party
                                        : Party::undecided,
              key.second,
              fmt::format("{}: {}{}", at_host(key.second), filled(row.says, group),
                          group.size() > 1 ? fmt::format(" ({})", transport::counted(group.size(), "line")) : ""),
              places_of(group), {{facts::kNamedDevices, std::vector<std::string>(devices.begin(), devices.end())}});
        next_step(verdict, std::string(row.command), at_host(key.second),
                  {{std::string(row.seen), std::string(row.means)}, {"otherwise", std::string(row.other)}});
    }
}

namespace {

// Counters that no rule knows, by whose names something went wrong, and which grew.
void judge_unknown_counters(const Facts& facts, Verdict& verdict) {
    static constexpr std::array<std::string_view, 14> kBad{"err",  "drop", "viol", "discard", "fail", "bad", "timeout",
                                                           "retr", "nak",  "over", "lost",    "rej",  "crc", "stall"};
    static constexpr std::array<std::string_view, 4> kOfNetdev{"rx_out_of_buffer", "rx_wqe_err", "tx_cqe_err", "over_"};
    Changes grown;
    for (const CounterChange& change : facts.changes) {
        std::string name = change.vendor_name;
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        const auto has = [&](std::string_view word) { return name.contains(word); };
        if (change.what.counter == Counter::other && change.paired && !change.reset && change.grown != 0 &&
            std::ranges::any_of(kBad, has) && std::ranges::none_of(kOfNetdev, has) && !is_gauge(change.vendor_name))
            grown.push_back(&change);
    }
    if (grown.empty()) return;
    const bool alone =
        std::ranges::none_of(verdict.claims, [](const Claim& each) { return each.weight > Weight::remark; });
    const std::string host = grown.front()->host;
    std::erase_if(grown, [&](const CounterChange* change) { return change->host != host; });
    claim(verdict, "case-counter-unexplained", alone ? Weight::hint : Weight::remark, Party::undecided, host,
          fmt::format("{}: {}: no rule here knows what that counts, only that its name speaks of something wrong",
                      at_host(host), grown_text(grown, 4)),
          evidence_of(grown), grown_facts(grown));
    if (!alone) return;
    undecided(verdict, "undecided: what these counters count is not known here");
    next_step(
        verdict, "the driver's documentation of these counters; what the peers and the application do while they grow",
        at_host(host),
        {{"they grow with the failure", "they lead to it"}, {"they grow all the time", "they are of something else"}});
}

}  // namespace

// What a program or the kernel complains of, and no rule explains: better said than silent. It decides nothing.
void judge_unexplained(const Facts& facts, Verdict& verdict) {
    judge_unknown_counters(facts, verdict);
    const Group lines = events_of(facts.read, {EventKind::unexplained});
    if (lines.empty()) return;
    const bool alone =
        std::ranges::none_of(verdict.claims, [](const Claim& each) { return each.weight > Weight::remark; });
    const std::size_t most = alone ? 4 : 2;
    std::set<std::string> hosts;
    std::set<const ComplaintMeaning*> meanings;
    for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
        const Event& line = *lines[i];
        hosts.insert(line.host);
        const ComplaintMeaning* meaning = meaning_of(line.text);
        const std::string number = errno_text(line.text);
        const std::string action = action_of(line.text);
        claim(verdict, "case-line-unexplained", alone ? Weight::hint : Weight::remark, Party::undecided, line.host,
              fmt::format("{}: a line of a {}{} complains, and no rule here explains it: {}{}{}{}", at_host(line.host),
                          line.operation, line.process.empty() ? "" : fmt::format(" ({})", line.process), line.text,
                          number.empty() ? "" : fmt::format(" ({})", number),
                          action.empty() ? "" : fmt::format(". What failed: {}", action),
                          meaning == nullptr ? "" : fmt::format(". By its words {}", meaning->means)),
              {line.place});
        if (!alone || meaning == nullptr || !meanings.insert(meaning).second) continue;
        next_step(
            verdict, std::string(meaning->command), at_host(line.host),
            {{std::string(meaning->seen), std::string(meaning->then)}, {"otherwise", std::string(meaning->other)}});
    }
    if (!alone) return;
    undecided(verdict, "undecided: such words fit several causes; these lines do not show which party has it");
    next_step(verdict,
              "the lines before the first of these, on that host and on its peer at the same time; versions of driver, "
              "firmware and library (ethtool -i IF, ibv_devinfo)",
              list_text(hosts),
              {{"an earlier error", "it is nearer to the cause"}, {"none", "look for this line with those versions"}});
}

}  // namespace qps::casework
