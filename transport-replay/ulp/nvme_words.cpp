// NVMe's row of the table of protocols, apart from its machine: how it is recognised, its operations in words.
//
// A completion has nothing that tells it from any 16 bytes, so commands alone decide: Connect at once, others by their
// shape.
#include <dissect/ulp/nvme.hpp>
#include <transport-replay/ulp/nvme_entry.hpp>
#include <transport-replay/ulp/nvme_facts.hpp>
#include <transport-replay/ulp/nvme_protocol.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::nvme {

using namespace dissect;

namespace {

constexpr std::uint8_t kPossible = 10;  // nothing against it

bool all_zero(Bytes bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

// Recfmt 0, a queue of at least two, 1024 bytes of data that are named or follow: more than 32 bits.
Likeness connect_likeness(const UlpMessage& message, const Descriptor& data) {
    const Bytes entry = message.bytes;
    const std::uint32_t ten = dword(entry, 10);
    if ((ten & 0xffffU) != 0 || (dword(entry, 11) & 0xffffU) == 0 || data.memory.length != kNvmeConnectData) return {};
    if (data.in_capsule() && message.length < kNvmeCommand + kNvmeConnectData) return {};
    return {kSure, true};
}

Likeness fabrics_likeness(const UlpMessage& message) {
    constexpr std::size_t kBehindType = 5;
    const Bytes entry = message.bytes;
    const auto type = read_le<std::uint8_t>(entry, 4);
    if (nvme_word(kNvmeFabricsCommands, type).empty() ||
        !all_zero(slice(entry, kBehindType, kNvmeCommandHead - kBehindType)))
        return {};
    if (type == kConnect) return connect_likeness(message, descriptor(entry));
    if (type != kPropertyGet && type != kPropertySet) return {kPlausible, true};
    const bool known = !nvme_word(kNvmeProperties, dword(entry, 11)).empty();
    return known && all_zero(slice(entry, kNvmeCommandHead, 15)) ? Likeness{kPlausible, true} : Likeness{};
}

// An entry as hosts fill it: SGLs, no metadata, a keyed descriptor or data that is exactly as long as it says.
Likeness command_likeness(const UlpMessage& message) {
    constexpr std::size_t kDwordTwo = 8;
    constexpr std::uint32_t kMostData = 1U << 24U;
    const Bytes entry = message.bytes;
    const auto opcode = read_le<std::uint8_t>(entry, 0);
    if (nvme_word(kNvmeAdminCommands, opcode).empty() && nvme_word(kNvmeIoCommands, opcode).empty()) return {};
    if (read_le<std::uint8_t>(entry, 1) >> 6U == 0 || !all_zero(slice(entry, kDwordTwo, kNvmeCommandHead - kDwordTwo)))
        return {};
    const Descriptor data = descriptor(entry);
    const std::uint64_t behind = message.length - kNvmeCommand;
    if (data.memory.length >= kMostData) return {};
    if (data.in_capsule()) return data.memory.length == behind ? Likeness{kPlausible, true} : Likeness{};
    if (!data.keyed() || behind != 0) return {};
    const bool named_memory = data.memory.key != Rkey{} && data.memory.address != 0;
    return named_memory == (data.memory.length != 0) ? Likeness{kPlausible, true} : Likeness{};
}

}  // namespace

Likeness likeness(const UlpMessage& message) {
    if (message.length == kNvmeCompletion) {
        if (!message.whole()) return {kPossible, false};
        const std::uint32_t status = std::uint32_t{read_le<std::uint16_t>(message.bytes, kNvmeCompletion - 2)} >> 1U;
        return nvme_status(status, false).empty() && nvme_status(status, true).empty() ? Likeness{}
                                                                                       : Likeness{kPossible, false};
    }
    if (message.length < kNvmeCommand || message.bytes.size() < kNvmeCommand || !has_shape(message.bytes)) return {};
    return read_le<std::uint8_t>(message.bytes, 0) == kNvmeFabrics ? fabrics_likeness(message)
                                                                   : command_likeness(message);
}

// A port of NVMe and sizes that go with each other; on any other port the sizes must be as all hosts choose them.
bool is_own(const CmAttempt& attempt) {
    constexpr std::array<std::uint16_t, 2> kPorts{4420, 8009};
    constexpr std::size_t kUsed = 10;  // what is behind is reserved
    const PrivateData& data = attempt.active.private_data;
    const Bytes bytes = data.bytes();
    if (data.room < kNvmePrivate || data.used > kUsed) return false;
    const std::uint64_t receive = read_le<std::uint16_t>(bytes, 4);
    std::array<std::byte, kUsed> padded{};  // zeroes at its end were not kept
    std::ranges::copy(bytes, padded.begin());
    const std::uint64_t send = read(padded, named(kNvmeRequestFields, "nvme-rdma.cm.req.hsqsize"));
    const std::uint64_t format = read(padded, named(kNvmeRequestFields, "nvme-rdma.cm.req.recfmt"));
    if (format != 0 || receive == 0 || send == 0 || receive < send) return false;
    const bool known_port = attempt.ip && std::ranges::find(kPorts, attempt.ip->port) != kPorts.end();
    return known_port || receive == send + 1;
}

std::string_view operation_name(OperationCode code) {
    std::string_view name;
    switch (nvme_set(code)) {
        case NvmeSet::admin: name = nvme_word(kNvmeAdminCommands, nvme_opcode(code)); break;
        case NvmeSet::io: name = nvme_word(kNvmeIoCommands, nvme_opcode(code)); break;
        case NvmeSet::fabrics: name = nvme_word(kNvmeFabricsCommands, nvme_opcode(code)); break;
        case NvmeSet::unknown: break;
    }
    if (!name.empty()) return name;
    return nvme_set(code) == NvmeSet::admin ? "Admin Command"
           : nvme_set(code) == NvmeSet::io  ? "I/O Command"
                                            : "Command";
}

namespace {

std::string known_or_number(std::span<const ValueName> names, std::uint64_t value) {
    const std::string_view known = nvme_word(names, value);
    return known.empty() ? fmt::format("0x{:02x}", value) : std::string(known);
}

std::string describe_io(const UlpOperation& operation) {
    const std::uint32_t space = nvme_namespace_of(operation);
    const std::uint64_t count = std::uint64_t{nvme_selector_of(operation)} + 1;
    switch (nvme_opcode(operation.code)) {
        case 0x01:
        case 0x02:
        case 0x04:
        case 0x05:
        case 0x08:
        case 0x0c:
        case 0x7d:
            return fmt::format("namespace {}, LBA {}, {} {}", space, operation.subject[1], count,
                               count == 1 ? "block" : "blocks");
        case kDatasetManagement:
            return fmt::format("namespace {}, {} {}", space, count, count == 1 ? "range" : "ranges");
        default: return fmt::format("namespace {}", space);
    }
}

std::string describe_admin(const UlpOperation& operation) {
    const std::uint32_t space = nvme_namespace_of(operation);
    const std::uint32_t selector = nvme_selector_of(operation);
    std::string words;
    switch (nvme_opcode(operation.code)) {
        case kIdentify: words = known_or_number(kNvmeIdentifies, selector); break;
        case kGetLogPage:
            words = known_or_number(kNvmeLogPages, selector);
            if (operation.subject[1] != 0) words += fmt::format(" from byte {}", operation.subject[1]);
            break;
        case kSetFeatures:
        case kGetFeatures: words = known_or_number(kNvmeFeatures, selector); break;
        default: break;
    }
    if (space == 0 || space == UINT32_MAX) return words;
    return words.empty() ? fmt::format("namespace {}", space) : fmt::format("{}, namespace {}", words, space);
}

std::string describe_fabrics(const UlpOperation& operation) {
    switch (nvme_opcode(operation.code)) {
        case kConnect: {
            const std::uint32_t queue = nvme_selector_of(operation);
            return queue == 0 ? std::string("admin queue") : fmt::format("I/O queue {}", queue);
        }
        case kPropertySet:
        case kPropertyGet:
            return fmt::format("{}: 0x{:x}", known_or_number(kNvmeProperties, operation.subject[0]),
                               operation.subject[1]);
        default: return {};
    }
}

}  // namespace

std::string describe(const UlpOperation& operation) {
    switch (nvme_set(operation.code)) {
        case NvmeSet::admin: return describe_admin(operation);
        case NvmeSet::io: return describe_io(operation);
        case NvmeSet::fabrics: return describe_fabrics(operation);
        case NvmeSet::unknown: break;
    }
    return fmt::format("opcode 0x{:02x}, namespace {}", nvme_opcode(operation.code), nvme_namespace_of(operation));
}

std::string status(const UlpOperation& operation) {
    return status_words(operation.status, nvme_set(operation.code) == NvmeSet::fabrics);
}

void attempt(const CmAttempt& attempt, UlpReport& report) {
    if (!attempt.rejection || attempt.rejection->by_active) return;
    const Bytes data = attempt.rejection->private_data.bytes();
    const auto format = read_le<std::uint16_t>(data, 0);
    std::array<std::byte, kNvmeRejection> padded{};  // zeroes at its end were not kept
    std::ranges::copy(slice(data, 0, kNvmeRejection), padded.begin());
    const std::uint64_t status = read(padded, named(kNvmeRejectionFields, "nvme-rdma.cm.rej.status"));
    if (format != 0 || status == 0) return;
    const std::string_view known = nvme_word(kNvmeRejections, status);
    report.add({.kind = UlpEventKind::refused,
                .protocol = UlpProtocol::nvme,
                .connection = {},
                .cm_attempt = attempt.uid,
                .frame = attempt.last_frame,
                .time = attempt.last_time,
                .by_active = false,
                .number = status,
                .words = known.empty() ? fmt::format("status {}", status) : std::string(known)});
}

}  // namespace qps::transport::nvme
