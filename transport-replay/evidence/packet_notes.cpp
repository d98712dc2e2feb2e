#include <transport-replay/evidence/packet_notes.hpp>
#include <transport-replay/report/cm.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/verbs.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kMostMessages = 4;  // told of one packet, one by one

std::uint64_t number(FrameIndex frame) { return std::to_underlying(frame); }

// The words of kRecoveryKindNames, as sentences have them.
std::string_view cause_of(const Recovery& episode) {
    switch (episode.kind) {
        case RecoveryKind::sequence_nak: return "sequence NAK";
        case RecoveryKind::rnr_nak: return "RNR NAK";
        case RecoveryKind::timeout: return "ACK timeout";
        case RecoveryKind::read_retry: return "READ retry";
        case RecoveryKind::undecided: break;
    }
    return "NAK or ACK timeout";
}

template <class... Values> void add_line(std::string& out, fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
    out += '\n';
}

// Values have no blanks and no braces: ids, words of tables, numbers.
template <class... Values>
void add_field(std::string& fields, fmt::format_string<Values...> format, Values&&... values) {
    fields += fields.empty() ? '{' : ' ';
    fmt::format_to(std::back_inserter(fields), format, std::forward<Values>(values)...);
}

double seconds(Duration duration) { return static_cast<double>(std::to_underlying(duration)) / 1e9; }

std::string_view outcome_word(Outcome outcome) {
    switch (outcome) {
        case Outcome::open: return "open";
        case Outcome::completed: return "completed";
        case Outcome::sent: return "sent";
        case Outcome::failed: return "failed";
        case Outcome::abandoned: return "abandoned";
        case Outcome::gave_up: return "gave up";
    }
    return "open";
}

}  // namespace

PacketNotes::PacketNotes(const Timeline& timeline, NoteScope scope) : timeline_(timeline), scope_(scope) {
    for (std::size_t i = 0; i < timeline.findings.size(); ++i)
        for (const FrameIndex frame : timeline.findings[i].packets) note(frame, Subject::finding, i);
    if (scope == NoteScope::all) {
        add_recoveries();
        add_attempts();
        for (std::size_t i = 0; i < timeline.fatalities.size(); ++i)
            note(timeline.fatalities[i].frame, Subject::refusal, i);
    }
    std::ranges::stable_sort(notes_, {}, &Note::frame);
}

void PacketNotes::note(FrameIndex frame, Subject subject, std::size_t place, std::size_t rung) {
    if (frame != FrameIndex{})
        notes_.push_back({frame, subject, static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(rung)});
}

void PacketNotes::add_recoveries() {
    for (std::size_t i = 0; i < timeline_.recoveries.size(); ++i) {
        const Recovery& episode = timeline_.recoveries[i];
        note(episode.original, Subject::first_sending, i);
        note(episode.trigger, Subject::trigger, i);
        if (episode.resumed != episode.trigger) note(episode.resumed, Subject::resumed, i);
        if (episode.last != episode.resumed && episode.last != episode.trigger)
            note(episode.last, Subject::recovered, i);
    }
}

void PacketNotes::add_attempts() {
    for (std::size_t i = 0; i < timeline_.cm.attempts.size(); ++i)
        for (std::size_t rung = 0; rung < timeline_.cm.attempts[i].ladder.size(); ++rung)
            note(timeline_.cm.attempts[i].ladder[rung].frame, Subject::set_up, i, rung);
}

void PacketNotes::append_note(std::string& out, std::string& fields, const Note& note) const {
    const auto episode = [&]() -> const Recovery& { return timeline_.recoveries[note.place]; };
    switch (note.subject) {
        case Subject::finding: {
            const Finding& finding = timeline_.findings[note.place];
            add_line(out, "finding {} {}: {}", severity_name(finding), finding.id, finding.summary);
            add_field(fields, "rdma.finding={} rdma.severity={}", finding.id, severity_name(finding));
            break;
        }
        case Subject::first_sending:
            add_line(out, "PSN {} was retransmitted from frame {} on, after a {}", episode().psn.value(),
                     number(episode().resumed), cause_of(episode()));
            break;
        case Subject::trigger:
            add_line(
                out, "{}: retransmission from PSN {} on{}, {} without progress", cause_of(episode()),
                episode().psn.value(),
                episode().resumed == episode().trigger ? "" : fmt::format(" in frame {}", number(episode().resumed)),
                duration_text(episode().lost_time()));
            add_field(fields, "rdma.episode={} rdma.episode.stall={:.9f}",
                      kRecoveryKindNames[static_cast<std::size_t>(episode().kind)], seconds(episode().lost_time()));
            break;
        case Subject::resumed:
            add_line(out, "retransmission begins, after the {} of frame {}", cause_of(episode()),
                     number(episode().trigger));
            break;
        case Subject::recovered:
            add_line(out, "the retransmission after the {} of frame {} ends: {}", cause_of(episode()),
                     number(episode().trigger), kRecoveryEndNames[static_cast<std::size_t>(episode().end)]);
            break;
        case Subject::refusal: {
            const Fatality& refusal = timeline_.fatalities[note.place];
            add_line(out, "fatal NAK: {}, of the request with PSN {}", nak_text(refusal.nak_code), refusal.psn.value());
            add_field(fields, "rdma.nak={}", refusal.nak_code);
            break;
        }
        case Subject::set_up: {
            const CmAttempt& attempt = timeline_.cm.attempts[note.place];
            const CmRung& rung = attempt.ladder[note.rung];
            const std::string remarks = remarks_text(rung);
            add_line(out, "connection attempt {}: {} of the {} side{}{}", attempt.uid, message_text(attempt, rung),
                     rung.from_active ? "active" : "passive", remarks.empty() ? "" : ", ", remarks);
            add_field(fields, "rdma.attempt={}", attempt.uid);
            break;
        }
    }
}

void PacketNotes::append_record(std::string& out, std::string& fields, const Observation& observation,
                                const PacketRecord& record) const {
    const auto what = [&] {
        return observation.kind != ObservationKind::transport ? std::string("data")
                                                              : fmt::format("PSN {}", observation.psn.value());
    };
    if (record.retransmission) {
        add_line(out, "retransmission: {} had been on the wire before{}", what(),
                 record.duplicated ? ", doubled by the network" : "");
        add_field(fields, "rdma.retransmission=1");
    }
    if (record.duplicated) add_field(fields, "rdma.duplicated=1");
    if (record.missing != 0) {
        add_line(out, "gap: {} skipped before this packet", counted(record.missing, "PSN"));
        add_field(fields, "rdma.psn_missing={}", record.missing);
    }
    if (record.arrival == Arrival::late) add_line(out, "late: {} had been skipped", what());
    if (record.corrupt) {
        add_line(out, "corrupt: ICRC wrong, the receiver drops this packet");
        add_field(fields, "rdma.corrupt=1");
    }
    if (record.unmatched) {
        add_line(out, "unmatched: no request waits for this answer");
        add_field(fields, "rdma.unmatched=1");
    }
    if (record.mirror_copy) {
        add_line(out, "copy of a mirror: another recording of a packet seen before");
        add_field(fields, "rdma.mirror_copy=1");
    }
}

void PacketNotes::append_messages(std::string& out, std::string& fields, const PacketRecord& record,
                                  std::span<const Message> ended) const {
    if (ended.empty()) return;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < ended.size(); ++i) {
        const Message& message = ended[i];
        bytes += message.bytes;
        if (i >= kMostMessages) continue;
        const std::string latency =
            message.outcome == Outcome::completed && message.first_time <= message.answer_time
                ? fmt::format(" after {}", duration_text(message.answer_time - message.first_time))
                : std::string();
        // Rows have the low bits of Ultra Ethernet's PSNs alone.
        const std::string psns =
            message.service == dissect::Service::uet ? "" : ", PSN " + psn_range(message.first, message.last);
        add_line(out, "message {} of {}{}: {}{}", verb_text(message), bytes_text(message.bytes), psns,
                 outcome_text(message), latency);
    }
    if (ended.size() > kMostMessages)
        add_line(out, "and {} ended by this packet", counted(ended.size() - kMostMessages, "more message"));
    add_field(fields, "rdma.message.completed={} rdma.message.bytes={} rdma.message.outcome={}", ended.size(), bytes,
              outcome_word(ended.back().outcome));
    if (record.latency) add_field(fields, "rdma.message.latency={:.9f}", seconds(*record.latency));
}

void PacketNotes::append(std::string& out, const Observation& observation, const PacketRecord& record,
                         std::span<const Message> ended) {
    fields_.clear();
    const std::size_t begin = out.size();
    while (next_ < notes_.size() && notes_[next_].frame < observation.frame) ++next_;
    for (; next_ < notes_.size() && notes_[next_].frame == observation.frame; ++next_)
        append_note(out, fields_, notes_[next_]);
    if (scope_ == NoteScope::all) {
        append_record(out, fields_, observation, record);
        append_messages(out, fields_, record, ended);
    }
    if (out.size() == begin) return;
    if (record.connection && timeline_.find(*record.connection) != nullptr)
        add_field(fields_, "rdma.connection={} rdma.from={}", std::to_underlying(*record.connection),
                  record.from == End::a ? 'a' : 'b');
    if (fields_.empty()) out.pop_back();
    else out += fields_ + '}';
}

std::string section_text(const Timeline& timeline, std::size_t most) {
    std::string text;
    const auto add = [&](std::string_view line) {
        if (text.size() + line.size() + 1 > most) return false;
        text += line;
        text += '\n';
        return true;
    };
    add(fmt::format("qpscope: {}, {}, {}", counted(timeline.packets, "packet"),
                    counted(timeline.connections.size(), "connection"), counted(timeline.findings.size(), "finding")));
    for (const Finding& finding : timeline.findings) {
        const std::string where =
            finding.connection ? fmt::format(" connection {}", std::to_underlying(*finding.connection)) : std::string();
        if (!add(fmt::format("{} {}{}, {}: {}", severity_name(finding), finding.id, where, party_name(finding),
                             finding.summary)))
            break;
        if (!finding.advice.empty() && !add("  -> " + finding.advice)) break;
    }
    return text;
}

}  // namespace qps::transport
