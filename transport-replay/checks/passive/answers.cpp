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
[[nodiscard]] std::uint32_t ended_by(const EndState::Count& count, Psn psn) {
    std::uint32_t number = 0;
    for (const EndState::Count::Ending& ending : count.endings)
        if (ending.number != 0 && !psn.before(ending.last)) number = std::max(number, ending.number);
    return number;
}

void take_credits(EndState::Credits& credits, const Observation& packet) {
    if (!is_plain_ack(packet)) return;
    ++credits.plain_acks;
    if (packet.acknowledgment->code() == kUnlimitedCredits && credits.unlimited++ == 0)
        credits.unlimited_frame = packet.frame;
}

// 9.7.5.1.1: what is acknowledged was sent, and stays acknowledged.
void take_acknowledgment(EndState& requester, const Observation& packet, HostTallies& tallies) {
    if (!requester.sent.known || !packet.acknowledgment) return;
    EndState::Acknowledged& known = requester.acknowledged;
    tallies.look(Passive::rsp_02);
    if (!packet.psn.before(requester.sent.next)) {
        if (!known.ghost) {
            known.ghost = Moment{packet.frame, packet.time};
            known.ghost_psn = packet.psn;
        }
        return;
    }
    if (!is_plain_ack(packet)) return;
    const bool back = known.psn && packet.psn.before(*known.psn);
    if (!back) {
        if (known.psn != packet.psn) {
            known.moment = {packet.frame, packet.time};
            known.asked_again = false;
        }
        known.psn = packet.psn;
        return;
    }
    if (known.asked_again) return;
    if (packet.time - known.moment.time > kReordering) tallies.fail(Passive::rsp_02, known.moment.frame, packet.frame);
}

// o9-30: answers in the order of the requests.
void take_order(std::vector<EndState::OpenRead>& reads, const Observation& packet, HostTallies& tallies) {
    if (reads.empty()) return;
    const OpcodeRow& row = info(packet.opcode);
    const bool response = row.verb == Verb::read_response || row.verb == Verb::atomic_acknowledge;
    const bool ends = ends_message(row.place);
    for (EndState::OpenRead& read : reads) {
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
    std::erase_if(reads, [&](const EndState::OpenRead& read) {
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
void take_named_read(EndState& requester, const Observation& packet, HostTallies& tallies) {
    if (requester.reads.empty() || info(packet.opcode).verb != Verb::acknowledge || !is_plain_ack(packet)) return;
    for (EndState::OpenRead& read : requester.reads) {
        if (read.passed || read.named || packet.psn.before(read.first) || read.last.before(packet.psn)) continue;
        // How many PSNs it takes follows from the path MTU, of which an end may have another idea: what was sent behind
        // it may be meant.
        if (packet.psn != read.first && read.last + 1 != requester.sent.next) continue;
        read.named = true;
        tallies.look(Passive::rsp_56);
        tallies.fail(Passive::rsp_56, packet.frame);
    }
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
    take_order(requester.reads, packet, tallies);
    if (info(packet.opcode).verb == Verb::acknowledge) take_acknowledgment(requester, packet, tallies);
    take_count(requester, packet, tallies);
    take_credits(state(record.from).credits, packet);
    if (requester.asking.unasked && !packet.psn.before(requester.asking.psn)) requester.asking.unasked = false;
    if (packet.acknowledgment && !is_plain_ack(packet)) take_nak(record.from, packet, tallies);
    if (is_fatal(packet) && !failure_) {
        tallies.failed(packet.flow.source, packet.flow.destination);  // neither may go on
        failure_ = Failure{{packet.frame, packet.time}, record.from};
    }
}

// C9-148. An MSN may run ahead of the PSN it comes with, never of what was sent; with nothing outstanding it is exact.
void ConversationWatch::take_count(EndState& requester, const Observation& packet, HostTallies& tallies) {
    const OpcodeRow& row = info(packet.opcode);
    const bool ends = ends_message(row.place);
    if (!is_plain_ack(packet) || !ends || !requester.sent.known) return;
    if (!packet.psn.before(requester.sent.next)) return;  // recorded before its request, perhaps: rsp_02 judges it
    EndState::Count& count = requester.count;
    const Msn msn = packet.acknowledgment->msn;
    const bool all = packet.psn + 1 == requester.sent.next && !requester.run.open;
    if (!count.exact) {
        if (!all) return;
        count.exact = true;
        count.base = (std::to_underlying(msn) - count.messages) & Psn::kMask;
        older_ |= count.whole && count.base != 0;
        count.whole = false;  // said once
        return;
    }
    const std::uint32_t counted = counted_since(msn, count.base);
    const std::uint32_t expected = ended_by(count, packet.psn);
    const bool behind = static_cast<std::int32_t>((counted - expected) << 8) < 0;
    if (row.verb == Verb::read_response && expected != 0) {
        tallies.look(Passive::rsp_20);
        if (behind) {
            tallies.fail(Passive::rsp_20, packet.frame);
            count.exact = false;
            return;
        }
    }
    tallies.look(Passive::err_07);
    const bool too_many = static_cast<std::int32_t>((counted - count.messages) << 8) > 0;
    if (!too_many && !(all && counted != count.messages) && !(behind && expected != 0)) return;
    tallies.fail(Passive::err_07, packet.frame);
    count.exact = false;
}

// Whether a packet of that end had a mark shortly before.
bool ConversationWatch::is_marked(End sender, dissect::Instant time) const {
    const auto& mark = states_[static_cast<std::size_t>(sender)].congestion.mark;
    return mark && time - mark->time <= kReordering;
}

// CNPs are for marks. A device that sends them with its NAKs slows a sender down that met no congestion.
void ConversationWatch::take_notification(const Observation& packet, End from, HostTallies& tallies) {
    EndState::Congestion& sent = state(from).congestion;
    tallies.look(Passive::cnp_09);
    if (sent.cnp && !is_marked(other(from), sent.cnp->time)) sent.cnp_apart = true;
    sent.cnp = Moment{packet.frame, packet.time};
    const bool with_nak = sent.nak && packet.time - sent.nak->time <= kTogether;
    if (with_nak) take_nak(from, packet, tallies);
}

void ConversationWatch::take_nak(End from, const Observation& packet, HostTallies& tallies) {
    EndState::Congestion& sent = state(from).congestion;
    if (info(packet.opcode).verb != Verb::notify) sent.nak = Moment{packet.frame, packet.time};
    if (!sent.cnp || !sent.nak || magnitude(sent.nak->time - sent.cnp->time) > kTogether) return;
    if (is_marked(other(from), sent.cnp->time)) return;
    ++sent.cnps_with_nak;
    if (sent.cnps_with_nak > 1 && !sent.cnp_apart) tallies.fail(Passive::cnp_09, sent.cnp->frame, sent.nak->frame);
    else tallies.doubt(Passive::cnp_09, sent.cnp->frame, sent.nak->frame);
    sent.cnp.reset();
}

}  // namespace qps::transport::conformance
