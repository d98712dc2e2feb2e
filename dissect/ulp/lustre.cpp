// The walk over messages of ptlrpc. What an attacker could feed: buffers without end, lengths of 4 GiB; of at most
// kMostBuffers each is cut to what is there, and nothing is entered that is not within the message.
#include <dissect/base/walk.hpp>
#include <dissect/ulp/lustre.hpp>

#include <algorithm>

namespace qps::dissect {

namespace lustre {

namespace {

constexpr Field kCount = named(kMessageFields, "lustre.lustre_msg_v2.lm_bufcount");
constexpr Field kMagicField = named(kMessageFields, "lustre.lustre_msg_v2.lm_magic");
constexpr Field kKnowsEarly = named(kMessageFields, "rdma.lustre.flags.adaptive_timeouts");
constexpr Field kType = named(kBodyFields, "lustre.ptlrpc_body.pb_type");
constexpr Field kOpcode = named(kBodyFields, "lustre.ptlrpc_body.pb_opc");
constexpr Field kStatus = named(kBodyFields, "lustre.ptlrpc_body.pb_status");
constexpr Field kObjectId = named(kObjectFields, "lustre.obd_ioobj.ioo_id");
constexpr Field kOffset = named(kExtentFields, "lustre.niobuf_remote.offset");
constexpr Field kLength = named(kExtentFields, "lustre.niobuf_remote.len");

// In the requests that move data.
constexpr std::size_t kObjectAt = 2, kExtentsAt = 3;

// How long the header with the lengths is; 0 where these are no bytes of a message.
std::size_t head_of(Bytes message) {
    if (message.size() < kHead || read(message, kMagicField) != kMagic) return 0;
    const std::uint64_t count = read(message, kCount);
    return count == 0 || count > kMostBuffers ? 0 : kHead + count * kBufferLength;
}

std::uint32_t length_at(Bytes message, std::size_t index) {
    return read_le<std::uint32_t>(message, kHead + index * kBufferLength);
}

// The first buffer is a body that says what it is.
bool is_body(Bytes body, std::uint32_t length) {
    if (length < kBody || length > kLongestBody || body.size() < kBody) return false;
    const std::uint64_t type = read(body, kType);
    return std::ranges::find(kTypes, type, &ValueName::value) != kTypes.end();
}

bool moves_data(std::uint64_t type, std::uint64_t opcode) {
    return type == kRequest && (opcode == kOstRead || opcode == kOstWrite);
}

void add_extents(Bytes message, std::size_t head, Said& said) {
    if (!moves_data(said.type, said.opcode) || said.buffers <= kExtentsAt) return;
    std::size_t place = aligned(head);
    for (std::size_t i = 0; i < kObjectAt; ++i) place += aligned(length_at(message, i));
    const Bytes object = slice(message, place, length_at(message, kObjectAt));
    const Bytes extents =
        slice(message, place + aligned(length_at(message, kObjectAt)), length_at(message, kExtentsAt));
    if (object.size() < kObject || extents.size() < kExtent || extents.size() != length_at(message, kExtentsAt)) return;
    said.has_extents = true;
    said.object = read(object, kObjectId);
    said.offset = read(extents, kOffset);
    for (std::size_t i = 0; i + kExtent <= extents.size(); i += kExtent) said.bytes += read(slice(extents, i), kLength);
}

// What is left of a buffer, in a layer of that kind; nothing of one that is empty.
void rest(Walk& walk, std::size_t length, LayerKind kind) {
    const std::size_t there = std::min(length, walk.left());
    if (there > 0) static_cast<void>(enter(walk, kind, there));
}

void walk_extents(Walk& walk, std::size_t length) {
    std::size_t left = length;
    for (std::size_t i = 0; i < kMostExtents && left >= kExtent && walk.left() >= kExtent; ++i, left -= kExtent)
        if (enter(walk, kind::lustre_extent, kExtent).empty()) return;
    rest(walk, left, kind::lustre_buffer);
}

void walk_buffer(Walk& walk, std::uint64_t type, std::uint64_t opcode, std::size_t index, std::size_t length) {
    const bool whole = length <= walk.left();
    if (whole && moves_data(type, opcode) && index == kObjectAt && length == kObject)
        static_cast<void>(enter(walk, kind::lustre_object, kObject));
    else if (moves_data(type, opcode) && index == kExtentsAt) walk_extents(walk, length);
    else if (whole && type == kRequest && opcode == kMdsReint && index == 1 && length >= kChange)
        static_cast<void>(enter(walk, kind::lustre_change, length));
    else rest(walk, length, kind::lustre_buffer);
    if (walk.left() > 0) rest(walk, aligned(length) - length, kind::lustre_pad);
}

void walk_message(Walk& walk) {
    const Bytes message = slice(walk.header(), 0, walk.left());
    const std::size_t head = head_of(message);
    if (head == 0 || head > walk.left()) return add_data(walk);
    if (enter(walk, kind::lustre_message, head).empty()) return;
    rest(walk, aligned(head) - head, kind::lustre_pad);
    const std::size_t count = (head - kHead) / kBufferLength;
    const Bytes body = slice(walk.header(), 0, walk.left());
    const std::uint32_t first = length_at(message, 0);
    if (!is_body(body, first) || first > walk.left()) return add_data(walk);
    if (enter(walk, kind::lustre_body, first).empty()) return;
    rest(walk, aligned(first) - first, kind::lustre_pad);
    for (std::size_t i = 1; i < count && walk.left() > 0; ++i)
        walk_buffer(walk, read(body, kType), read(body, kOpcode), i, length_at(message, i));
    add_data(walk);
}

}  // namespace

std::optional<Said> said_by(Bytes message) {
    const std::size_t head = head_of(message);
    if (head == 0 || message.size() < head) return std::nullopt;
    const Bytes body = slice(message, aligned(head));
    if (!is_body(body, length_at(message, 0))) return std::nullopt;
    Said said{.type = static_cast<std::uint32_t>(read(body, kType)),
              .opcode = static_cast<std::uint32_t>(read(body, kOpcode)),
              .status = static_cast<std::uint32_t>(read(body, kStatus)),
              .buffers = static_cast<std::uint32_t>(read(message, kCount)),
              .adaptive_timeouts = read(message, kKnowsEarly) != 0};
    add_extents(message, head, said);
    return said;
}

}  // namespace lustre

void ulp::walk_lustre(Walk& walk) { lustre::walk_message(walk); }

}  // namespace qps::dissect
