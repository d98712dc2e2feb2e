// The walk over a message of SMB Direct: negotiation, or a data transfer with (a fragment of) SMB2 in it.
//
// SMB2 in fragments is shown as far as the first fragment holds it; the others are data. What an attacker could feed:
// see smb_message.hpp.
#include <dissect/base/opcode.hpp>
#include <dissect/ulp/smb_direct.hpp>
#include <dissect/ulp/walks.hpp>

#include <algorithm>

namespace qps::dissect::ulp {

namespace {

// Of a message in several packets only the first is here: how long it is nobody knows yet.
constexpr std::uint64_t kUnknownLength = UINT32_MAX;
bool begins_more(const Packet& packet) { return packet.has_transport() && info(packet.opcode).place == Place::first; }

// Room for the last layer of data.
constexpr std::uint8_t kLastOfCommands = kMaxLayers - 8;

struct Smb2View {
    Walk& walk;
    std::size_t end = 0;  // of the SMB2 message or what is here of it, in the frame

    void add(LayerKind kind, std::size_t at, std::size_t length) const {
        if (length == 0) return;
        add_layer(walk.packet, kind, at, length, end);
        walk.offset = at + length;
    }
};

// READ or WRITE with its descriptors; `at` is where its SMB2 header stands in the frame, `stop` where the next one may.
void add_transfer(const Smb2View& view, std::size_t at, std::size_t stop, const Smb2Head& head,
                  const Smb2Transfer& transfer) {
    const std::size_t body = at + kSmb2HeaderLength;
    const bool reads = head.command == Smb2Command::read;
    view.add(reads ? kind::smb2_read : kind::smb2_write, body, kSmb2ReadLength);
    std::size_t next = body + kSmb2ReadLength;
    if (transfer.descriptor_count > 0) {
        view.add(LayerKind::data, next, at + transfer.descriptors - next);
        next = at + transfer.descriptors;
        for (std::size_t i = 0; i < transfer.descriptor_count && view.walk.packet.layer_count < kLastOfCommands; ++i) {
            view.add(kind::smb2_descriptor, next, kSmb2DescriptorLength);
            next += kSmb2DescriptorLength;
        }
    }
    view.add(LayerKind::data, next, stop - next);
}

// One command; returns where the next of its chain stands, nothing where it is the last.
std::optional<std::size_t> add_command(const Smb2View& view, std::size_t at) {
    const Bytes bytes = slice(slice(view.walk.packet.frame.bytes, 0, view.end), at);
    const auto head = smb2_head(bytes);
    if (!head || view.walk.packet.layer_count >= kLastOfCommands) {
        view.add(LayerKind::data, at, view.end - at);
        return std::nullopt;
    }
    view.add(kind::smb2, at, kSmb2HeaderLength);
    const bool chained = head->next >= kSmb2HeaderLength && head->next < bytes.size();
    const std::size_t stop = chained ? at + head->next : at + bytes.size();
    const Bytes command = slice(bytes, 0, stop - at);
    if (const auto transfer = smb2_transfer(command, *head)) add_transfer(view, at, stop, *head, *transfer);
    else if (command.size() >= kSmb2HeaderLength + sizeof(std::uint16_t))
        view.add(kind::smb2_body, at + kSmb2HeaderLength, command.size() - kSmb2HeaderLength);
    else view.add(LayerKind::data, at + kSmb2HeaderLength, command.size() - kSmb2HeaderLength);
    if (!chained) return std::nullopt;
    return stop;
}

void add_data_transfer(Walk& walk, std::size_t start, Bytes bytes) {
    const SmbDirectData data = smb_direct_data(bytes);
    const std::size_t begin =
        data.length == 0 ? kSmbDirectDataLength : std::min<std::size_t>(data.offset, bytes.size());
    const std::size_t length = data.length == 0 ? 0 : std::min<std::size_t>(data.length, bytes.size() - begin);
    const Smb2View view{walk, start + begin + length};
    add_layer(walk.packet, kind::smb_direct_data, start, begin, walk.end);
    walk.offset = start + begin;
    if (length > 0) {
        std::optional<std::size_t> next = start + begin;
        while (next) next = add_command(view, *next);
    }
    walk.offset = view.end;
    add_data(walk);
}

}  // namespace

void walk_smb_direct(Walk& walk, const UlpHint&) {
    const std::size_t start = walk.offset;
    const Bytes bytes = slice(walk.packet.frame.bytes, start, walk.left());
    const auto type = smb_direct_type(bytes, begins_more(walk.packet) ? kUnknownLength : walk.left());
    if (!type) return add_data(walk);
    if (*type == SmbDirectType::data) return add_data_transfer(walk, start, bytes);
    const bool request = *type == SmbDirectType::request;
    if (enter(walk, request ? kind::smb_direct_request : kind::smb_direct_response, bytes.size()).empty()) return;
    add_data(walk);
}

}  // namespace qps::dissect::ulp

namespace qps::dissect::smb {

namespace {

// The header before a command's layer.
std::optional<Smb2Head> head_before(const Packet& packet, const Layer& layer) {
    const Layer* before = nullptr;
    for (const Layer& each : packet.layers())
        if (each.kind == kind::smb2 && each.offset < layer.offset) before = &each;
    if (before == nullptr) return std::nullopt;
    return smb2_head(packet.bytes_of(*before));
}

}  // namespace

std::optional<Value> dialect(const Packet& packet, const Layer& layer) {
    const auto head = head_before(packet, layer);
    constexpr std::size_t kDialect = 4;  // MS-SMB2 2.2.4
    const Bytes bytes = packet.bytes_of(layer);
    if (!head || !head->response || head->command != Smb2Command::negotiate ||
        bytes.size() < kDialect + sizeof(std::uint16_t))
        return std::nullopt;
    return Value{read_le<std::uint16_t>(bytes, kDialect), {}};
}

std::optional<Value> write_count(const Packet& packet, const Layer& layer) {
    const auto head = head_before(packet, layer);
    constexpr std::size_t kCount = 4, kLength = 16;  // MS-SMB2 2.2.22
    const Bytes bytes = packet.bytes_of(layer);
    if (!head || !head->response || head->command != Smb2Command::write || head->status != 0 || bytes.size() < kLength)
        return std::nullopt;
    return Value{read_le<std::uint32_t>(bytes, kCount), {}};
}

}  // namespace qps::dissect::smb
