// Passive checks of requests: PSNs, opcodes, what is sent again, who asks for answers.
#include <dissect/base/types.hpp>
#include <transport-replay/checks/passive/conversation_watch.hpp>
#include <transport-replay/model/path_mtu.hpp>
#include <transport-replay/tracking/request_stream.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::uint32_t kSmallestMtu = 256, kLargestMtu = 4096;
constexpr std::uint8_t kNoRequest =
    std::to_underlying(Opcode{0x0e});  // a READ response MIDDLE, which no requester sends

[[nodiscard]] std::uint32_t digest_of(const RemoteAccess& access) {
    const std::uint64_t what = mix(access.address) + std::uint64_t{std::to_underlying(access.key)} * 3 + access.length;
    return static_cast<std::uint32_t>(mix(what));
}

// C5-8: FIRST and MIDDLE are full, nothing is longer.
void take_length(EndState::Lengths& lengths, const Observation& packet, Place place, HostTallies& tallies) {
    tallies.look(Passive::fmt_26);
    const std::uint32_t length = packet.payload_length;
    if (ends_message(place)) {
        if (length > lengths.longest) {
            lengths.longest = length;
            lengths.longest_frame = packet.frame;
        }
        if (length > kLargestMtu || (lengths.mtu != 0 && length > lengths.mtu))
            tallies.fail(Passive::fmt_26, packet.frame);
        return;
    }
    const bool possible = std::has_single_bit(length) && length >= kSmallestMtu && length <= kLargestMtu;
    if (lengths.mtu == 0 && possible) {
        lengths.mtu = length;
        if (lengths.longest > length) tallies.fail(Passive::fmt_26, lengths.longest_frame, packet.frame);
    } else if (length != lengths.mtu) {
        tallies.fail(Passive::fmt_26, packet.frame);
    }
}

// A17.3.1: the ways of a queue pair have a port each, its answers perhaps one of their own.
void take_port(std::uint16_t& port, const Observation& packet, HostTallies& tallies) {
    if (packet.encapsulation != Encapsulation::roce_v2) return;
    if (port != 0 && port != packet.udp_source_port) tallies.fail(Passive::fmt_16, packet.frame);
    port = packet.udp_source_port;
}

// 9.7.4.1.1
void take_sequence(EndState::Run& run, const Observation& packet, const OpcodeRow& row, std::uint32_t span,
                   HostTallies& tallies) {
    const bool goes_on = row.place == Place::middle || row.place == Place::last;
    if (run.known && packet.psn == run.next) {
        tallies.look(Passive::req_02);
        if (goes_on != run.open || (goes_on && row.verb != run.verb)) tallies.fail(Passive::req_02, packet.frame);
    }
    run.known = span != 0;
    run.next = packet.psn + span;
    run.open = row.place == Place::first || row.place == Place::middle;
    run.verb = row.verb;
}

// A PSN that a READ takes for a response behind its first: nothing was sent with it.
[[nodiscard]] bool is_response_of_read(const EndState::Packet& sent) { return sent.opcode == kNoRequest; }

// What is sent again must be what was sent.
void compare_repeated(const EndState& state, const Observation& packet, const PacketFacts& facts, std::uint32_t access,
                      HostTallies& tallies) {
    if (!state.sent.packets.empty()) {
        const EndState::Packet& before = state.sent.packets[packet.psn.value() % kRemembered];
        if (before.used && before.psn == packet.psn) {
            if (is_response_of_read(before)) {  // of which a READ asks for the rest again, and nothing else may take it
                if (info(packet.opcode).verb != Verb::read_request) tallies.fail(Passive::req_01, packet.frame);
                return;
            }
            if (before.opcode != std::to_underlying(packet.opcode) || before.length != packet.payload_length) {
                tallies.fail(Passive::req_01, packet.frame);
                return;
            }
            tallies.look(Passive::req_29);
            if (before.digest != 0 && facts.digest != 0 && before.digest != facts.digest)
                tallies.fail(Passive::req_29, packet.frame);
            if (before.access != access) tallies.fail(Passive::req_03, packet.frame);
            return;
        }
    }
    const bool response_due = std::ranges::any_of(state.reads, [&](const EndState::OpenRead& read) {
        return read.first.before(packet.psn) && !read.last.before(packet.psn);
    });
    if (response_due && info(packet.opcode).verb != Verb::read_request) tallies.fail(Passive::req_01, packet.frame);
}

void remember_sent(EndState::Sent& sent, const Observation& packet, const PacketFacts& facts, std::uint32_t access,
                   std::uint32_t span, bool& remember) {
    if (sent.packets.empty()) {
        if (!remember) return;
        sent.packets.resize(kRemembered);
        remember = false;
    }
    sent.packets[packet.psn.value() % kRemembered] = {packet.psn,
                                                      facts.digest,
                                                      access,
                                                      static_cast<std::uint16_t>(packet.payload_length),
                                                      std::to_underlying(packet.opcode),
                                                      true};
    if (span < 2) return;
    // Of those that a READ takes the two that a wrong count gives away: the second and the last.
    for (const std::uint32_t response : {1U, span - 1}) {
        const Psn psn = packet.psn + response;
        sent.packets[psn.value() % kRemembered] = {.psn = psn, .opcode = kNoRequest, .used = true};
    }
}

// 9.7.2: who wants an answer asks for it; READs and ATOMICs do by themselves.
void take_asking(EndState::Asking& asking, const Observation& packet, const OpcodeRow& row, HostTallies& tallies) {
    const bool asks = packet.ack_request || (row.verb != Verb::send && row.verb != Verb::write);
    if (asking.unasked && packet.time - asking.end.time > kIdle) tallies.fail(Passive::req_30, asking.end.frame);
    if (asking.unasked && (asks || packet.time - asking.end.time > kIdle)) asking.unasked = false;
    asking.ever |= asks;
    if (asks || row.place == Place::first || row.place == Place::middle) return;
    asking.unasked = true;
    asking.psn = packet.psn;
    asking.end = {packet.frame, packet.time};
}

// An acknowledgement that came before what it acknowledges: its sender's, who is the other end.
void settle_ghost(EndState::Acknowledged& acknowledged, const Observation& packet, HostTallies& tallies) {
    if (!acknowledged.ghost || acknowledged.ghost_psn.before(packet.psn)) return;
    tallies.about(packet.flow.destination);
    // The clocks of both directions may be apart.
    if (packet.time - acknowledged.ghost->time > kLatestRequest)
        tallies.fail(Passive::rsp_02, acknowledged.ghost->frame, packet.frame);
    else tallies.doubt(Passive::rsp_02, acknowledged.ghost->frame, packet.frame);
    tallies.about(packet.flow.source);
    acknowledged.ghost.reset();
}

void end_message(EndState& state, const OpcodeRow& row, Psn psn, std::uint32_t span) {
    const bool ends = ends_message(row.place);
    if (!ends) return;
    ++state.count.messages;
    const bool endless = span == 0;  // a READ, while the path MTU is not known
    const Psn last = endless ? psn : psn + (span - 1);
    if (!endless) state.count.endings[state.count.messages % kEndings] = {last, state.count.messages};
    const bool waits = row.verb == Verb::read_request || is_atomic(row.verb);
    if (!waits) return;
    if (state.reads.capacity() == 0) state.reads.reserve(kOpenReads);
    if (state.reads.size() == kOpenReads) state.reads.erase(state.reads.begin());
    state.reads.push_back({psn, last, {}, false, endless});
}

}  // namespace

std::size_t kind_of(Opcode opcode, std::uint32_t payload_length) {
    constexpr std::uint8_t kOperation = 0x1f;
    return std::size_t{static_cast<std::uint8_t>(std::to_underlying(opcode) & kOperation)} * 4 + payload_length % 4;
}

// How many PSNs a READ takes; 0 where the path MTU is not known yet.
std::uint32_t ConversationWatch::span_of_read(const EndState& requester, std::uint32_t length) const {
    const std::uint32_t mtu =
        requester.lengths.mtu != 0 ? requester.lengths.mtu : std::max(states_[0].lengths.mtu, states_[1].lengths.mtu);
    if (mtu == 0) return length <= kSmallestMtu ? 1 : 0;
    return packets_of(length, mtu);
}

void ConversationWatch::take_request(const Observation& packet, const PacketFacts& facts, const PacketRecord& record,
                                     bool& remember, HostTallies& tallies) {
    EndState& state = this->state(record.from);
    const OpcodeRow& row = info(packet.opcode);
    if (record.arrival == Arrival::restart) {
        state = {};
        failure_.reset();
    }
    take_port(state.ports.requests, packet, tallies);
    if (packet.opcode == Opcode::ud_send_only || row.service == Service::ud) return;
    const bool is_read = row.verb == Verb::read_request;
    if (!is_read) take_length(state.lengths, packet, row.place, tallies);
    if (record.duplicated || !record.arrival) return;
    const Arrival arrival = *record.arrival;
    const std::uint32_t span = is_read && packet.access ? span_of_read(state, packet.access->length) : is_read ? 0 : 1;
    const std::uint32_t access = packet.access ? digest_of(*packet.access) : 0;
    if (arrival == Arrival::first) older_ |= row.place == Place::middle || row.place == Place::last;
    tallies.look(Passive::req_01);
    if (arrival == Arrival::repeated) {
        state.acknowledged.asked_again = true;
        compare_repeated(state, packet, facts, access, tallies);
        // What is asked for again may be answered again.
        if (is_read || is_atomic(row.verb))
            std::erase_if(state.reads, [&](const EndState::OpenRead& read) {
                return !packet.psn.before(read.first) && !read.last.before(packet.psn);
            });
    } else {
        remember_sent(state.sent, packet, facts, access, span, remember);
    }
    take_sequence(state.run, packet, row, span, tallies);
    if (service_ != Service::uc) take_asking(state.asking, packet, row, tallies);
    if (arrival == Arrival::repeated) return;
    if (arrival == Arrival::ahead || arrival == Arrival::late) state.count.exact = state.count.whole = false;
    if (arrival == Arrival::late) return;
    if (arrival == Arrival::in_order) settle_ghost(state.acknowledged, packet, tallies);
    end_message(state, row, packet.psn, span);
    state.sent.next = packet.psn + std::max<std::uint32_t>(span, 1);
    state.sent.known = span != 0;
}

void ConversationWatch::observe(const Observation& packet, const PacketFacts& facts, const PacketRecord& record,
                                bool& remember, HostTallies& tallies) {
    const OpcodeRow& row = info(packet.opcode);
    EndState& state = this->state(record.from);
    watched_ = true;
    hosts_[static_cast<std::size_t>(record.from)] = tallies.current();
    if (row.verb == Verb::notify) return take_notification(packet, record.from, tallies);
    if (!begun_) {
        begun_ = true;
        service_ = row.service;
        older_ = !row.request;
    }
    const std::size_t kind = kind_of(packet.opcode, packet.payload_length);
    const std::uint64_t kind_bit = std::uint64_t{1} << kind % 64;
    EndState::Icrcs& icrcs = state.icrcs;
    if (packet.icrc == CrcStatus::bad) {
        if (icrcs.bad_kinds.empty()) icrcs.bad_kinds.resize(kPacketKinds);
        if (icrcs.bad_kinds[kind] != UINT8_MAX) ++icrcs.bad_kinds[kind];
        if (icrcs.bad < icrcs.bad_frames.size()) icrcs.bad_frames[icrcs.bad] = packet.frame;
        ++icrcs.bad;
        state.count.exact = state.count.whole = state.run.known = false;
        return;
    }
    if (packet.icrc == CrcStatus::good) icrcs.good_kinds[kind / 64] |= kind_bit;
    if (row.carries_payload) {
        ++state.congestion.data;
        if (packet.congestion_experienced) state.congestion.mark = Moment{packet.frame, packet.time};
        if (facts.ecn == 0 && state.congestion.not_capable++ == 0) state.congestion.not_capable_frame = packet.frame;
    }
    if (failure_) take_failed(packet, record, tallies);
    if (row.request) return take_request(packet, facts, record, remember, tallies);
    take_port(state.ports.answers, packet, tallies);
    if (row.verb == Verb::read_response) take_length(state.lengths, packet, row.place, tallies);
    take_answer(packet, record, tallies);
}

}  // namespace qps::transport::conformance
