// The walk over an SRP information unit, and over the private data of its connections.
#include <dissect/ulp/srp.hpp>
#include <dissect/ulp/walks.hpp>

namespace qps::dissect {

namespace srp {

namespace {

std::size_t length_of(std::uint8_t format, std::size_t count) {
    if (format == kDirect) return kDescriptorLength;
    if (format == kIndirect) return kIndirectLength + count * kDescriptorLength;
    return format == kImmediate ? kImmediateLength : 0;
}

}  // namespace

CommandShape shape_of(Bytes command) {
    CommandShape shape;
    if (command.size() < kCommandLength) return shape;
    shape.out_format = static_cast<std::uint8_t>(read(command, named(kCommandFields, "rdma.srp.data_out_format")));
    shape.in_format = static_cast<std::uint8_t>(read(command, named(kCommandFields, "rdma.srp.data_in_format")));
    shape.out_count = read(command, named(kCommandFields, "rdma.srp.data_out_count"));
    shape.in_count = read(command, named(kCommandFields, "rdma.srp.data_in_count"));
    shape.out_at = kCommandLength + read(command, named(kCommandFields, "rdma.srp.add_cdb_len"));
    shape.in_at = shape.out_at + length_of(shape.out_format, shape.out_count);
    shape.end = shape.in_at + length_of(shape.in_format, shape.in_count);
    shape.valid = shape.out_format <= kImmediate && shape.in_format <= kIndirect;
    return shape;
}

}  // namespace srp

namespace ulp {

namespace {

using namespace srp;

struct UnitRow {
    std::uint8_t opcode;
    LayerKind kind;
    std::size_t length;
};
constexpr std::array kUnits{
    UnitRow{kLoginRequest, kind::srp_login_request, kLoginRequestLength},
    UnitRow{kTaskManagement, kind::srp_task_management, kTaskManagementLength},
    UnitRow{kCommand, kind::srp_command, kCommandHead},
    UnitRow{kInitiatorLogout, kind::srp_short, kShortLength},
    UnitRow{kCreditResponse, kind::srp_short, kShortLength},
    UnitRow{kEventResponse, kind::srp_short, kShortLength},
    UnitRow{kTargetLogout, kind::srp_short, kShortLength},
    UnitRow{kCreditRequest, kind::srp_short, kShortLength},
    UnitRow{kEventRequest, kind::srp_event, kEventLength},
    UnitRow{kLoginResponse, kind::srp_login_response, kLoginResponseLength},
    UnitRow{kResponse, kind::srp_response, kResponseLength},
    UnitRow{kLoginReject, kind::srp_login_reject, kLoginRejectLength},
};

// What comes behind a table without a bound: a data layer, pad and checksums.
constexpr std::size_t kLayersBehindTable = 4;

bool walk_descriptors(Walk& walk, std::uint8_t format, std::size_t count) {
    if (format == kDirect) return !enter(walk, kind::srp_descriptor, kDescriptorLength).empty();
    if (format == kImmediate) return !enter(walk, kind::srp_immediate, kImmediateLength).empty();
    if (format != kIndirect) return true;
    if (enter(walk, kind::srp_indirect, kIndirectLength).empty()) return false;
    for (std::size_t i = 0; i < count; ++i) {
        if (walk.packet.layer_count + kLayersBehindTable >= kMaxLayers) return true;
        if (enter(walk, kind::srp_descriptor, kDescriptorLength).empty()) return false;
    }
    return true;
}

void walk_command(Walk& walk) {
    const CommandShape shape = shape_of(slice(walk.header(), 0, walk.left()));
    const Bytes header = enter(walk, kind::srp_command, kCommandHead);
    if (header.empty() || enter(walk, kind::scsi_cdb, scsi::kCdbArea).empty()) return;
    if (!shape.valid) return add_data(walk);
    if (const std::size_t more = shape.out_at - kCommandLength; more > 0) {
        if (!add_layer(walk.packet, LayerKind::data, walk.offset, more, walk.end)) return;
        walk.offset += more;
    }
    if (!walk_descriptors(walk, shape.out_format, shape.out_count)) return;
    if (walk_descriptors(walk, shape.in_format, shape.in_count)) add_data(walk);
}

// The response data is a part of its layer, the sense data follows.
void walk_response(Walk& walk) {
    const Bytes header = slice(walk.header(), 0, std::min(kResponseLength, walk.left()));
    const std::size_t more = read(header, named(kResponseFields, "rdma.srp.rsp.response_len"));
    if (enter(walk, kind::srp_response, kResponseLength + more).empty()) return;
    const std::size_t sense = read(header, named(kResponseFields, "rdma.srp.rsp.sense_len"));
    const bool short_of_it = sense > walk.left();
    walk_sense(walk, sense);
    if (short_of_it) mark(walk.packet, Fault::bad_length);
    add_data(walk);
}

void walk_unit(Walk& walk) {
    const auto opcode = read_be<std::uint8_t>(walk.header(), 0);
    if (opcode == kCommand) return walk_command(walk);
    if (opcode == kResponse) return walk_response(walk);
    const auto unit = std::ranges::find(kUnits, opcode, &UnitRow::opcode);
    if (unit == kUnits.end()) return;  // not SRP: data stays what it was
    const Bytes header = enter(walk, unit->kind, unit->length);
    if (header.empty()) return;
    if (opcode == kEventRequest) walk_sense(walk, read(header, named(kEventFields, "rdma.srp.event.sense_len")));
    add_data(walk);
}

}  // namespace

void walk_srp(Walk& walk, const UlpHint&) { walk_unit(walk); }

void walk_srp_private(Walk& walk, const UlpHint&, LayerKind message) {
    const Bytes bytes = slice(walk.header(), 0, walk.left());
    const auto opcode = read_be<std::uint8_t>(bytes, 0);
    if (message == LayerKind::cm_rep && opcode == kLoginResponse)
        add_layer(walk.packet, kind::srp_login_response, walk.offset, kLoginResponseLength, walk.end);
    if (message == LayerKind::cm_rej && opcode == kLoginReject)
        add_layer(walk.packet, kind::srp_login_reject, walk.offset, kLoginRejectLength, walk.end);
    if (message != LayerKind::cm_req) return;
    const bool behind_ip = walk.left() <= kLoginRequestRdmaLength;
    if (behind_ip) add_layer(walk.packet, kind::srp_login_request_rdma, walk.offset, kLoginRequestRdmaLength, walk.end);
    else if (opcode == kLoginRequest)
        add_layer(walk.packet, kind::srp_login_request, walk.offset, kLoginRequestLength, walk.end);
}

}  // namespace ulp

}  // namespace qps::dissect
