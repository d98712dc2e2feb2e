// Passive checks of answers: what they acknowledge, how they count, in which order they come, what follows a failure.
#include <dissect/base/types.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/checks/passive/conversation_watch.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::uint8_t kLastFatalCode = 4;  // NAK codes 1 to 4 end a connection (9.9.2)

[[nodiscard]] bool is_fatal(const Observation& packet) {
    return packet.acknowledgment && info(packet.opcode).verb == Verb::acknowledge &&
           static_cast<SyndromeType>(packet.acknowledgment->type()) == SyndromeType::nak &&
           packet.acknowledgment->code() >= 1 && packet.acknowledgment->code() <= kLastFatalCode;
}
[[nodiscard]] bool is_plain_ack(const Observation& packet) {
    return packet.acknowledgment && static_cast<SyndromeType>(packet.acknowledgment->type()) == SyndromeType::ack;
}
// 24 bits that wrap.
[[nodiscard]] std::uint32_t counted_since(Msn msn, std::uint32_t base) {
    return (std::to_underlying(msn) - base) & Psn::kMask;
}

// The number of the last message that ends at or before that PSN; 0: not known.
[[nodiscard]] std::uint32_t ended_by(const EndState& requester, Psn psn) {
    std::uint32_t number = 0;
    for (const EndState::Ending& ending : requester.endings)
        if (ending.number != 0 && !psn.before(ending.last)) number = std::max(number, ending.number);
    return number;
}

}  // namespace

// C9-220: a queue pair that failed is silent. A requester that did not get the NAK repeats.
void ConversationWatch::take_failed(const Observation& packet, const PacketRecord& record, HostTallies& tallies) {
    if (failure_->reported || record.arrival == Arrival::restart || packet.time - failure_->nak.time <= kErrorGrace)
        return;
    failure_->reported = true;
    const bool may_not_know =
        record.from != failure_->responder && (record.retransmission || !info(packet.opcode).request);
    if (may_not_know) tallies.doubt(Passive::err_02, failure_->nak.frame, packet.frame);
    else tallies.fail(Passive::err_02, failure_->nak.frame, packet.frame);
}

void ConversationWatch::take_answer(const Observation& packet, const PacketRecord& record, HostTallies& tallies) {
    if (service_ == Service::uc || service_ == Service::ud) {
        tallies.fail(Passive::rsp_50, packet.frame);
        return;
    }
    EndState& requester = state(other(record.from));
    take_named_read(requester, packet, tallies);
    take_order(requester, packet, tallies);
    if (info(packet.opcode).verb == Verb::acknowledge) take_acknowledgment(requester, packet, tallies);
    take_count(requester, packet, tallies);
    take_credits(state(record.from), packet);
    if (requester.unasked && !packet.psn.before(requester.unasked_psn)) requester.unasked = false;
    if (packet.acknowledgment && !is_plain_ack(packet)) take_nak(record.from, packet, tallies);
    if (is_fatal(packet) && !failure_) {
        tallies.failed(packet.flow.source, packet.flow.destination);  // neither may go on
        failure_ = Failure{{packet.frame, packet.time}, record.from};
    }
}

// 9.7.5.1.1: what is acknowledged was sent, and stays acknowledged.
void ConversationWatch::take_acknowledgment(EndState& requester, const Observation& packet, HostTallies& tallies) {
    if (!requester.sent_known || !packet.acknowledgment) return;
    tallies.look(Passive::rsp_02);
    if (!packet.psn.before(requester.sent_next)) {
        if (!requester.ghost) {
            requester.ghost = Moment{packet.frame, packet.time};
            requester.ghost_psn = packet.psn;
        }
        return;
    }
    if (!is_plain_ack(packet)) return;
    const bool back = requester.acknowledged_known && packet.psn.before(requester.acknowledged);
    if (!back) {
        if (packet.psn != requester.acknowledged || !requester.acknowledged_known) {
            requester.acknowledgment = {packet.frame, packet.time};
            requester.asked_again = false;
        }
        requester.acknowledged = packet.psn;
        requester.acknowledged_known = true;
        return;
    }
    if (requester.asked_again) return;
    if (packet.time - requester.acknowledgment.time > kReordering)
        tallies.fail(Passive::rsp_02, requester.acknowledgment.frame, packet.frame);
}

void ConversationWatch::take_credits(EndState& responder, const Observation& packet) {
    if (!is_plain_ack(packet)) return;
    ++responder.plain_acks;
    if (packet.acknowledgment->code() == kUnlimitedCredits && responder.unlimited++ == 0)
        responder.unlimited_frame = packet.frame;
}

// C9-148. An MSN may run ahead of the PSN it comes with, never of what was sent; with nothing outstanding it is exact.
void ConversationWatch::take_count(EndState& requester, const Observation& packet, HostTallies& tallies) {
    const OpcodeRow& row = info(packet.opcode);
    const bool ends = ends_message(row.place);
    if (!is_plain_ack(packet) || !ends || !requester.sent_known) return;
    if (!packet.psn.before(requester.sent_next)) return;  // recorded before its request, perhaps: rsp_02 judges it
    const Msn msn = packet.acknowledgment->msn;
    const bool all = packet.psn + 1 == requester.sent_next && !requester.run_open;
    if (!requester.exact) {
        if (!all) return;
        requester.exact = true;
        requester.base = (std::to_underlying(msn) - requester.messages) & Psn::kMask;
        older_ |= requester.whole && requester.base != 0;
        requester.whole = false;  // said once
        return;
    }
    const std::uint32_t counted = counted_since(msn, requester.base);
    const std::uint32_t expected = ended_by(requester, packet.psn);
    const bool behind = static_cast<std::int32_t>((counted - expected) << 8) < 0;
    if (row.verb == Verb::read_response && expected != 0) {
        tallies.look(Passive::rsp_20);
        if (behind) {
            tallies.fail(Passive::rsp_20, packet.frame);
            requester.exact = false;
            return;
        }
    }
    tallies.look(Passive::err_07);
    const bool too_many = static_cast<std::int32_t>((counted - requester.messages) << 8) > 0;
    if (!too_many && !(all && counted != requester.messages) && !(behind && expected != 0)) return;
    tallies.fail(Passive::err_07, packet.frame);
    requester.exact = false;
}

// o9-30: answers in the order of the requests.
void ConversationWatch::take_order(EndState& requester, const Observation& packet, HostTallies& tallies) {
    if (requester.reads.empty()) return;
    const OpcodeRow& row = info(packet.opcode);
    const bool response = row.verb == Verb::read_response || row.verb == Verb::atomic_acknowledge;
    const bool ends = ends_message(row.place);
    for (EndState::OpenRead& read : requester.reads) {
        if (read.last.before(packet.psn)) {
            if (!read.passed) read.passed = Moment{packet.frame, packet.time};
            continue;
        }
        if (packet.psn.before(read.first)) break;
        if (response && read.passed && !read.endless) {
            if (packet.time - read.passed->time > kReordering)
                tallies.fail(Passive::rsp_21, read.passed->frame, packet.frame);
            else tallies.doubt(Passive::rsp_21, read.passed->frame, packet.frame);
            read.passed.reset();
        }
    }
    const bool answered = (response && ends) || is_fatal(packet);
    if (!answered && !response) return;
    std::uint64_t known = 0;
    std::erase_if(requester.reads, [&](const EndState::OpenRead& read) {
        const bool is = (answered || read.endless) && !packet.psn.before(read.first) && !read.last.before(packet.psn);
        known += is && !read.endless ? 1 : 0;
        if (is && !read.named && response) tallies.look(Passive::rsp_56);
        return is;
    });
    tallies.look(Passive::rsp_21, known);
}

// o9-30: a READ or ATOMIC is answered by its response alone, and no ACK has its PSN, of a duplicate before it neither.
// Whatever was lost, such an ACK was sent. One that later answers passed, or that is asked for again, waits no more:
// its response was lost, perhaps.
void ConversationWatch::take_named_read(EndState& requester, const Observation& packet, HostTallies& tallies) {
    if (requester.reads.empty() || info(packet.opcode).verb != Verb::acknowledge || !is_plain_ack(packet)) return;
    for (EndState::OpenRead& read : requester.reads) {
        if (read.passed || read.named || packet.psn.before(read.first) || read.last.before(packet.psn)) continue;
        // How many PSNs it takes follows from the path MTU, of which an end may have another idea: what was sent behind
        // it may be meant.
        if (packet.psn != read.first && read.last + 1 != requester.sent_next) continue;
        read.named = true;
        tallies.look(Passive::rsp_56);
        tallies.fail(Passive::rsp_56, packet.frame);
    }
}

// Whether a packet of that end had a mark shortly before.
bool ConversationWatch::is_marked(End sender, dissect::Instant time) const {
    const auto& mark = states_[static_cast<std::size_t>(sender)].mark;
    return mark && time - mark->time <= kReordering;
}

// CNPs are for marks. A device that sends them with its NAKs slows a sender down that met no congestion.
void ConversationWatch::take_notification(const Observation& packet, End from, HostTallies& tallies) {
    EndState& state = this->state(from);
    tallies.look(Passive::cnp_09);
    if (state.cnp && !is_marked(other(from), state.cnp->time)) state.cnp_apart = true;
    state.cnp = Moment{packet.frame, packet.time};
    const bool with_nak = state.nak && packet.time - state.nak->time <= kTogether;
    if (with_nak) take_nak(from, packet, tallies);
}

void ConversationWatch::take_nak(End from, const Observation& packet, HostTallies& tallies) {
    EndState& state = this->state(from);
    if (info(packet.opcode).verb != Verb::notify) state.nak = Moment{packet.frame, packet.time};
    if (!state.cnp || !state.nak || magnitude(state.nak->time - state.cnp->time) > kTogether) return;
    if (is_marked(other(from), state.cnp->time)) return;
    ++state.cnps_with_nak;
    if (state.cnps_with_nak > 1 && !state.cnp_apart) tallies.fail(Passive::cnp_09, state.cnp->frame, state.nak->frame);
    else tallies.doubt(Passive::cnp_09, state.cnp->frame, state.nak->frame);
    state.cnp.reset();
}

}  // namespace qps::transport::conformance
