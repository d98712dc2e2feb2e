// Passive checks of requests: PSNs, opcodes, what is sent again, who asks for answers.
#include <dissect/types.hpp>
#include <transport-replay/checks/passive/conversation_watch.hpp>
#include <transport-replay/model/path_mtu.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::uint32_t kSmallestMtu = 256, kLargestMtu = 4096;

[[nodiscard]] std::uint32_t digest_of(const RemoteAccess& access) {
    const std::uint64_t what = mix(access.address) + std::uint64_t{std::to_underlying(access.key)} * 3 + access.length;
    return static_cast<std::uint32_t>(mix(what));
}

// C5-8: FIRST and MIDDLE are full, nothing is longer.
void take_length(HalfWatch& half, const Observation& packet, Place place, Tallies& tallies) {
    tallies.look(Passive::fmt_26);
    const std::uint32_t length = packet.payload_length;
    if (ends_message(place)) {
        if (length > half.longest) {
            half.longest = length;
            half.longest_frame = packet.frame;
        }
        if (length > kLargestMtu || (half.mtu != 0 && length > half.mtu)) tallies.fail(Passive::fmt_26, packet.frame);
        return;
    }
    const bool possible = std::has_single_bit(length) && length >= kSmallestMtu && length <= kLargestMtu;
    if (half.mtu == 0 && possible) {
        half.mtu = length;
        if (half.longest > length) tallies.fail(Passive::fmt_26, half.longest_frame, packet.frame);
    } else if (length != half.mtu) {
        tallies.fail(Passive::fmt_26, packet.frame);
    }
}

// A17.3.1: the ways of a queue pair have a port each, its answers perhaps one of their own.
void take_port(std::uint16_t& port, const Observation& packet, Tallies& tallies) {
    if (packet.encapsulation != Encapsulation::roce_v2) return;
    if (port != 0 && port != packet.udp_source_port) tallies.fail(Passive::fmt_16, packet.frame);
    port = packet.udp_source_port;
}

// 9.7.4.1.1
void take_sequence(HalfWatch& half, const Observation& packet, const OpcodeRow& row, std::uint32_t span, Tallies& tallies) {
    const bool goes_on = row.place == Place::middle || row.place == Place::last;
    if (half.run_known && packet.psn == half.run_next) {
        tallies.look(Passive::req_02);
        if (goes_on != half.run_open || (goes_on && row.verb != half.run_verb)) tallies.fail(Passive::req_02, packet.frame);
    }
    half.run_known = span != 0;
    half.run_next = packet.psn + span;
    half.run_open = row.place == Place::first || row.place == Place::middle;
    half.run_verb = row.verb;
}

// What is sent again must be what was sent.
void compare_repeated(const HalfWatch& half, const Observation& packet, const PacketFacts& facts, std::uint32_t access, Tallies& tallies) {
    if (!half.sent.empty()) {
        const HalfWatch::Sent& before = half.sent[packet.psn.value() % kRemembered];
        if (before.used && before.psn == packet.psn) {
            if (before.opcode != std::to_underlying(packet.opcode) || before.length != packet.payload_length) {
                tallies.fail(Passive::req_01, packet.frame);
                return;
            }
            tallies.look(Passive::req_29);
            if (before.digest != 0 && facts.digest != 0 && before.digest != facts.digest) tallies.fail(Passive::req_29, packet.frame);
            if (before.access != access) tallies.fail(Passive::req_03, packet.frame);
            return;
        }
    }
    const bool response_due = std::ranges::any_of(
        half.reads, [&](const HalfWatch::OpenRead& read) { return read.first.before(packet.psn) && !read.last.before(packet.psn); });
    if (response_due && info(packet.opcode).verb != Verb::read_request) tallies.fail(Passive::req_01, packet.frame);
}

void remember_sent(HalfWatch& half, const Observation& packet, const PacketFacts& facts, std::uint32_t access, bool& remember) {
    if (half.sent.empty()) {
        if (!remember) return;
        half.sent.resize(kRemembered);
        remember = false;
    }
    half.sent[packet.psn.value() % kRemembered] = {
        packet.psn, facts.digest, access, static_cast<std::uint16_t>(packet.payload_length), std::to_underlying(packet.opcode), true};
}

// 9.7.2: who wants an answer asks for it; READs and ATOMICs do by themselves.
void take_asking(HalfWatch& half, const Observation& packet, const OpcodeRow& row, Tallies& tallies) {
    const bool asks = packet.ack_request || (row.verb != Verb::send && row.verb != Verb::write);
    if (half.unasked && packet.time - half.unasked_end.time > kIdle) tallies.fail(Passive::req_30, half.unasked_end.frame);
    if (half.unasked && (asks || packet.time - half.unasked_end.time > kIdle)) half.unasked = false;
    half.ever_asked |= asks;
    if (asks || row.place == Place::first || row.place == Place::middle) return;
    half.unasked = true;
    half.unasked_psn = packet.psn;
    half.unasked_end = {packet.frame, packet.time};
}

// An acknowledgement that came before what it acknowledges.
void settle_ghost(HalfWatch& half, const Observation& packet, Tallies& tallies) {
    if (!half.ghost || half.ghost_psn.before(packet.psn)) return;
    if (packet.time - half.ghost->time > kReordering) tallies.fail(Passive::rsp_02, half.ghost->frame, packet.frame);
    else tallies.doubt(Passive::rsp_02, half.ghost->frame, packet.frame);
    half.ghost.reset();
}

void end_message(HalfWatch& half, const OpcodeRow& row, Psn psn, std::uint32_t span) {
    const bool ends = ends_message(row.place);
    if (!ends) return;
    ++half.messages;
    if (span == 0) return;
    const Psn last = psn + (span - 1);
    half.endings[half.messages % kEndings] = {last, half.messages};
    const bool waits = row.verb == Verb::read_request || is_atomic(row.verb);
    if (!waits) return;
    if (half.reads.capacity() == 0) half.reads.reserve(kOpenReads);
    if (half.reads.size() == kOpenReads) half.reads.erase(half.reads.begin());
    half.reads.push_back({psn, last, {}});
}

}  // namespace

std::size_t kind_of(Opcode opcode, std::uint32_t payload_length) {
    constexpr std::uint8_t kOperation = 0x1f;
    return std::size_t{static_cast<std::uint8_t>(std::to_underlying(opcode) & kOperation)} * 4 + payload_length % 4;
}

// How many PSNs a READ takes; 0 where the path MTU is not known yet.
std::uint32_t ConversationWatch::span_of_read(const HalfWatch& requester, std::uint32_t length) const {
    const std::uint32_t mtu = requester.mtu != 0 ? requester.mtu : std::max(halves_[0].mtu, halves_[1].mtu);
    if (mtu == 0) return length <= kSmallestMtu ? 1 : 0;
    return packets_of(length, mtu);
}

void ConversationWatch::take_request(const Observation& packet, const PacketFacts& facts, const PacketRecord& record, bool& remember,
                                     Tallies& tallies) {
    HalfWatch& half = this->half(record.from);
    const OpcodeRow& row = info(packet.opcode);
    if (record.arrival == Arrival::restart) {
        half = {};
        failure_.reset();
    }
    take_port(half.request_port, packet, tallies);
    if (packet.opcode == Opcode::ud_send_only || row.service == Service::ud) return;
    const bool is_read = row.verb == Verb::read_request;
    if (!is_read) take_length(half, packet, row.place, tallies);
    if (record.duplicated || !record.arrival) return;
    const Arrival arrival = *record.arrival;
    const std::uint32_t span = is_read && packet.access ? span_of_read(half, packet.access->length) : is_read ? 0 : 1;
    const std::uint32_t access = packet.access ? digest_of(*packet.access) : 0;
    if (arrival == Arrival::first) older_ |= row.place == Place::middle || row.place == Place::last;
    tallies.look(Passive::req_01);
    if (arrival == Arrival::repeated) {
        half.asked_again = true;
        compare_repeated(half, packet, facts, access, tallies);
        // What is asked for again may be answered again.
        if (is_read)
            std::erase_if(half.reads,
                          [&](const HalfWatch::OpenRead& read) { return !packet.psn.before(read.first) && !read.last.before(packet.psn); });
    } else {
        remember_sent(half, packet, facts, access, remember);
    }
    take_sequence(half, packet, row, span, tallies);
    if (service_ != Service::uc) take_asking(half, packet, row, tallies);
    if (arrival == Arrival::repeated) return;
    if (arrival == Arrival::ahead || arrival == Arrival::late) half.exact = half.whole = false;
    if (arrival == Arrival::late) return;
    if (arrival == Arrival::in_order) settle_ghost(half, packet, tallies);
    end_message(half, row, packet.psn, span);
    half.sent_next = packet.psn + std::max<std::uint32_t>(span, 1);
    half.sent_known = span != 0;
}

void ConversationWatch::observe(const Observation& packet, const PacketFacts& facts, const PacketRecord& record, bool& remember,
                                Tallies& tallies) {
    const OpcodeRow& row = info(packet.opcode);
    HalfWatch& half = this->half(record.from);
    if (row.verb == Verb::notify) return take_notification(packet, record.from, tallies);
    if (!begun_) {
        begun_ = true;
        service_ = row.service;
        older_ = !row.request;
    }
    const std::size_t kind = kind_of(packet.opcode, packet.payload_length);
    const std::uint64_t kind_bit = std::uint64_t{1} << kind % 64;
    if (packet.icrc == CrcStatus::bad) {
        if (half.bad_kinds.empty()) half.bad_kinds.resize(kPacketKinds);
        if (half.bad_kinds[kind] != UINT8_MAX) ++half.bad_kinds[kind];
        if (half.bad < half.bad_frames.size()) half.bad_frames[half.bad] = packet.frame;
        ++half.bad;
        half.exact = half.whole = half.run_known = false;
        return;
    }
    if (packet.icrc == CrcStatus::good) half.good_kinds[kind / 64] |= kind_bit;
    if (row.carries_payload) {
        ++half.data;
        if (packet.congestion_experienced) half.mark = Moment{packet.frame, packet.time};
        if (facts.ecn == 0 && half.not_capable++ == 0) half.not_capable_frame = packet.frame;
    }
    if (failure_) take_failed(packet, record, tallies);
    if (row.request) return take_request(packet, facts, record, remember, tallies);
    take_port(half.answer_port, packet, tallies);
    if (row.verb == Verb::read_response) take_length(half, packet, row.place, tallies);
    take_answer(packet, record, tallies);
}

}  // namespace qps::transport::conformance
