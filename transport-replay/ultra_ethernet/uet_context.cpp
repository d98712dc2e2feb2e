#include <transport-replay/ultra_ethernet/uet_context.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint8_t kCloseCommand = 4;
constexpr LongPsn kFarthest = LongPsn{1} << 17;  // an ACK so far ahead of all that was sent is none of these packets

void keep(std::vector<FrameIndex>& frames, FrameIndex frame) {
    if (frames.size() < kUetFramesKept) frames.push_back(frame);
}

}  // namespace

bool UetContext::may_open(End from, const UetPacket& packet) const {
    constexpr std::uint32_t kNear = 1U << 16;  // a new first PSN is at least so far from the old one
    const Sender& one = senders_[static_cast<std::size_t>(from)];
    if (one.start) return *one.start == packet.start;
    if (!one.seen.any()) return true;
    const std::uint32_t ahead = static_cast<std::uint32_t>(one.seen.highest()) - packet.psn;
    return ahead < kNear || 0 - ahead < kNear;
}

LongPsn UetContext::number(End end, std::uint32_t psn) {
    Sender& one = sender(end);
    if (!one.numbered) {
        one.near += psn;
        one.numbered = true;
    }
    return lengthened(psn, one.near);
}

// Sorted, so that what is told does not depend on who came first.
UetPath* UetContext::path(End end, std::uint16_t entropy) {
    std::vector<UetPath>& paths = way(end).paths;
    const auto found = std::ranges::lower_bound(paths, entropy, {}, &UetPath::entropy);
    if (found != paths.end() && found->entropy == entropy) return &*found;
    if (paths.size() == kMostUetPaths) return nullptr;
    return &*paths.insert(found, UetPath{.entropy = entropy});
}

void UetContext::count_code(std::vector<UetCode>& codes, UetWay& way, std::uint8_t code, FrameIndex frame) const {
    auto found = std::ranges::lower_bound(codes, code, {}, &UetCode::code);
    if (found == codes.end() || found->code != code) {
        if (codes.size() == kMostUetCodes) {
            ++way.further_codes;
            return;
        }
        found = codes.insert(found, UetCode{.code = code});
    }
    ++found->count;
    keep(found->frames, frame);
}

std::size_t UetContext::bytes() const {
    constexpr std::size_t kFrames = 512;  // of the lists of a way
    constexpr std::size_t kFound = 256;   // the tables in which its numbers are found
    std::size_t sum = sizeof(UetContext) + kFound;
    for (const Sender& one : senders_) sum += one.sent.bytes() + one.messages.bytes();
    for (const UetWay& one : summary_.ways)
        sum +=
            kFrames + one.paths.capacity() * sizeof(UetPath) +
            (one.nacks.capacity() + one.refusals.capacity()) * (sizeof(UetCode) + kUetFramesKept * sizeof(FrameIndex));
    return sum;
}

// Where there is no room for what this packet brought, packets and messages under way are given up.
void UetContext::hold_within(ByteShare& share, const At& at) {
    const std::size_t needed = bytes();
    if (needed == charge_.bytes() || charge_.hold(share, needed)) return;
    share.refuse();
    for (const End end : {End::a, End::b}) {
        const UetListener listener{uid(), end, at.tracker, at.record};
        sender(end).sent.forget();
        sender(end).messages.finish(listener);
    }
    static_cast<void>(charge_.hold(share, bytes()));
}

void UetContext::count(const At& at, Connection& connection) const {
    const Observation& observation = at.seen.observation;
    transport::Way& one = connection.way(at.from);
    if (one.packets++ == 0) {
        one.first_time = observation.time;
        one.first_frame = observation.frame;
    }
    one.bytes += observation.wire_length;
    one.last_time = std::max(one.last_time, observation.time);
    one.last_frame = std::max(one.last_frame, observation.frame);
    if (observation.congestion_experienced) ++one.incidents.made().congestion_experienced;
    if (at.seen.packet.is_request()) ++one.requests;
    else if (at.seen.packet.is_ack()) ++one.acks;
}

void UetContext::observe(const SeenUet& seen, End from, ByteShare& share, Tracker& tracker, PacketRecord& record) {
    const At at{seen, from, tracker, record};
    record.connection = uid();
    record.from = from;
    Connection& connection = tracker.stream(uid());
    count(at, connection);
    const UetPacket& packet = seen.packet;
    if (packet.opens) {
        summary_.opened = true;
        sender(from).start = packet.start;
    }
    if (packet.is_request()) take_request(at);
    else if (packet.is_ack()) take_ack(at);
    else if (packet.is_nack()) take_nack(at);
    else if (packet.is_control()) take_control(at);
    hold_within(share, at);
}

void UetContext::take_request(const At& at) {
    const auto& [observation, packet, repetition] = at.seen;
    Sender& mine = sender(at.from);
    UetWay& told = way(at.from);
    (packet.is_ordered() ? told.ordered : told.unordered) = true;
    const LongPsn psn = number(at.from, packet.psn);
    const auto before = mine.seen.look(psn);
    SentPacket* sent = mine.sent.find(psn);
    const bool was_seen = before == SeenPsns::Answer::yes;
    transport::Way& counted = at.tracker.stream(uid()).way(at.from);
    // Behind a switch that trimmed it, the same sending again is no copy.
    const bool same_sending = sent != nullptr && !sent->trimmed && sent->entropy == observation.udp_source_port &&
                              (sent->resent || !packet.retransmission);
    if (was_seen && at.seen.is_trimmed() && same_sending) return take_trimmed(at, sent);
    const bool settled = mine.has_acknowledged && psn <= mine.acknowledged;
    // Its sender got the acknowledgment, and had sent it again before: who does so twice is another tap.
    const bool late_copy = packet.retransmission && settled && mine.resent.look(psn) == SeenPsns::Answer::yes;
    const bool same_datagram = same_sending && observation.ip_id != 0 && sent->ip_id == observation.ip_id;
    if (was_seen && (!packet.retransmission || repetition != Repetition::none || same_datagram || late_copy)) {
        ++counted.incidents.made().duplicated;
        at.record.arrival = Arrival::repeated;
        at.record.duplicated = true;
        return;
    }
    at.record.arrival = was_seen                         ? Arrival::repeated
                        : !mine.seen.any()               ? Arrival::first
                        : psn == mine.seen.highest() + 1 ? Arrival::in_order
                        : psn > mine.seen.highest()      ? Arrival::ahead
                                                         : Arrival::late;
    mine.seen.note(psn);
    mine.near = std::max(mine.near, psn);
    if (packet.retransmission) take_retransmission(at, psn, was_seen, sent);
    if (UetPath* taken = path(at.from, observation.udp_source_port); taken == nullptr) ++told.further_paths;
    else {
        ++taken->packets;
        if (observation.congestion_experienced) ++taken->marked;
    }
    if (sent == nullptr && !settled) {
        if (mine.sent.size() == SentPackets::kMost) mine.sent.drop_first();
        sent = &mine.sent.insert({.psn = psn});
    }
    if (sent != nullptr) {
        sent->time = observation.time;
        sent->entropy = observation.udp_source_port;
        sent->ip_id = observation.ip_id;
        sent->resent |= packet.retransmission;
        sent->trimmed = false;
        sent->nack_code = 0;
    }
    if (at.seen.is_trimmed()) return take_trimmed(at, sent);
    if (packet.semantics && packet.semantics->is_response()) return take_data(at);
    if (sent == nullptr || sent->message != 0 || sent->acknowledged || !packet.semantics) return;
    sent->message = mine.messages.take(observation, *packet.semantics, psn, {uid(), at.from, at.tracker, at.record});
}

void UetContext::take_retransmission(const At& at, LongPsn psn, bool was_seen, SentPacket* sent) {
    Sender& mine = sender(at.from);
    UetWay& told = way(at.from);
    transport::Way& counted = at.tracker.stream(uid()).way(at.from);
    mine.resent.note(psn);
    ++counted.incidents.made().retransmitted;
    counted.incidents.made().retransmitted_bytes += at.seen.observation.wire_length;
    at.record.retransmission = true;
    keep(told.resent_frames, at.seen.observation.frame);
    if (!was_seen) ++told.unseen;
    const bool settled = mine.has_acknowledged && psn <= mine.acknowledged;
    if (settled || (sent != nullptr && sent->acknowledged)) {
        ++told.needless;
    } else if (sent != nullptr) {
        if (sent->nack_code != 0) ++told.after_nack;
        if (reports_trimming(sent->nack_code)) ++told.after_trimming;
        if (UetPath* taken = path(at.from, sent->entropy)) ++taken->resent;
    }
    if (sent != nullptr) mine.messages.resent(sent->message);
}

void UetContext::take_trimmed(const At& at, SentPacket* sent) {
    const Observation& observation = at.seen.observation;
    UetWay& told = way(at.from);
    ++told.trimmed;
    keep(told.trimmed_frames, observation.frame);
    if (UetPath* taken = path(at.from, observation.udp_source_port)) ++taken->trimmed;
    if (sent != nullptr) sent->trimmed = true;
}

// Data for a request of the other end.
void UetContext::take_data(const At& at) {
    const UetPacket& packet = at.seen.packet;
    const End requester = other(at.from);
    const UetSemantics& said = *packet.semantics;
    Sender& theirs = sender(requester);
    const LongPsn request = theirs.numbered ? lengthened(said.answered, theirs.near) : 0;
    const LongPsn answered = packet.is_ack() ? number(requester, packet.answered) : request;
    if (said.refuses() && theirs.refused.look(answered) != SeenPsns::Answer::yes) {
        theirs.refused.note(answered);
        count_code(way(requester).refusals, way(requester), said.code, at.seen.observation.frame);
    }
    theirs.messages.respond(said, request, at.seen.observation.payload_length, at.seen.observation,
                            {uid(), requester, at.tracker, at.record});
}

void UetContext::acknowledge(const At& at, SentPacket& sent) {
    if (std::exchange(sent.acknowledged, true)) return;
    const End requester = other(at.from);
    sender(requester).messages.acknowledged(sent.message, sender(requester).acknowledged, at.seen.observation,
                                            {uid(), requester, at.tracker, at.record});
}

void UetContext::take_ack(const At& at) {
    const auto& [observation, packet, repetition] = at.seen;
    const End requester = other(at.from);
    Sender& theirs = sender(requester);
    const UetListener listener{uid(), requester, at.tracker, at.record};
    const bool known = theirs.numbered;
    const LongPsn cumulative = number(requester, packet.psn);
    if (repetition != Repetition::none) {
        at.record.duplicated = true;
        return;
    }
    if (known && theirs.seen.any() && cumulative - theirs.seen.highest() > kFarthest) {
        at.record.unmatched = true;
        return;
    }
    const LongPsn answered = lengthened(packet.answered, cumulative);
    SentPacket* named = packet.of_probe ? nullptr : theirs.sent.find(answered);
    if (named != nullptr && !named->acknowledged && !named->resent && !named->trimmed)
        if (UetPath* taken = path(requester, named->entropy)) {
            const Duration delay = observation.time - named->time;
            if (delay >= Duration{}) taken->delay.add(delay);
        }
    const bool fresh = named != nullptr && !named->acknowledged;
    const bool goes_on = !theirs.has_acknowledged || cumulative > theirs.acknowledged;
    if (goes_on) {
        theirs.acknowledged = cumulative;
        theirs.has_acknowledged = true;
    }
    if (goes_on || fresh) way(requester).acknowledged = observation.frame;
    if (!theirs.seen.any()) theirs.near = std::max(theirs.near, cumulative);
    // A refusal fails its message before the acknowledgment completes it.
    if (packet.semantics) {
        const UetSemantics& said = *packet.semantics;
        if (said.is_response() && (fresh || !packet.retransmission)) take_data(at);
    }
    if (named != nullptr) acknowledge(at, *named);
    while (theirs.sent.size() != 0 && theirs.sent.waiting().front().psn <= theirs.acknowledged) {
        acknowledge(at, theirs.sent.waiting().front());
        theirs.sent.drop_first();
    }
    if (packet.sack_bitmap != 0) {
        const LongPsn base = lengthened(packet.sack_base, cumulative);
        constexpr LongPsn kBits = 64;
        for (SentPacket& sent : theirs.sent.waiting()) {
            if (sent.psn >= base + kBits) break;
            if (sent.psn >= base && (packet.sack_bitmap >> static_cast<unsigned>(sent.psn - base) & 1U) != 0)
                acknowledge(at, sent);
        }
    }
    if (goes_on) theirs.messages.arrived(theirs.acknowledged, observation, listener);
}

void UetContext::take_nack(const At& at) {
    const auto& [observation, packet, repetition] = at.seen;
    if (repetition != Repetition::none) {
        at.record.duplicated = true;
        return;
    }
    const End requester = other(at.from);
    Sender& theirs = sender(requester);
    // Of what has arrived since, it is late, or another tap's.
    if (theirs.has_acknowledged && lengthened(packet.psn, theirs.near) <= theirs.acknowledged) {
        at.record.unmatched = true;
        return;
    }
    SentPacket* refused = theirs.numbered ? theirs.sent.find(lengthened(packet.psn, theirs.near)) : nullptr;
    if (refused != nullptr && refused->nack_code == packet.nack_code &&
        packet.nack_code != 0) {  // nothing was sent since
        at.record.duplicated = true;
        return;
    }
    count_code(way(requester).nacks, way(requester), packet.nack_code, observation.frame);
    if (refused == nullptr || refused->acknowledged) return;
    refused->nack_code = packet.nack_code;
    if (UetPath* taken = path(requester, refused->entropy)) ++taken->refused;
}

void UetContext::take_control(const At& at) {
    if (at.seen.packet.control == kCloseCommand) at.tracker.stream(uid()).released = true;
}

UetConversation UetContext::finish(Tracker& tracker) {
    PacketRecord aside;
    for (const End end : {End::a, End::b}) {
        sender(end).messages.finish({uid(), end, tracker, aside});
        sender(end).sent.forget();
    }
    return std::move(summary_);
}

}  // namespace qps::transport
