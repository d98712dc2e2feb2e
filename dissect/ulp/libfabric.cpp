// The walks over messages of rxm and rxd, and what proves them. What an attacker could feed: types, flags and lengths
// that do not belong together. Only headers that are whole are entered, and no length of a message is believed.
#include <dissect/ulp/libfabric.hpp>
#include <dissect/ulp/walks.hpp>

#include <algorithm>

namespace qps::dissect {

namespace libfabric {

namespace {

constexpr Field kControlVersion = named(kControlFields, "rdma.rxm.ctrl.version");
constexpr Field kControlType = named(kControlFields, "rdma.rxm.ctrl.type");
constexpr Field kOpVersion = named(kOperationFields, "rdma.rxm.op.version");
constexpr Field kOp = named(kOperationFields, "rdma.rxm.op");
constexpr Field kOpFlags = named(kOperationFields, "rdma.rxm.op.flags");
constexpr Field kSize = named(kOperationFields, "rdma.rxm.op.size");
constexpr Field kVersion = named(kRxdBaseFields, "rdma.rxd.version");
constexpr Field kType = named(kRxdBaseFields, "rdma.rxd.type");
constexpr Field kHasCqData = named(kRxdBaseFields, "rdma.rxd.flags.remote_cq_data");
constexpr Field kHasTag = named(kRxdBaseFields, "rdma.rxd.flags.tag_hdr");
constexpr Field kInline = named(kRxdBaseFields, "rdma.rxd.flags.inline");

bool is_in(std::span<const ValueName> names, std::uint64_t value) {
    return std::ranges::find(names, value, &ValueName::value) != names.end();
}

bool is_zero(Bytes bytes) {
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

// The pieces of memory that a rendezvous names are as long as its data.
bool offers(Bytes rendezvous, std::uint64_t size) {
    constexpr std::size_t kCountAt = kPieces * kPiece, kLengthAt = 8;
    if (rendezvous.size() < kRendezvousLength || size == 0) return false;
    const std::size_t count = read_be<std::uint8_t>(rendezvous, kCountAt);
    if (count == 0 || count > kPieces) return false;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += read_le<std::uint64_t>(rendezvous, i * kPiece + kLengthAt);
    return sum == size;
}

}  // namespace

// Versions of rxm.h: of the control header 2 to 4, of the operation 2 and 3.
Fit fits_rxm(Bytes message, std::uint64_t length) {
    constexpr std::size_t kHeaders = kControl + kOperation;
    if (message.size() < kHeaders) return Fit::none;
    const Bytes operation = slice(message, kControl);
    const std::uint64_t control_version = read(message, kControlVersion), version = read(operation, kOpVersion);
    constexpr std::uint64_t kOldest = 2, kNewestControl = 4, kNewest = 3, kKnownFlags = 15;
    if (control_version < kOldest || control_version > kNewestControl || version < kOldest || version > kNewest)
        return Fit::none;
    if (!is_in(kControlTypes, read(message, kControlType)) || !is_in(kOperations, read(operation, kOp)))
        return Fit::none;
    if ((read(operation, kOpFlags) & ~kKnownFlags) != 0) return Fit::none;
    const std::uint64_t op = read(operation, kOp), size = read(operation, kSize);
    const bool carries = op == kMessageOp || op == kTaggedOp;
    switch (read(message, kControlType)) {
        case kEager: return !carries ? Fit::possible : size == length - kHeaders ? Fit::sure : Fit::none;
        case kRendezvous: return carries && offers(slice(message, kHeaders), size) ? Fit::sure : Fit::possible;
        default: return Fit::possible;
    }
}

Fit fits_rxd(Bytes message, std::uint64_t length) {
    if (message.size() < kRxdBase || read(message, kVersion) != kRxdVersion || !is_in(kRxdTypes, read(message, kType)))
        return Fit::none;
    constexpr std::size_t kFlagsAt = 2, kOpens = kRxdBase + kReadyToSend;
    if (read(message, kType) != kRxdReadyToSend) return Fit::possible;
    const bool opens = length == kOpens && is_zero(slice(message, kFlagsAt, kRxdBase - kFlagsAt)) &&
                       message.size() == length && !is_zero(slice(message, kOpens - kName));
    return opens ? Fit::sure : Fit::none;
}

namespace {

// A header that is whole; false where nothing may follow.
bool step(Walk& walk, LayerKind kind) {
    if (walk.left() < header(kind).length) return false;
    return !enter(walk, kind, header(kind).length).empty();
}

bool walk_rxd_operation(Walk& walk, Bytes base, std::uint64_t type) {
    const bool tagged = read(base, kHasTag) != 0, data = read(base, kHasCqData) != 0,
               segmented = read(base, kInline) == 0;
    const bool memory = type >= kRxdRead, atomic = type >= kRxdAtomic;
    if (tagged && !step(walk, kind::rxd_tag)) return false;
    if (data && !step(walk, kind::rxd_data)) return false;
    if (segmented && !step(walk, kind::rxd_segments)) return false;
    if (memory && !step(walk, kind::rxd_memory)) return false;
    return !atomic || step(walk, kind::rxd_atomic);
}

void walk_message(Walk& walk) {
    const Bytes message = slice(walk.header(), 0, walk.left());
    if (fits_rxm(message, kControl + kOperation + read(slice(message, kControl), kSize)) == Fit::none)
        return add_data(walk);
    const std::uint64_t type = read(message, kControlType);
    if (!step(walk, kind::ofi_control) || !step(walk, kind::ofi_operation)) return;
    if (type == kRendezvous && walk.left() >= kRendezvousLength && !step(walk, kind::rxm_rendezvous)) return;
    add_data(walk);
}

void walk_datagram(Walk& walk) {
    const Bytes message = slice(walk.header(), 0, walk.left());
    if (message.size() < kRxdBase || read(message, kVersion) != kRxdVersion) return add_data(walk);
    const std::uint64_t type = read(message, kType);
    if (!step(walk, kind::rxd_base)) return;
    switch (type) {
        case kRxdReadyToSend: static_cast<void>(step(walk, kind::rxd_ready_to_send)); break;
        case kRxdClearToSend: static_cast<void>(step(walk, kind::rxd_clear_to_send)); break;
        case kRxdAck:
        case kRxdData:
        case kRxdDataRead: static_cast<void>(step(walk, kind::rxd_extended)); break;
        default:
            if (type <= kRxdAtomicCompare && is_in(kRxdTypes, type))
                static_cast<void>(walk_rxd_operation(walk, message, type));
            break;
    }
    add_data(walk);
}

}  // namespace

}  // namespace libfabric

void ulp::walk_rxm(Walk& walk, const UlpHint&) { libfabric::walk_message(walk); }
void ulp::walk_rxd(Walk& walk, const UlpHint&) { libfabric::walk_datagram(walk); }

}  // namespace qps::dissect
