// The walk over an iSCSI PDU: header, additional headers, and the data segment by what the opcode puts there.
#include <dissect/ulp/iscsi.hpp>

namespace qps::dissect {

namespace {

using namespace iscsi;

enum class Segment : std::uint8_t { data, keys, sense };

struct BhsRow {
    std::uint8_t opcode;
    LayerKind kind;
    Segment segment = Segment::data;
};
constexpr std::array kRows{
    BhsRow{kNopOut, kind::iscsi_nop},
    BhsRow{kNopIn, kind::iscsi_nop},
    BhsRow{kCommand, kind::iscsi_command},
    BhsRow{kResponse, kind::iscsi_response, Segment::sense},
    BhsRow{kTaskRequest, kind::iscsi_task_management},
    BhsRow{kTaskResponse, kind::iscsi_task_management},
    BhsRow{kLoginRequest, kind::iscsi_login_request, Segment::keys},
    BhsRow{kLoginResponse, kind::iscsi_login_response, Segment::keys},
    BhsRow{kTextRequest, kind::iscsi_text, Segment::keys},
    BhsRow{kTextResponse, kind::iscsi_text, Segment::keys},
    BhsRow{kDataOut, kind::iscsi_data_out},
    BhsRow{kDataIn, kind::iscsi_data_in},
    BhsRow{kLogoutRequest, kind::iscsi_logout},
    BhsRow{kLogoutResponse, kind::iscsi_logout},
    BhsRow{kSnack, kind::iscsi_snack},
    BhsRow{kReadyToTransfer, kind::iscsi_ready_to_transfer},
    BhsRow{kAsynchronous, kind::iscsi_asynchronous, Segment::sense},
    BhsRow{kReject, kind::iscsi_reject},
};

const BhsRow* row_of(std::uint64_t opcode) {
    const auto found = std::ranges::find(kRows, opcode, &BhsRow::opcode);
    return found == kRows.end() ? nullptr : &*found;
}

constexpr std::size_t kWord = 4;  // lengths of AHS count words; segments are padded to them
constexpr std::size_t padded(std::size_t length) { return (length + kWord - 1) / kWord * kWord; }

// What comes behind a list without a bound: a data layer, pad and checksums.
constexpr std::size_t kLayersBehindKeys = 4;

// Whether the message ends where the packet does: the first of several packets holds a part of the segment only.
bool is_whole(const Packet& packet) { return !packet.has_transport() || info(packet.opcode).place == Place::only; }

void walk_additional(Walk& walk, std::size_t length) {
    const std::size_t stop = std::min(walk.offset + length, walk.end);
    while (walk.offset < stop && walk.packet.layer_count + kLayersBehindKeys < kMaxLayers) {
        const std::size_t says =
            read_be<std::uint16_t>(walk.header(), 0) + std::size_t{3};  // length and type do not count
        const std::size_t takes = std::min(std::max(padded(says), kWord), stop - walk.offset);
        if (!add_layer(walk.packet, kind::iscsi_additional_header, walk.offset, takes, walk.end)) return;
        if (padded(says) > takes) mark(walk.packet, Fault::bad_length);
        walk.offset += takes;
    }
    walk.offset = stop;
}

// A key's layer goes to the next key: the NUL that ends it, and of the last one the pad, belong to it.
void walk_keys(Walk& walk, std::size_t length) {
    Bytes text = slice(walk.header(), 0, length);
    const std::byte* const start = text.data();
    const std::size_t first = walk.offset;
    const std::size_t stop = first + std::min(padded(length), walk.left());
    while (walk.packet.layer_count + kLayersBehindKeys < kMaxLayers) {
        const Bytes key = next_key(text);
        if (key.empty()) break;
        const auto at_key = static_cast<std::size_t>(key.data() - start);
        const Bytes behind =
            slice(walk.packet.frame.bytes, first + at_key + key.size(), stop - (first + at_key + key.size()));
        const auto zeros = static_cast<std::size_t>(
            std::ranges::find_if(behind, [](std::byte byte) { return byte != std::byte{0}; }) - behind.begin());
        if (!add_layer(walk.packet, kind::iscsi_key, first + at_key, key.size() + zeros, walk.end)) return;
        walk.offset = first + at_key + key.size() + zeros;
    }
}

void walk_sense_segment(Walk& walk, std::size_t length) {
    const std::size_t stop = walk.offset + length;
    const Bytes head = enter(walk, kind::iscsi_sense_length, 2);
    if (head.empty()) return;
    const std::size_t says = read_be<std::uint16_t>(head, 0);
    ulp::walk_sense(walk, std::min(says, stop - walk.offset));
    if (says > length - 2) mark(walk.packet, Fault::bad_length);
}

void walk_segment(Walk& walk, Segment segment, std::size_t says) {
    const std::size_t length = std::min(says, walk.left());
    if (says > walk.left() && is_whole(walk.packet)) mark(walk.packet, Fault::bad_length);
    if (length == 0) return;
    if (segment == Segment::keys) return walk_keys(walk, length);
    if (segment == Segment::sense && length >= 2) return walk_sense_segment(walk, length);
    if (add_layer(walk.packet, kind::iscsi_data_segment, walk.offset, length, walk.end)) walk.offset += length;
    else walk.offset = walk.end;
}

}  // namespace

namespace iscsi {

std::optional<Pdu> pdu_of(Bytes bytes) {
    Pdu pdu;
    pdu.header = slice(bytes, 0, kBhs);
    if (pdu.header.size() < kBhs) return std::nullopt;
    pdu.opcode = static_cast<std::uint8_t>(read(pdu.header, kOpcode));
    if (row_of(pdu.opcode) == nullptr) return std::nullopt;
    const std::size_t additional = read(pdu.header, kAhsLength) * kWord;
    pdu.data_length = read(pdu.header, kDataLength);
    pdu.additional = slice(bytes, kBhs, additional);
    pdu.data = slice(bytes, kBhs + additional, pdu.data_length);
    pdu.length_on_wire = kBhs + additional + padded(pdu.data_length);
    return pdu;
}

Bytes next_key(Bytes& text) {
    while (!text.empty()) {
        const auto end = std::ranges::find(text, std::byte{0});
        const auto length = static_cast<std::size_t>(end - text.begin());
        const Bytes key = text.first(length);
        text = slice(text, length + 1);
        if (!key.empty()) return key;
    }
    return {};
}

}  // namespace iscsi

namespace ulp {

void walk_iscsi(Walk& walk) {
    const BhsRow* row = row_of(read(slice(walk.header(), 0, 1), kOpcode));
    if (row == nullptr || walk.left() == 0) return add_data(walk);
    const bool command = row->kind == kind::iscsi_command;
    const Bytes header = enter(walk, row->kind, command ? kCommandHead : kBhs);
    if (header.empty()) return;
    if (command && enter(walk, kind::scsi_cdb, scsi::kCdbArea).empty()) return;
    walk_additional(walk, read(header, kAhsLength) * kWord);
    walk_segment(walk, row->segment, read(header, kDataLength));
    add_data(walk);
}

}  // namespace ulp

}  // namespace qps::dissect
