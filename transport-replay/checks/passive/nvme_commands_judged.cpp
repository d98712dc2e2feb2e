// What a host sends on a queue: capsules, descriptors, Connect, what may be sent when, how much at a time.
#include <dissect/ulp/nvme.hpp>
#include <transport-replay/checks/passive/nvme_queue.hpp>
#include <transport-replay/ulp/nvme_entry.hpp>

#include <algorithm>
#include <bit>

namespace qps::transport::conformance {

using namespace dissect;
using namespace nvme;

namespace {

constexpr std::uint64_t kIdentifyBytes = 4096;
constexpr std::uint8_t kWrite = 0x01, kRead = 0x02;  // opcodes of I/O

// Bytes that a command moves if it succeeds, where its entry tells; 0: it does not. Blocks have a power of two of
// bytes, unless they have metadata.
std::uint64_t data_of(const NvmeCommandInFlight& command, std::uint16_t queue, Bytes entry) {
    constexpr std::uint64_t kLeastBlock = 512;
    if (command.is_connect()) return kNvmeConnectData;
    if (command.fabrics) return 0;
    if (queue == 0) return command.opcode == kIdentify ? kIdentifyBytes : 0;
    if (command.opcode != kRead && command.opcode != kWrite) return 0;
    const std::uint64_t blocks = (dword(entry, 12) & 0xffffU) + 1;
    const std::uint64_t block = command.memory.length / blocks;
    return block >= kLeastBlock && std::has_single_bit(block) && block * blocks == command.memory.length
               ? command.memory.length
               : 0;
}

// Bytes that its memory must have at least; 0: its entry does not tell.
std::uint64_t least_memory(const NvmeCommandInFlight& command, std::uint16_t queue, Bytes entry) {
    if (command.fabrics || queue != 0) return 0;
    if (command.opcode == kIdentify) return kIdentifyBytes;
    if (command.opcode != kGetLogPage) return 0;
    const std::uint64_t dwords = dword(entry, 10) >> 16U | std::uint64_t{dword(entry, 11) & 0xffffU} << 16U;
    return (dwords + 1) * sizeof(std::uint32_t);
}

NvmeCommandInFlight command_of(const NvmeMessage& message, std::uint16_t queue) {
    constexpr std::uint8_t kInvalidateKey = 0xf;
    const Bytes entry = message.bytes();
    NvmeCommandInFlight command;
    const Descriptor data = descriptor(entry);
    command.cid = read_le<std::uint16_t>(entry, 2);
    command.opcode = read_le<std::uint8_t>(entry, 0);
    command.fabrics = command.opcode == kNvmeFabrics;
    if (command.fabrics) command.type = read_le<std::uint8_t>(entry, 4);
    const bool property = command.fabrics && (command.type == kPropertyGet || command.type == kPropertySet);
    if (property) {
        command.wide = (read(slice(entry, kNvmeCommandHead),
                             named(kNvmePropertyFields, "nvme.fabrics.cmd.prop_get_set.attrib.size")) &
                        1U) != 0;
    } else {
        command.memory = data.memory;
        command.keyed = data.keyed() && data.memory.length != 0;
        command.invalidates = command.keyed && data.subtype == kInvalidateKey;
    }
    command.identifies =
        !command.fabrics && queue == 0 && command.opcode == kIdentify && (dword(entry, 10) & 0xffU) == 1;
    command.expected =
        command.keyed ? std::min<std::uint64_t>(data_of(command, queue, entry), command.memory.length) : 0;
    command.frame = message.frame;
    return command;
}

}  // namespace

void NvmeQueue::take_command(const NvmeMessage& message, NvmeRoom& room, HostTallies& tallies) {
    if (message.immediate || message.invalidate) tallies.fail(Passive::nvme_25, message.frame);
    tallies.look(Passive::nvme_23);
    if (message.length < kNvmeCommand) tallies.fail(Passive::nvme_23, message.frame);
    if (message.length < kNvmeCommand || message.kept < kNvmeCommand) {
        if (!lost_) lose_track(room);
        return;
    }
    NvmeCommandInFlight command = command_of(message, set_up_.queue);
    judge_capsule(message, command, tallies);
    judge_descriptor(message, command, tallies);
    judge_kind(message, command, tallies);
    if (command.is_connect()) judge_connect(message, tallies);
    if (lost_) return;
    judge_turn(message, command, tallies);
    if (command.is_connect() && !connected_) {
        constexpr std::size_t kControllerAt = kNvmeCommand + 16;
        asked_id_.reset();
        const Bytes arguments = slice(message.bytes(), kNvmeCommandHead + kNvmeSgl, kNvmeArguments);
        entries_ =
            static_cast<std::uint32_t>(read(arguments, named(kNvmeConnectFields, "nvme.fabrics.cmd.connect.sqsize"))) +
            1;
        flow_control_ = read(arguments, named(kNvmeConnectFields, "nvme.fabrics.cmd.connect.cattr.dfc")) == 0;
        if (message.kept >= kControllerAt + 2) asked_id_ = read_le<std::uint16_t>(message.bytes(), kControllerAt);
    }
    any_command_ = true;
    explain_by_command(command, message.time);
    ++sent_;
    judge_limits(message, command, tallies);
    if (room.commands >= room.most_commands) {
        ++room.unwatched;
        return lose_track(room);
    }
    ++room.commands;
    flying_.push_back(command);
}

// RDMA transport 3.3.1, figure 9.
void NvmeQueue::judge_capsule(const NvmeMessage& message, const NvmeCommandInFlight& command,
                              HostTallies& tallies) const {
    const Descriptor data = descriptor(message.bytes());
    if (set_up_.queue == 0) {
        tallies.look(Passive::nvme_19);
        if (message.length != kNvmeCommand) tallies.fail(Passive::nvme_19, message.frame);
        return;
    }
    if (command.fabrics) {
        tallies.look(Passive::nvme_20);
        // The figure has 64 bytes. Linux has the data of a Connect behind them, and whether the text lets it is not
        // sure.
        const bool with_data =
            command.is_connect() && data.in_capsule() && message.length == kNvmeCommand + data.memory.length;
        if (message.length != kNvmeCommand && with_data) tallies.doubt(Passive::nvme_20, message.frame);
        else if (message.length != kNvmeCommand) tallies.fail(Passive::nvme_20, message.frame);
    } else if (capsules_.bytes != 0) {
        tallies.look(Passive::nvme_21);
        if (message.length > capsules_.bytes) tallies.fail(Passive::nvme_21, message.frame);
    }
    const bool property = command.fabrics && !command.is_connect();
    if (property || !data.in_capsule() || data.memory.length == 0) return;
    tallies.look(Passive::nvme_22);
    const std::uint64_t behind = message.length - kNvmeCommand;
    const std::uint64_t from = data.memory.address + (command.fabrics ? 0 : capsules_.data_offset);
    if (from < data.memory.address || from > behind || data.memory.length > behind - from)
        tallies.fail(Passive::nvme_22, message.frame);
}

void NvmeQueue::judge_descriptor(const NvmeMessage& message, const NvmeCommandInFlight& command,
                                 HostTallies& tallies) const {
    constexpr std::uint8_t kReservedBits = 0x3c, kOffset = 1, kInvalidate = 0xf;
    constexpr std::uint8_t kBlock = 0, kLastSegment = 3;
    const Bytes entry = message.bytes();
    const auto flags = read_le<std::uint8_t>(entry, 1);
    tallies.look(Passive::nvme_29);
    if ((flags & kReservedBits) != 0) tallies.fail(Passive::nvme_29, message.frame);
    const Descriptor data = descriptor(entry);
    const bool property = command.fabrics && !command.is_connect();
    if (property || data.memory.length == 0 || !(command.to_controller() || command.to_host())) return;
    if (!command.fabrics) {
        tallies.look(Passive::nvme_27);
        const unsigned pointer = flags >> 6U;
        if (pointer != 1 && pointer != 2) tallies.fail(Passive::nvme_27, message.frame);
    }
    tallies.look(Passive::nvme_28);
    const bool offset = (data.type == kBlock || data.type == kLastSegment) && data.subtype == kOffset;
    const bool keyed = data.keyed() && (data.subtype == 0 || data.subtype == kInvalidate);
    if (!offset && !keyed) tallies.fail(Passive::nvme_28, message.frame);
    const std::uint64_t least = least_memory(command, set_up_.queue, entry);
    if (least == 0 || !(keyed || data.in_capsule())) return;
    tallies.look(Passive::nvme_30);
    if (data.memory.length < least) tallies.fail(Passive::nvme_30, message.frame);
}

// What the entry of a Connect says, beside what CM said.
void NvmeQueue::judge_connect(const NvmeMessage& message, HostTallies& tallies) {
    const Bytes arguments = slice(message.bytes(), kNvmeCommandHead + kNvmeSgl, kNvmeArguments);
    const std::uint64_t size = read(arguments, named(kNvmeConnectFields, "nvme.fabrics.cmd.connect.sqsize"));
    tallies.look(Passive::nvme_10);
    if (size != set_up_.sends) tallies.fail(Passive::nvme_10, message.frame, set_up_.request);
    tallies.look(Passive::nvme_11);
    if (read(arguments, named(kNvmeConnectFields, "nvme.fabrics.cmd.connect.qid")) != set_up_.queue)
        tallies.fail(Passive::nvme_11, message.frame, set_up_.request);
    tallies.look(Passive::nvme_15);
    if (size == 0 || read(arguments, named(kNvmeConnectFields, "nvme.fabrics.cmd.connect.recfmt")) != 0)
        tallies.fail(Passive::nvme_15, message.frame);
    tallies.look(Passive::nvme_16);
    if (descriptor(message.bytes()).memory.length != kNvmeConnectData) tallies.fail(Passive::nvme_16, message.frame);
}

// What only the queue for administration has, and when.
void NvmeQueue::judge_kind(const NvmeMessage& message, const NvmeCommandInFlight& command, HostTallies& tallies) {
    constexpr std::uint64_t kCapabilities = 0x00, kEnable = 1;
    constexpr std::array<std::uint64_t, 4> kNarrow{0x08, kNvmeConfiguration, 0x1c, 0x20};  // VS, CC, CSTS, NSSR
    const bool property = command.fabrics && (command.type == kPropertyGet || command.type == kPropertySet);
    if (property) {
        const Bytes arguments = slice(message.bytes(), kNvmeCommandHead, kNvmeProperty);
        const std::uint64_t offset =
            read(arguments, named(kNvmePropertyFields, "nvme.fabrics.cmd.prop_get_set.offset"));
        tallies.look(Passive::nvme_48);
        if (set_up_.queue != 0) tallies.fail(Passive::nvme_48, message.frame);
        const bool narrow = std::ranges::find(kNarrow, offset) != kNarrow.end();
        if (narrow || offset == kCapabilities) {
            tallies.look(Passive::nvme_50);
            if (command.wide == narrow) tallies.fail(Passive::nvme_50, message.frame);
        }
        const bool sets = command.type == kPropertySet && offset == kNvmeConfiguration;
        enabled_ = enabled_ ||
                   (sets && (read(arguments, named(kNvmePropertyFields, "rdma.nvme.property.value")) & kEnable) != 0);
        return;
    }
    if (command.fabrics || set_up_.queue != 0 || command.opcode == kKeepAlive || lost_) return;
    tallies.look(Passive::nvme_49);
    if (!enabled_) tallies.fail(Passive::nvme_49, message.frame);
}

// Connect is the first command, and the last until it succeeds.
void NvmeQueue::judge_turn(const NvmeMessage& message, const NvmeCommandInFlight& command, HostTallies& tallies) {
    if (!any_command_) {
        tallies.look(Passive::nvme_12);
        if (!command.is_connect()) tallies.fail(Passive::nvme_12, message.frame);
        return;
    }
    if (command.is_connect()) {
        tallies.look(Passive::nvme_14);
        if (connected_) tallies.fail(Passive::nvme_14, message.frame);
        return;
    }
    tallies.look(Passive::nvme_13);
    if (connected_) return;
    const auto connect = std::ranges::find_if(flying_, &NvmeCommandInFlight::is_connect);
    if (connect == flying_.end()) return tallies.fail(Passive::nvme_13, message.frame);  // it failed, or there was none
    suspect({.check = Passive::nvme_13,
             .about = Side::host,
             .explains = Side::target,
             .frame = message.frame,
             .other = connect->frame,
             .time = message.time,
             .cid = connect->cid,
             .excess = 0,
             .memory = {}});
}

void NvmeQueue::judge_limits(const NvmeMessage& message, const NvmeCommandInFlight& command, HostTallies& tallies) {
    const auto suspect_too_many = [&](Passive check, std::uint64_t excess) {
        suspect({.check = check,
                 .about = Side::host,
                 .explains = Side::target,
                 .frame = message.frame,
                 .other = {},
                 .time = message.time,
                 .cid = 0,
                 .excess = static_cast<std::uint32_t>(excess),
                 .memory = {}});
    };
    tallies.look(Passive::nvme_47);
    if (const NvmeCommandInFlight* same = find(command.cid))
        suspect({.check = Passive::nvme_47,
                 .about = Side::host,
                 .explains = Side::target,
                 .frame = message.frame,
                 .other = same->frame,
                 .time = message.time,
                 .cid = command.cid,
                 .excess = 0,
                 .memory = {}});
    const std::uint64_t outstanding = flying_.size() + 1;
    if (set_up_.receives != 0) {
        tallies.look(Passive::nvme_46);
        if (outstanding > set_up_.receives) suspect_too_many(Passive::nvme_46, outstanding - set_up_.receives);
    }
    if (entries_ < 2) return;
    tallies.look(Passive::nvme_45);
    const std::uint64_t used = flow_control_ ? sent_ - head_ : outstanding;
    if (used > entries_ - 1) suspect_too_many(Passive::nvme_45, used - (entries_ - 1));
}

}  // namespace qps::transport::conformance
