// What a target does on a queue: data to and from the memory that commands name, and responses.
#include <dissect/ulp/nvme.hpp>
#include <transport-replay/checks/passive/nvme_queue.hpp>
#include <transport-replay/ulp/nvme_entry.hpp>

#include <algorithm>

namespace qps::transport::conformance {

using namespace dissect;
using namespace nvme;

namespace {

struct Completion {
    std::uint64_t result = 0;
    std::uint16_t head = 0;
    std::uint16_t queue = 0;
    std::uint16_t cid = 0;
    std::uint32_t status = 0;  // without phase
    bool phase = false;
};
Completion completion_of(Bytes bytes) {
    const Bytes behind = slice(bytes, kNvmeResult);
    const std::uint64_t status = read(behind, named(kNvmeCompletionFields, "nvme.cqe.status"));
    return {.result = read_le<std::uint64_t>(bytes, 0),
            .head = static_cast<std::uint16_t>(read(behind, named(kNvmeCompletionFields, "nvme.cqe.sqhd"))),
            .queue = static_cast<std::uint16_t>(read(behind, named(kNvmeCompletionFields, "nvme.cqe.sqid"))),
            .cid = static_cast<std::uint16_t>(read(behind, named(kNvmeCompletionFields, "nvme.cqe.cid"))),
            .status = static_cast<std::uint32_t>(status >> 1U),
            .phase = (status & 1U) != 0};
}

}  // namespace

// A packet of a WRITE, or a READ.
void NvmeQueue::take_data(const Observation& packet, NvmeRoom& room, HostTallies& tallies) {
    if (lost_) return;
    const bool reads = info(packet.opcode).verb == Verb::read_request;
    if (!packet.access) {  // a WRITE goes on
        NvmeCommandInFlight* command = writing_ ? find(*writing_) : nullptr;
        if (command != nullptr && command->identifies) learn_controller(packet, *command, written_to_, room);
        written_to_ += packet.payload_length;
        return;
    }
    writing_.reset();
    const RemoteAccess& access = *packet.access;
    if (access.length == 0) return;
    const auto owner =
        std::ranges::find_if(flying_, [&](const NvmeCommandInFlight& command) { return command.names(access); });
    tallies.look(Passive::nvme_31);
    tallies.look(Passive::nvme_35);
    if (owner == flying_.end()) {
        const auto late = std::ranges::find_if(answered_, [&](const Answered& each) {
            return each.used && each.keyed && each.memory.key == access.key && access.address >= each.memory.address &&
                   access.address - each.memory.address < each.memory.length;
        });
        const bool in_flight = std::ranges::any_of(flying_, [&](const NvmeCommandInFlight& command) {
            return command.keyed && command.memory.key == access.key;
        });
        const bool answered = late != answered_.end() && !in_flight;
        return suspect({.check = answered ? Passive::nvme_35 : Passive::nvme_31,
                        .about = Side::target,
                        .explains = Side::host,
                        .frame = packet.frame,
                        .other = answered ? late->frame : FrameIndex{},
                        .time = packet.time,
                        .cid = 0,
                        .excess = 0,
                        .memory = access});
    }
    tallies.look(Passive::nvme_32);
    if (reads ? !owner->to_controller() : !owner->to_host()) tallies.fail(Passive::nvme_32, packet.frame, owner->frame);
    owner->moved += access.length;
    if (reads) {
        if (reads_.size() >= kMostReads) return lose_track(room);
        if (owner->reads_open < UINT8_MAX) ++owner->reads_open;
        reads_.push_back({.psn = packet.psn,
                          .cid = owner->cid,
                          .connect = owner->is_connect() && access.address == owner->memory.address});
        return;
    }
    writing_ = owner->cid;
    written_to_ = access.address - owner->memory.address;
    if (owner->identifies) learn_controller(packet, *owner, written_to_, room);
    written_to_ += packet.payload_length;
}

// Identify Controller has the size of capsules.
void NvmeQueue::learn_controller(const Observation& packet, const NvmeCommandInFlight& command, std::uint64_t offset,
                                 NvmeRoom& room) {
    constexpr Field kSize = named(kNvmeControllerFields, "nvme.cmd.identify.ctrl.nvmeof.ioccsz");
    constexpr Field kOffset = named(kNvmeControllerFields, "nvme.cmd.identify.ctrl.nvmeof.icdoff");
    constexpr std::uint64_t kFirst = kSize.bit / 8U, kEnd = kOffset.bit / 8U + 2;
    constexpr std::uint32_t kUnit = 16, kMostUnits = 1U << 24U;
    if (!id_ || command.is_connect() || offset > kFirst || offset + packet.payload.size() < kEnd) return;
    const std::uint32_t units = read_le<std::uint32_t>(packet.payload, kFirst - offset);
    const NvmeCapsules said{.bytes = units > kMostUnits ? 0 : units * kUnit,
                            .data_offset = read_le<std::uint16_t>(packet.payload, kOffset.bit / 8U - offset) * kUnit};
    const NvmeControllerKey key{set_up_.host, set_up_.target, *id_};
    const auto known = room.controllers.find(key);
    if (known == room.controllers.end()) {
        if (room.controllers.size() < NvmeRoom::kMostControllers) room.controllers.emplace(key, said);
    } else if (known->second.bytes != said.bytes || known->second.data_offset != said.data_offset) {
        known->second = {};
    }
}

void NvmeQueue::take_response(const NvmeMessage& message, NvmeRoom& room, HostTallies& tallies) {
    tallies.look(Passive::nvme_24);
    if (message.length != kNvmeCompletion) return tallies.fail(Passive::nvme_24, message.frame);
    if (message.kept < kNvmeCompletion) {
        if (!lost_) lose_track(room);
        return;
    }
    const Completion said = completion_of(message.bytes());
    tallies.look(Passive::nvme_42);
    if (said.queue != 0 && said.queue != set_up_.queue) tallies.fail(Passive::nvme_42, message.frame);
    tallies.look(Passive::nvme_43);
    if (said.phase) tallies.fail(Passive::nvme_43, message.frame);
    if (lost_) return;
    explain_by_response(said.cid, message.time);
    NvmeCommandInFlight* found = find(said.cid);
    tallies.look(Passive::nvme_38);
    tallies.look(Passive::nvme_39);
    if (found == nullptr) {
        const auto again =
            std::ranges::find_if(answered_, [&](const Answered& each) { return each.used && each.cid == said.cid; });
        const bool twice = again != answered_.end();
        return suspect({.check = twice ? Passive::nvme_39 : Passive::nvme_38,
                        .about = Side::target,
                        .explains = Side::host,
                        .frame = message.frame,
                        .other = twice ? again->frame : FrameIndex{},
                        .time = message.time,
                        .cid = said.cid,
                        .excess = 0,
                        .memory = {}});
    }
    const NvmeCommandInFlight command = *found;
    flying_.erase(flying_.begin() + (found - flying_.data()));
    --room.commands;
    answered_[next_answered_++ % kAnswered] = {
        .cid = said.cid, .used = true, .keyed = command.keyed, .memory = command.memory, .frame = message.frame};
    take_head(message, tallies);
    judge_completion(message, command, tallies);
    if (command.is_connect()) judge_connect_answer(message, said.status, room, tallies);
}

// SQHD says how many commands the controller has taken. Responses of several processors may overtake each other by a
// few.
void NvmeQueue::take_head(const NvmeMessage& message, HostTallies& tallies) {
    constexpr std::uint64_t kOvertaken = 16;
    const std::uint16_t said = completion_of(message.bytes()).head;
    if (entries_ < 2 || !flow_control_) return;
    tallies.look(Passive::nvme_40);
    if (said >= entries_) return tallies.fail(Passive::nvme_40, message.frame);
    const std::uint64_t ahead = (said + entries_ - head_ % entries_) % entries_;
    tallies.look(Passive::nvme_41);
    if (ahead <= sent_ - head_) {
        head_ += ahead;
        return;
    }
    if (entries_ - ahead <= std::min<std::uint64_t>(kOvertaken, entries_ / 4)) return;  // back
    suspect({.check = Passive::nvme_41,
             .about = Side::target,
             .explains = Side::host,
             .frame = message.frame,
             .other = {},
             .time = message.time,
             .cid = 0,
             .excess = static_cast<std::uint32_t>(ahead - (sent_ - head_)),
             .memory = {}});
}

// Its data is complete, its key invalidated only as asked.
void NvmeQueue::judge_completion(const NvmeMessage& message, const NvmeCommandInFlight& command, HostTallies& tallies) {
    const Completion said = completion_of(message.bytes());
    if (message.invalidate) {
        tallies.look(Passive::nvme_36);
        if (!command.invalidates || *message.invalidate != command.memory.key)
            tallies.fail(Passive::nvme_36, message.frame, command.frame);
    }
    if (command.to_controller() && command.keyed) {
        tallies.look(Passive::nvme_37);
        if (command.reads_open != 0)
            suspect({.check = Passive::nvme_37,
                     .about = Side::target,
                     .explains = Side::host,
                     .frame = message.frame,
                     .other = command.frame,
                     .time = message.time,
                     .cid = command.cid,
                     .excess = 0,
                     .memory = {}});
    }
    if (said.status == 0 && command.expected != 0) {
        const Passive check = command.to_host() ? Passive::nvme_33 : Passive::nvme_34;
        tallies.look(check);
        if (command.moved < command.expected) tallies.fail(check, message.frame, command.frame);
    }
    if (command.fabrics && command.type == kPropertyGet && !command.wide && said.status == 0) {
        tallies.look(Passive::nvme_44);
        if (said.result >> 32U != 0) tallies.fail(Passive::nvme_44, message.frame, command.frame);
    }
}

// 1.8xh of fabrics: a result that names the parameter; of a success: one that names the controller.
void NvmeQueue::judge_connect_answer(const NvmeMessage& message, std::uint32_t status, NvmeRoom& room,
                                     HostTallies& tallies) {
    constexpr std::uint32_t kInvalidParameters = 0x182;
    constexpr std::uint16_t kAny = 0xffff, kAnyStatic = 0xfffe;
    const Completion said = completion_of(message.bytes());
    if ((status & kNvmeStatusBits) == kInvalidParameters) {
        const std::uint64_t offset = said.result & 0xffffU, where = said.result >> 16U & 0xffU;
        tallies.look(Passive::nvme_18);
        if (where > 1 || offset >= (where == 1 ? kNvmeConnectData : kNvmeCommand))
            tallies.fail(Passive::nvme_18, message.frame);
    }
    if (status != 0) return;
    connected_ = true;
    const auto id = static_cast<std::uint16_t>(said.result);
    id_ = id;
    if (set_up_.queue == 0 || asked_id_) {
        const bool asked = !asked_id_ || *asked_id_ == kAny || *asked_id_ == kAnyStatic || *asked_id_ == id;
        tallies.look(Passive::nvme_17);
        if (id >= kAnyStatic || !asked) tallies.fail(Passive::nvme_17, message.frame);
    }
    const auto known = room.controllers.find({set_up_.host, set_up_.target, id});
    if (set_up_.queue != 0 && known != room.controllers.end()) capsules_ = known->second;
}

}  // namespace qps::transport::conformance
