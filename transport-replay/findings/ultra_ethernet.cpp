// Findings about Ultra Ethernet: what was sent again, refused, trimmed; paths that differ from the others. Reordering is none: packets are
// sprayed over paths.
#include <dissect/ultra_ethernet/names.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace words;

struct Context {
    const UetConversation& uet;
    const Connection& connection;
    [[nodiscard]] std::string from(End end) const { return host(connection.end(end)); }
    [[nodiscard]] std::string to(End end) const { return host(connection.end(other(end))); }
};

template <class See>
void each_sender(const Timeline& timeline, See see) {
    for (const UetConversation& uet : timeline.uet.conversations)
        if (const Connection* connection = timeline.find(uet.connection); connection != nullptr)
            for (const End end : {End::a, End::b}) see(Context{uet, *connection}, end, uet.way(end));
}

std::string code_text(std::span<const dissect::ValueName> names, std::uint8_t code) {
    const std::string_view name = dissect::name_in(names, code);
    return name.empty() ? fmt::format("{:#04x}", code) : std::string(name);
}
std::string nack_name(std::uint8_t code) { return code_text(dissect::kUetNackCodes, code); }

std::uint64_t trimming_reported(const UetWay& way) {
    std::uint64_t sum = 0;
    for (const UetCode& nack : way.nacks)
        if (reports_trimming(nack.code)) sum += nack.count;
    return sum;
}

// By their names the receiver lacks something, rejects the context, or names a packet that did not come.
enum class NackKind : std::uint8_t { resources, fatal, loss, other };
NackKind kind_of(std::uint8_t code) {
    constexpr std::uint8_t kFirstResource = 0x04, kLastResource = 0x0a, kOutOfOrder = 0x0d, kNotReceived = 0x12, kInferredLoss = 0x1a;
    constexpr std::array<std::uint8_t, 8> kFatal{0x0e, 0x0f, 0x11, 0x13, 0x15, 0x16, 0x19, 0xff};
    if (code >= kFirstResource && code <= kLastResource) return NackKind::resources;
    if (std::ranges::find(kFatal, code) != kFatal.end()) return NackKind::fatal;
    return code == kOutOfOrder || code == kNotReceived || code == kInferredLoss ? NackKind::loss : NackKind::other;
}

// The sender sets a flag, so that a copy is never taken for one. Why it sent again only NACKs prove.
void uet_retransmitted(const Timeline& timeline, const Emit& emit) {
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        const Way& sender = place.connection.way(end);
        if (sender.incidents->retransmitted == 0) return;
        const bool answers_seen = place.connection.way(other(end)).packets != 0;
        const bool all_trimmed = way.after_trimming == sender.incidents->retransmitted;
        const bool all_needless = way.needless == sender.incidents->retransmitted;
        // The receiver had them, and said so; NACKs of a loss say that it had not.
        const bool all_refused = way.after_nack == sender.incidents->retransmitted && way.after_trimming == 0 &&
                                 std::ranges::all_of(way.nacks, [](const UetCode& nack) { return kind_of(nack.code) == NackKind::resources; });
        const std::uint64_t sent = sender.requests - std::min(sender.requests, sender.incidents->duplicated);  // what two taps recorded is one
        std::string details;
        const auto add = [&](std::uint64_t count, std::string_view what) {
            if (count != 0) details += fmt::format("{}{} {}", details.empty() ? ": " : ", ", count, what);
        };
        add(way.after_trimming, "after a NACK for trimming");
        add(way.after_nack - way.after_trimming, "after another NACK");
        add(way.needless, "already acknowledged");
        add(way.unseen, "whose first transmission is not in the capture");
        emit({.party = !answers_seen  ? Party::undecided
                       : all_trimmed  ? Party::congestion
                       : all_needless ? Party::requester
                       : all_refused  ? Party::responder
                                      : Party::fabric,
              .connection = place.connection.uid,
              .old_packets = way.resent_frames,
              .count = sender.incidents->retransmitted,
              .old_summary = fmt::format("{} retransmitted {} of {} to {}{}.", place.from(end), sender.incidents->retransmitted,
                                     counted(sent, "packet"), place.to(end), details),
              .old_advice = !answers_seen  ? fmt::format("Capture both directions: without the answers of {} nobody can say why.", place.to(end))
                        : all_trimmed  ? "Look for the congested switch port that trims packets which it cannot queue."
                        : all_needless ? fmt::format("Check the retransmission timeout of {}: nothing that it sent again was missing.", place.from(end))
                        : all_refused  ? fmt::format("Check what {} can hold: buffers, contexts, messages.", place.to(end))
                                       : fmt::format("Compare the paths of the connection (qpscope analyze), and look for drops between {} and {}.",
                                                     place.from(end), place.to(end))});
    });
}

void uet_nack(const Timeline& timeline, const Emit& emit) {
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        for (const UetCode& nack : way.nacks) {
            if (reports_trimming(nack.code)) continue;
            const NackKind kind = kind_of(nack.code);
            // Whether the context went on all the same; of one that was being closed the receiver may know nothing any more.
            const bool over = kind == NackKind::fatal && !place.connection.released && way.acknowledged < nack.frames.front();
            emit({.party = kind == NackKind::resources ? Party::responder
                           : kind == NackKind::loss    ? Party::fabric
                                                       : Party::undecided,
                  .connection = place.connection.uid,
                  .old_packets = nack.frames,
                  .count = nack.count,
                  .old_summary = fmt::format("{} answered {} of {} with NACK {}{}.", place.to(end), counted(nack.count, "packet"), place.from(end),
                                         nack_name(nack.code), over ? ", and acknowledged nothing after it" : ""),
                  .old_advice = kind == NackKind::resources ? fmt::format("Check what {} can hold: buffers, contexts, messages.", place.to(end))
                            : kind == NackKind::loss    ? fmt::format("Look for drops between {} and {}.", place.from(end), place.to(end))
                                                        : fmt::format("Check the packets of {} right before, and the log of {}.", place.from(end),
                                                                      place.to(end)),
                  .severity = over ? std::optional(Severity::error) : std::nullopt});
        }
    });
}

// A packet is trimmed where UDP says more than IP has; a NACK reports one that the capture need not have.
void uet_trimmed(const Timeline& timeline, const Emit& emit) {
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        const std::uint64_t reported = trimming_reported(way);
        if (way.trimmed == 0 && reported == 0) return;
        std::vector<dissect::FrameIndex> frames = way.trimmed_frames;
        constexpr std::uint8_t kLastHop = 2;
        std::uint64_t last_hop = 0;
        for (const UetCode& nack : way.nacks) {
            if (!reports_trimming(nack.code)) continue;
            frames.insert(frames.end(), nack.frames.begin(), nack.frames.end());
            if (nack.code == kLastHop) last_hop = nack.count;
        }
        const std::string hop = last_hop == 0 ? "" : fmt::format(" ({} at the last hop)", last_hop);
        const std::string said = reported == 0 ? "" : fmt::format("{} reported {} of {} as trimmed{}", place.to(end), counted(reported, "packet"), place.from(end), hop);
        emit({.party = Party::congestion,
              .connection = place.connection.uid,
              .old_packets = std::move(frames),
              .count = std::max(way.trimmed, reported),
              .old_summary = way.trimmed == 0 ? said + "."
                                          : fmt::format("Switches trimmed {} from {} to {}{}{}.", counted(way.trimmed, "packet"), place.from(end),
                                                        place.to(end), said.empty() ? "" : "; ", said),
              .old_advice = fmt::format("Look for the congested port on the way to {}{}.", place.to(end),
                                    last_hop == reported && last_hop != 0 ? ": its last hop, so too many senders at once" : "")});
    });
}

// One entropy value with far more than its share of what was sent again.
void uet_path_loss(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint64_t kFewest = 8;    // packets sent again on it
    constexpr std::uint64_t kTimesMore = 4;  // than on the others, of as many packets
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        std::uint64_t packets = 0, resent = 0;
        for (const UetPath& path : way.paths) {
            packets += path.packets;
            resent += path.resent;
        }
        for (const UetPath& path : way.paths) {
            const std::uint64_t other_packets = packets - path.packets, other_resent = resent - path.resent;
            if (path.resent < kFewest || other_packets == 0) continue;
            if (path.resent * other_packets <= kTimesMore * std::max<std::uint64_t>(other_resent, 1) * path.packets) continue;
            emit({.party = Party::fabric,
                  .connection = place.connection.uid,
                  .old_packets = way.resent_frames,
                  .count = path.resent,
                  .old_summary = fmt::format("{} of {} that {} retransmitted to {} were first sent with entropy {:#06x}, which {} of all packets have.", path.resent,
                                         counted(resent, "packet"), place.from(end), place.to(end), path.entropy, share(path.packets, packets)),
                  .old_advice = fmt::format("Find the links that a packet with UDP source port {} takes, and check their error counters.", path.entropy)});
        }
    });
}

// Even the quickest packet of one path takes longer than the others do on average.
void uet_path_slow(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint64_t kFewest = 16;  // measured delays
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        DurationSummary all;
        for (const UetPath& path : way.paths) all.add(path.delay);
        for (const UetPath& path : way.paths) {
            const std::uint64_t others = all.count - path.delay.count;
            if (path.delay.count < kFewest || others < kFewest) continue;
            const auto mean = dissect::Duration{std::to_underlying(all.sum - path.delay.sum) / static_cast<std::int64_t>(others)};
            if (path.delay.least <= mean || path.delay.least - mean < mean) continue;  // not twice as long
            emit({.party = Party::fabric,
                  .connection = place.connection.uid,
                  .count = path.delay.count,
                  .old_summary = fmt::format("{} acknowledged packets of {} with entropy {:#06x} after {} at the soonest, those of other paths after {} on average.",
                                         place.to(end), place.from(end), path.entropy, duration_text(path.delay.least), duration_text(mean)),
                  .old_advice = fmt::format("Find the links that a packet with UDP source port {} takes, and look for a queue or a detour.", path.entropy)});
        }
    });
}

// By their names the request addressed what is not there, or not permitted.
void uet_refused(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint8_t kFirstTranslation = 0x08, kLastTranslation = 0x0c, kFirstViolation = 0x17, kLastViolation = 0x1d;
    each_sender(timeline, [&](const Context& place, End end, const UetWay& way) {
        for (const UetCode& refusal : way.refusals) {
            const bool access = (refusal.code >= kFirstTranslation && refusal.code <= kLastTranslation) ||
                                (refusal.code >= kFirstViolation && refusal.code <= kLastViolation);
            emit({.party = access ? Party::requester : Party::undecided,
                  .connection = place.connection.uid,
                  .old_packets = refusal.frames,
                  .count = refusal.count,
                  .old_summary = fmt::format("{} answered {} of {} with return code {}.", place.to(end), counted(refusal.count, "request"),
                                         place.from(end), code_text(dissect::kSesReturnCodes, refusal.code)),
                  .old_advice = fmt::format("Check what the requests of {} name: job, process, resource index, memory key and length.", place.from(end)),
                  .severity = access ? std::nullopt : std::optional(Severity::warning)});
        }
    });
}

}  // namespace

Family ultra_ethernet_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "uet-refused",
                   .severity = Severity::error,
                   .clause = "UET 1.0 SES",
                   .meaning = "A target answered requests of Ultra Ethernet with an error",
                   .draw = uet_refused},
        FindingRow{.id = "uet-retransmitted",
                   .severity = Severity::warning,
                   .clause = "UET 1.0 PDS",
                   .meaning = "Packets of Ultra Ethernet were retransmitted",
                   .by_order = true,
                   .draw = uet_retransmitted},
        FindingRow{.id = "uet-nack",
                   .severity = Severity::warning,
                   .clause = "UET 1.0 PDS",
                   .meaning = "A receiver answered packets of Ultra Ethernet with a NACK",
                   .draw = uet_nack},
        FindingRow{.id = "uet-trimmed",
                   .severity = Severity::warning,
                   .clause = "UET 1.0 PDS",
                   .meaning = "Switches trimmed packets of Ultra Ethernet",
                   .draw = uet_trimmed},
        FindingRow{.id = "uet-path-loss",
                   .severity = Severity::warning,
                   .clause = kObserved,
                   .meaning = "One path of Ultra Ethernet loses far more packets than the others",
                   .by_order = true,
                   .draw = uet_path_loss},
        FindingRow{.id = "uet-path-slow",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "One path of Ultra Ethernet is far slower than the others",
                   .draw = uet_path_slow},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
