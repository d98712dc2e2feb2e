// A queue followed: its messages put together, and what would be failures held until the other way cannot explain them.
#include <transport-replay/checks/passive/conversation_watch.hpp>
#include <transport-replay/checks/passive/nvme_queue.hpp>

#include <algorithm>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

bool is_response(Verb verb) { return verb == Verb::read_response; }
bool within_reordering(Instant from, Instant to) {
    return std::to_underlying(to - from) <= std::to_underlying(kReordering);
}

}  // namespace

NvmeCommandInFlight* NvmeQueue::find(std::uint16_t cid) {
    const auto found = std::ranges::find(flying_, cid, &NvmeCommandInFlight::cid);
    return found == flying_.end() ? nullptr : &*found;
}

void NvmeQueue::lose_track(NvmeRoom& room) {
    lost_ = true;
    end(room);
}

void NvmeQueue::end(NvmeRoom& room) {
    room.commands -= flying_.size();
    flying_.clear();
    reads_.clear();
    suspicions_.clear();
    writing_.reset();
}

// Whether the packet is the next of its way, by its PSN. The first must have the one that CM announced.
NvmeQueue::Turn NvmeQueue::follow(const Observation& packet, Side from) {
    Way& way = ways_[static_cast<std::size_t>(from)];
    const auto& announced = from == Side::host ? set_up_.host_psn : set_up_.target_psn;
    const std::optional<Psn> expected = way.next ? way.next : announced;
    if (way.next && packet.psn.before(*way.next)) return Turn::repeated;
    const bool reads = info(packet.opcode).verb == Verb::read_request && packet.access;
    const std::uint32_t length = reads ? packet.access->length : 0;
    const std::uint32_t mtu = set_up_.path_mtu;
    const bool known = !reads || mtu != 0;
    way.next = packet.psn + (length > mtu && mtu != 0 ? (length - 1) / mtu + 1 : 1);
    return known && expected == packet.psn ? Turn::next : Turn::lost;
}

// Whether it ends a message.
bool NvmeQueue::assemble(const Observation& packet, Way& way) const {
    const Place place = info(packet.opcode).place;
    NvmeMessage& message = way.message;
    if (begins_message(place)) {
        message = {};
        message.frame = packet.frame;
        way.open = true;
    }
    if (!way.open) return false;
    const std::size_t room = NvmeMessage::kHead - message.kept;
    const Bytes some = slice(packet.payload, 0, std::min<std::size_t>(room, packet.payload_length));
    const bool wanted = message.kept == message.length;  // nothing is missing before it
    if (wanted && message.kept < NvmeMessage::kHead) {
        std::ranges::copy(some, message.head.begin() + static_cast<std::ptrdiff_t>(message.kept));
        message.kept += some.size();
        message.whole_head = message.whole_head && some.size() == std::min<std::size_t>(room, packet.payload_length);
    }
    message.length += packet.payload_length;
    message.time = packet.time;
    if (!ends_message(place)) return false;
    message.immediate = packet.immediate.has_value();
    message.invalidate = packet.invalidate;
    way.open = false;
    return true;
}

void NvmeQueue::observe(const Observation& packet, const PacketRecord& record, bool from_host, NvmeRoom& room,
                        HostTallies& tallies) {
    const Side from = from_host ? Side::host : Side::target;
    const Verb verb = info(packet.opcode).verb;
    if (from_host && is_response(verb)) return take_read_response(packet, tallies);
    if (!record.arrival) return;
    Way& way = ways_[static_cast<std::size_t>(from)];
    const Turn turn = follow(packet, from);
    if (turn == Turn::repeated) return;
    if (turn == Turn::lost) {
        way.open = false;
        if (!lost_) lose_track(room);
    }
    confirm(from, packet.time, tallies);
    tallies.about(from_host ? set_up_.host : set_up_.target);
    const bool send = verb == Verb::send;
    if (from_host) {
        tallies.look(Passive::nvme_25);
        if (!send) return tallies.fail(Passive::nvme_25, packet.frame);
        if (assemble(packet, way)) take_command(way.message, room, tallies);
        return;
    }
    const bool moves = verb == Verb::write || verb == Verb::read_request;
    tallies.look(Passive::nvme_26);
    if ((!send && !moves) || packet.immediate) tallies.fail(Passive::nvme_26, packet.frame);
    if (moves) return take_data(packet, room, tallies);
    if (send && assemble(packet, way)) take_response(way.message, room, tallies);
}

// READ responses: the last packet of one ends all READs up to it. That a command was answered before is proven by what
// comes behind, not by what does not come. The data of a Connect names the controller.
void NvmeQueue::take_read_response(const Observation& packet, HostTallies& tallies) {
    constexpr std::size_t kControllerAt = 16;
    if (lost_) return;
    const Place place = info(packet.opcode).place;
    for (const OpenRead& read : reads_)
        if (read.connect && read.psn == packet.psn && begins_message(place) &&
            packet.payload.size() >= kControllerAt + 2)
            asked_id_ = read_le<std::uint16_t>(packet.payload, kControllerAt);
    if (!ends_message(place)) return;
    std::optional<Psn> own;  // of the READ that it answers: those before it were answered by what the capture lacks
    for (const OpenRead& read : reads_)
        if (!packet.psn.before(read.psn)) own = read.psn;
    std::erase_if(reads_, [&](const OpenRead& read) {
        if (packet.psn.before(read.psn)) return false;
        if (NvmeCommandInFlight* command = find(read.cid); command != nullptr && command->reads_open > 0)
            --command->reads_open;
        std::erase_if(suspicions_, [&](const Suspicion& each) {
            if (each.check != Passive::nvme_37 || each.cid != read.cid) return false;
            if (read.psn != own || within_reordering(each.time, packet.time)) return true;
            tallies.about(set_up_.target);
            tallies.fail(Passive::nvme_37, each.frame, packet.frame);
            return true;
        });
        return true;
    });
}

void NvmeQueue::suspect(const Suspicion& suspicion) {
    if (!lost_ && suspicions_.size() < kMostSuspicions) suspicions_.push_back(suspicion);
}

// That way went on: what it could have explained by now, it has not.
void NvmeQueue::confirm(Side way, Instant time, HostTallies& tallies) {
    std::erase_if(suspicions_, [&](const Suspicion& each) {
        if (each.check == Passive::nvme_37 || each.explains != way || within_reordering(each.time, time)) return false;
        tallies.about(each.about == Side::host ? set_up_.host : set_up_.target);
        tallies.fail(each.check, each.frame, each.other);
        return true;
    });
}

void NvmeQueue::explain_by_command(NvmeCommandInFlight& command, Instant time) {
    std::erase_if(suspicions_, [&](Suspicion& each) {
        if (each.explains != Side::host || each.check == Passive::nvme_37 || !within_reordering(each.time, time))
            return false;
        if (each.excess > 0) return --each.excess == 0;
        if (each.memory.length == 0) return each.cid == command.cid;
        if (!command.names(each.memory)) return false;
        command.moved += each.memory.length;
        return true;
    });
}

void NvmeQueue::explain_by_response(std::uint16_t cid, Instant time) {
    std::erase_if(suspicions_, [&](Suspicion& each) {
        if (each.explains != Side::target || !within_reordering(each.time, time)) return false;
        if (each.excess > 0) return --each.excess == 0;
        return each.cid == cid;
    });
}

}  // namespace qps::transport::conformance
