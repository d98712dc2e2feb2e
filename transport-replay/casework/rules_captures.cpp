// Rules about captures: their findings are claims like all others; lines of logs are tied to connections; sums on the
// wire stand beside counters.
//
// A capture may be of another time or place than the complaint. So a finding decides only where nothing else complains,
// or where a line that complains is about its connection.
#include <transport-replay/casework/case_capture.hpp>
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/casework/counter_words.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::casework {

namespace {

using transport::counted;
using transport::Finding;
using transport::grouped;

// The host that the case knows by an address; else the address.
std::string host_of(const Case& read, const std::string& address) {
    if (const auto at = read.addresses.find(address); at != read.addresses.end()) return at->second;
    for (const Setting& setting : read.settings)
        if (setting.name == "IP" && setting.value == address && !setting.host.empty()) return setting.host;
    return address;
}

// The end or host that a fact of the finding names.
std::string named_by(const Case& read, const Finding& finding, std::string_view fact) {
    const transport::Fact* found = transport::find_fact(finding.facts, fact);
    if (found == nullptr) return {};
    if (const auto* end = std::get_if<transport::Endpoint>(&found->value))
        return host_of(read, transport::text(end->address));
    if (const auto* address = std::get_if<transport::Address>(&found->value))
        return host_of(read, transport::text(*address));
    return {};
}

// Who is meant, as a case says it: the requester is who complains, the responder its peer.
struct Blame {
    Party party = Party::undecided;
    std::string host;
};
Blame blame_of(const Case& read, const Finding& finding) {
    switch (finding.party) {
        case transport::Party::requester: return {Party::local_host, named_by(read, finding, "requester")};
        case transport::Party::responder: return {Party::remote_host, named_by(read, finding, "responder")};
        case transport::Party::fabric: return {Party::network, {}};
        case transport::Party::application: return {Party::application, {}};
        case transport::Party::congestion:
        case transport::Party::capture:
        case transport::Party::undecided: break;
    }
    return {};
}

std::string_view file_name(const Case& read, const CaseCapture& capture) { return read.files[capture.file].name; }

bool is_matched(const CaseCapture& capture, const Finding& finding) {
    return finding.connection && std::ranges::any_of(capture.lines, [&](const LineOnWire& line) {
               return line.alone && line.connection == std::to_underlying(*finding.connection);
           });
}

std::vector<Place> frames_of(const CaseCapture& capture, const Finding& finding) {
    constexpr std::size_t kMost = 4;
    std::vector<Place> places;
    for (const dissect::FrameIndex frame : finding.packets) {
        if (places.size() == kMost) break;
        places.push_back(place_of(capture, frame));
    }
    return places;
}

void claim_finding(const Facts& facts, const CaseCapture& capture, const Finding& finding, bool complaints,
                   Verdict& verdict) {
    const bool matched = is_matched(capture, finding);
    const bool decides = finding.severity == transport::Severity::error && (matched || !complaints);
    std::string text = fmt::format("{}: {}", file_name(facts.read, capture), finding.summary);
    if (text.ends_with('.')) text.pop_back();
    if (complaints && !matched) text += "; no line that complains names this connection alone";
    Blame blame = decides ? blame_of(facts.read, finding) : Blame{};
    claim(verdict, finding.id, decides ? Weight::shown : Weight::hint, blame.party, std::move(blame.host),
          std::move(text), frames_of(capture, finding), finding.facts);
    if (!finding.advice.empty()) next_step(verdict, finding.advice, "");
}

void claim_lines(const Facts& facts, const CaseCapture& capture, Verdict& verdict) {
    constexpr std::size_t kMost = 4;
    std::set<std::pair<std::uint64_t, std::string>> told;  // connections with what fits of them
    for (const LineOnWire& line : capture.lines) {
        if (told.size() == kMost || !told.emplace(line.connection, line.ends).second) continue;
        const std::string what =
            line.connection == 0 ? std::string("an attempt to connect") : fmt::format("connection {}", line.connection);
        claim(verdict, "case-line-on-wire", Weight::remark, Party::undecided, "",
              fmt::format("{} {} {} of {}, {}: {}", place_text(facts.read, line.line),
                          line.alone ? "is about" : "may be about", what, file_name(facts.read, capture), line.ends,
                          line.reasons),
              {line.line, line.frame});
    }
}

struct WireRow {
    std::string_view what;  // of one
    std::uint64_t transport::Totals::* sum;
    std::array<Counter, 2> counters;
};
constexpr std::array kWireRows{
    WireRow{"RNR NAK", &transport::Totals::rnr_naks, {Counter::rnr_received, Counter::no_receive}},
    WireRow{
        "sequence NAK", &transport::Totals::sequence_naks, {Counter::sequence_nak_received, Counter::out_of_sequence}},
    WireRow{"ACK timeout", &transport::Totals::timeouts, {Counter::ack_timeout, Counter::ack_timeout}},
    WireRow{"CNP", &transport::Totals::cnps, {Counter::cnp_sent, Counter::cnp_handled}},
    WireRow{"packet marked CE", &transport::Totals::ce_marked, {Counter::ce_received, Counter::ce_received}},
};

// What the wire showed, beside what counters counted. Nothing ties their times: a difference is told, not judged.
void compare_counters(const Facts& facts, const CaseCapture& capture, Verdict& verdict) {
    std::vector<std::string> alike;
    std::vector<Place> evidence;
    for (const WireRow& row : kWireRows) {
        Changes changes = of(facts, {row.counters[0], row.counters[1]});
        std::erase_if(changes, [](const CounterChange* change) { return !change->paired || change->reset; });
        const std::uint64_t seen = capture.totals.*row.sum;
        if (changes.empty() || (seen == 0 && growth(changes) == 0)) continue;
        std::string counters;
        if (growth(changes) != 0) counters = grown_text(changes, 2);
        else
            counters =
                fmt::format("{} of {} did not grow", changes.front()->vendor_name, at_host(changes.front()->host));
        const std::string on_wire = seen == 0 ? fmt::format("no {}", row.what) : counted(seen, row.what);
        const std::string text = fmt::format("{} in the capture, while {}", on_wire, counters);
        const Place place = growth(changes) != 0 ? evidence_of(changes, 2).back() : changes.front()->place;
        if (seen != 0 && growth(changes) == 0)
            contradiction(verdict,
                          fmt::format("{}: {}: the readings are of another time or host than the capture, or these "
                                      "counters do not count this",
                                      file_name(facts.read, capture), text),
                          {place});
        else {
            alike.push_back(text);
            evidence.push_back(place);
        }
    }
    if (alike.empty()) return;
    claim(verdict, "case-counters-and-wire", Weight::remark, Party::undecided, "",
          fmt::format("{}: {}", file_name(facts.read, capture), fmt::join(alike, "; ")), std::move(evidence));
}

}  // namespace

void judge_captures(const Facts& facts, Verdict& verdict) {
    const bool complaints = anything_failed(facts.read);
    for (const auto& each : facts.read.captures) {
        const CaseCapture& capture = *each;
        const std::string_view file = file_name(facts.read, capture);
        for (const Finding& finding : capture.findings) claim_finding(facts, capture, finding, complaints, verdict);
        claim_lines(facts, capture, verdict);
        compare_counters(facts, capture, verdict);
        if (capture.findings.empty() && capture.packets != 0 && capture.problem.empty())
            claim(verdict, "case-capture-clean", Weight::remark, Party::undecided, "",
                  fmt::format("{}: {}, {}: its analysis has no warning and no error{}", file,
                              counted(capture.packets, "packet"), counted(capture.connections, "connection"),
                              capture.notes != 0
                                  ? fmt::format(", but {} (qpscope findings {})", counted(capture.notes, "note"), file)
                                  : ""),
                  {{capture.file, 1}});
        if (capture.left_out != 0)
            undecided(verdict, fmt::format("undecided: {} more of {} are not listed here: qpscope findings {}",
                                           counted(capture.left_out, "finding"), file, file));
        if (!capture.problem.empty()) undecided(verdict, fmt::format("undecided: {}: {}", file, capture.problem));
        if (complaints && !capture.findings.empty() && capture.lines.empty())
            undecided(verdict, fmt::format("undecided: whether {} is of this failure: no line that complains names a "
                                           "host or queue pair in it, at its time",
                                           file));
    }
}

}  // namespace qps::casework
