// What several families of findings look up in a Timeline: recoveries by connection, CM attempts, who was heard by
// whom.
//
// Everything is made once for a whole Timeline, sorted and searched: the cost is that of sorting, whatever was
// captured.
#pragma once

#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/kept_packets.hpp>
#include <transport-replay/model/recovery.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace qps::transport {

// The recoveries of one way that were kept (LeftOut::recoveries).
struct Episodes {
    const Connection& connection;
    End requester{};
    std::vector<const Recovery*> episodes;  // in the order they began

    [[nodiscard]] const Way& way() const { return connection.way(requester); }
    [[nodiscard]] const Way& answers() const { return connection.way(other(requester)); }
    [[nodiscard]] const Endpoint& from() const { return connection.end(requester); }
    [[nodiscard]] const Endpoint& to() const { return connection.end(other(requester)); }
};
[[nodiscard]] std::vector<Episodes> all_episodes(const Timeline& timeline);

// Those of one kind, with the sum of all of them, kept or not.
struct Case : Episodes {
    const RecoverySum& sum;
};
[[nodiscard]] std::vector<Case> cases(const Timeline& timeline, RecoveryKind kind);

// Their places in Timeline::recoveries, of which they are elements.
[[nodiscard]] std::vector<std::uint32_t> places_of(const Timeline& timeline,
                                                   const std::vector<const Recovery*>& episodes);
// How many of them ask for the rest of a READ: each begins with that request, whose PSN no other had.
[[nodiscard]] std::uint64_t rests_of_reads(const std::vector<const Recovery*>& episodes);

// Whether the user says of a host that its NIC accepts packets out of order (AnalysisSettings::unordered), and what to
// do where it asked for late ones all the same.
[[nodiscard]] bool accepts_any_order(const Timeline& timeline, const Address& host);
inline constexpr std::string_view kAnyOrderAdvice =
    "Look why [responder?{responder:host}|{receiver:host}] does not accept packets out of order, as --out-of-order says: both NICs must have it enabled "
    "(`mlxreg --reg_name ROCE_ACCL`), and not all services have it; else disable packet spraying for this traffic.";

// The attempt that set a connection up, where CM was captured.
[[nodiscard]] const CmAttempt* attempt_of(const Timeline& timeline, const Connection& connection);

// The first DREQ of that end; nullptr: it sent none, or only after the other end's.
[[nodiscard]] const CmRung* own_disconnect(const Timeline& timeline, const Connection& connection, End end);

// How many READs and ATOMICs an end may have outstanding, where CM says so: what it asked for, or less if the other
// end has less room for them (12.7.29, 12.7.30).
[[nodiscard]] std::optional<std::uint32_t> agreed_depth(const Timeline& timeline, const Connection& connection,
                                                        End requester);

// Whether, and where first, anything of one host to another was captured.
class Heard {
public:
    explicit Heard(const Timeline& timeline);
    // Whatever the encapsulation: a host's GID of RoCEv1 and its address of RoCEv2 have the same bits.
    [[nodiscard]] bool any(const Address& source, const Address& destination) const;
    // In their address space; 0: never.
    [[nodiscard]] dissect::FrameIndex first(const Address& source, const Address& destination) const {
        return first_event(source, destination).frame;
    }
    [[nodiscard]] FindingEvent first_event(const Address& source, const Address& destination) const;

private:
    struct Row {
        std::array<std::uint64_t, 2> source{};
        std::array<std::uint64_t, 2> destination{};
        AddressSpace space{};
        dissect::FrameIndex first{};
        dissect::Instant time{};
        [[nodiscard]] auto operator<=>(const Row&) const = default;
    };
    std::vector<Row> rows_;  // sorted; of each pair and space the first
};

// Two hosts of a recording, as the key of a table: many connections have the same, and looking them up costs less than
// sorting all of them.
[[nodiscard]] inline FlowKey hosts_key(const Address& first, const Address& second, std::uint16_t recording = 0) {
    return {first, second, dissect::Qpn{recording}, {}};
}

// The value of most packets; nothing of a way without packets.
template <class T, std::size_t kMost> [[nodiscard]] std::optional<T> most_of(const FewValues<T, kMost>& values) {
    if (values.size() == 0) return {};
    std::size_t most = 0;
    for (std::size_t i = 1; i < values.size(); ++i)
        if (values[i].packets > values[most].packets) most = i;
    return values[most].value;
}

// The first packets of a way that were odd so.
void add_events(FindingDraft& draft, const Way& way, Oddity oddity, EventRole role);
// The first frame of each way; 0 where nothing was seen of it.
[[nodiscard]] inline std::vector<dissect::FrameIndex> first_frames(const Connection& connection) {
    return {connection.ways[0].first_frame, connection.ways[1].first_frame};
}
// Likewise, with their times.
[[nodiscard]] inline FindingEvent first_event(const Way& way) {
    return {way.first_frame, EventRole::evidence, way.first_time};
}
[[nodiscard]] inline std::vector<FindingEvent> first_events(const Connection& connection) {
    return {first_event(connection.ways[0]), first_event(connection.ways[1])};
}
[[nodiscard]] inline FindingEvent first_event(const Connection& connection) {
    return {connection.first_frame(), EventRole::evidence, connection.first_time()};
}
inline void add_kept(std::vector<FindingEvent>& events, const KeptPackets& kept) {
    for (const TimedFrame& one : kept.first) events.push_back({one.frame, EventRole::evidence, one.time});
    events.push_back({kept.last.frame, EventRole::evidence, kept.last.time});
}
[[nodiscard]] inline double part_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}
// Adds frames up to kMaxEvidence, for findings of many connections.
inline void add_evidence(FindingDraft& draft, dissect::FrameIndex frame) {
    if (draft.events.size() < kMaxEvidence) draft.events.push_back({frame});
}

// How many answers an end gave.
[[nodiscard]] inline std::uint64_t answers_of(const Way& way) {
    const Incidents& had = *way.incidents;
    return way.acks + had.sequence_naks + had.rnr_naks + had.fatal_naks + way.read_responses + way.atomic_responses +
           had.unread_answers;
}

}  // namespace qps::transport
