// SCSI as the storage protocols carry it: the field tables of command descriptor blocks (CDB) and of sense data (T10:
// SPC, SBC).
//
// A CDB of 6 to 16 bytes lies in an area of 16. Which fields it has, its opcode says: parts with a condition. What an
// attacker could feed: any opcode, sense data of any length; a field that is not there has no value.
#pragma once

#include <dissect/base/walk.hpp>
#include <dissect/ulp/scsi_names.hpp>

#include <algorithm>
#include <concepts>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind scsi_cdb = kind_in(LayerFamily::scsi, 0);
inline constexpr LayerKind scsi_sense = kind_in(LayerFamily::scsi, 1);
inline constexpr LayerKind scsi_sense_descriptors = kind_in(LayerFamily::scsi, 2);
}  // namespace kind

namespace scsi {

inline constexpr std::size_t kCdbArea = 16;
inline constexpr std::size_t kFixedSense = 18;
inline constexpr std::size_t kSenseHead = 8;  // of both formats; what follows is as long as it says

// A field of every command with one of these opcodes.
template <std::size_t N, std::same_as<int>... Opcodes>
consteval void of(std::array<Field, N>& table, std::size_t& used, const Field& field, Opcodes... opcodes) {
    for (const int opcode : {opcodes...})
        table[used++] = field.part().only_if(at(0), 8, static_cast<std::uint64_t>(opcode));
}

inline constexpr std::size_t kMostCdbFields = 256;

struct CdbTable {
    std::array<Field, kMostCdbFields> rows{};
    std::size_t used = 0;
};

// Reading and writing blocks: where, how many, with which flags.
consteval void add_block_commands(CdbTable& t) {
    using namespace row;
    const auto flags = [](std::string_view name) { return hex(name, "Flags", at(1), 8); };
    of(t.rows, t.used, flags("scsi_sbc.read.flags"), 0x28, 0x88, 0xa8, 0x2a, 0x8a, 0xaa);
    of(t.rows, t.used, decimal("scsi_sbc.rdprotect", "Protection of what is read", at(1, 0), 3), 0x28, 0x88, 0xa8);
    of(t.rows, t.used, decimal("scsi_sbc.wrprotect", "Protection of what is written", at(1, 0), 3), 0x2a, 0x8a, 0xaa);
    of(t.rows, t.used, flag("scsi_sbc.dpo", "Disable page out", at(1, 3)), 0x28, 0x88, 0xa8, 0x2a, 0x8a, 0xaa);
    of(t.rows, t.used, flag("scsi_sbc.fua", "Force unit access", at(1, 4)), 0x28, 0x88, 0xa8, 0x2a, 0x8a, 0xaa);
    of(t.rows, t.used, flag("scsi_sbc.fua_nv", "Force unit access of non-volatile cache", at(1, 6)), 0x28, 0x88, 0xa8,
       0x2a, 0x8a, 0xaa);
    of(t.rows, t.used, flags("scsi_sbc.verify_flags"), 0x2f, 0x8f, 0xaf);
    of(t.rows, t.used, flags("scsi_sbc.wrverify_flags"), 0x2e, 0x8e, 0xae);
    of(t.rows, t.used, flags("scsi_sbc.synccache.flags"), 0x35, 0x91);
    of(t.rows, t.used, flag("scsi_sbc.synccache.immediate", "Immediate", at(1, 6)), 0x35, 0x91);
    of(t.rows, t.used, flags("scsi_sbc.writesame_flags"), 0x41, 0x93);
    of(t.rows, t.used, flag("scsi_sbc.unmap", "Unmap: the blocks may be given back", at(1, 4)), 0x41, 0x93);
    of(t.rows, t.used, flag("scsi_sbc.unmap.anchor", "Anchor", at(1, 7)), 0x42);

    of(t.rows, t.used, decimal("scsi_sbc.rdwr6.lba", "Logical block address", at(1, 3), 21), 0x08, 0x0a);
    of(t.rows, t.used, decimal("scsi_sbc.rdwr6.xferlen", "Transfer length: 0 means 256", at(4), 8).in("blocks"), 0x08,
       0x0a);
    of(t.rows, t.used, decimal("scsi_sbc.rdwr10.lba", "Logical block address", at(2), 32), 0x28, 0x2a, 0x34, 0x35, 0x41,
       0xa8, 0xaa, 0x25);
    of(t.rows, t.used, decimal("scsi_sbc.rdwr10.xferlen", "Transfer length", at(7), 16).in("blocks"), 0x28, 0x2a, 0x34,
       0x35, 0x41);
    of(t.rows, t.used, decimal("scsi_sbc.rdwr12.xferlen", "Transfer length", at(6), 32).in("blocks"), 0xa8, 0xaa);
    of(t.rows, t.used, decimal("scsi_sbc.rdwr16.lba", "Logical block address", at(2), 64), 0x88, 0x8a, 0x89, 0x90, 0x91,
       0x93, 0x9c);
    of(t.rows, t.used, decimal("scsi_sbc.rdwr12.xferlen", "Transfer length", at(10), 32).in("blocks"), 0x88, 0x8a, 0x90,
       0x91, 0x93);
    of(t.rows, t.used, decimal("rdma.scsi.cdb.blocks", "Number of blocks: compared, then written", at(13), 8), 0x89);
    of(t.rows, t.used, decimal("rdma.scsi.cdb.blocks", "Transfer length", at(12), 16).in("blocks"), 0x9c);
    of(t.rows, t.used, decimal("scsi_sbc.verify.lba", "Logical block address", at(2), 32), 0x2f, 0xaf);
    of(t.rows, t.used, decimal("scsi_sbc.verify.vlen", "Verification length", at(7), 16).in("blocks"), 0x2f);
    of(t.rows, t.used, decimal("scsi_sbc.verify.vlen32", "Verification length", at(6), 32).in("blocks"), 0xaf);
    of(t.rows, t.used, decimal("scsi_sbc.verify.lba64", "Logical block address", at(2), 64), 0x8f);
    of(t.rows, t.used, decimal("scsi_sbc.verify.vlen32", "Verification length", at(10), 32).in("blocks"), 0x8f);
    of(t.rows, t.used, decimal("scsi_sbc.wrverify.lba", "Logical block address", at(2), 32), 0x2e, 0xae);
    of(t.rows, t.used, decimal("scsi_sbc.wrverify.xferlen", "Transfer length", at(7), 16).in("blocks"), 0x2e);
    of(t.rows, t.used, decimal("scsi_sbc.wrverify.xferlen32", "Transfer length", at(6), 32).in("blocks"), 0xae);
    of(t.rows, t.used, decimal("scsi_sbc.wrverify.lba64", "Logical block address", at(2), 64), 0x8e);
    of(t.rows, t.used, decimal("scsi_sbc.wrverify.xferlen32", "Transfer length", at(10), 32).in("blocks"), 0x8e);
    of(t.rows, t.used, decimal("scsi_sbc.group", "Group number", at(6, 3), 5), 0x28, 0x2a, 0x2e, 0x2f, 0x35, 0x41,
       0x42);
    of(t.rows, t.used, decimal("scsi_sbc.group", "Group number", at(10, 3), 5), 0xa8, 0xaa, 0xae, 0xaf);
    of(t.rows, t.used, decimal("scsi_sbc.group", "Group number", at(14, 3), 5), 0x88, 0x8a, 0x8e, 0x8f, 0x91, 0x93);
}

// Asking about the device, and setting it up.
consteval void add_device_commands(CdbTable& t) {
    using namespace row;
    constexpr std::uint64_t kVitalPage = 0x1201;  // INQUIRY with EVPD
    const auto length16 = decimal("scsi.cdb.alloclen16", "Allocation length", at(7), 16).in("bytes");
    of(t.rows, t.used, hex("scsi.inquiry.flags", "Flags", at(1), 8), 0x12);
    t.rows[t.used++] =
        hex("scsi.inquiry.evpd.pagecode", "Page of vital product data", at(2), 8).part().only_if(at(0), 16, kVitalPage);
    of(t.rows, t.used, decimal("scsi.cdb.alloclen16", "Allocation length", at(3), 16).in("bytes"), 0x12);
    of(t.rows, t.used, hex("scsi.mode.flags", "Flags", at(1), 8), 0x1a, 0x5a);
    of(t.rows, t.used,
       decimal("scsi.mode.pc", "Page control: 0 current, 1 changeable, 2 default, 3 saved values", at(2), 2), 0x1a,
       0x5a, 0x4d);
    of(t.rows, t.used, hex("scsi.mode.spc.pagecode", "Page", at(2, 2), 6), 0x1a, 0x5a, 0x4d);
    of(t.rows, t.used, hex("rdma.scsi.cdb.subpage", "Subpage", at(3), 8), 0x1a, 0x5a, 0x4d);
    of(t.rows, t.used, decimal("scsi.cdb.alloclen", "Allocation length", at(4), 8).in("bytes"), 0x1a, 0x03);
    of(t.rows, t.used, length16, 0x5a, 0x4d, 0x5e, 0x37);
    of(t.rows, t.used, hex("scsi.cdb.mode.flags", "Flags", at(1), 8), 0x15, 0x55);
    of(t.rows, t.used, decimal("scsi.cdb.paramlen", "Parameter list length", at(4), 8).in("bytes"), 0x15);
    of(t.rows, t.used, decimal("scsi.cdb.paramlen16", "Parameter list length", at(7), 16).in("bytes"), 0x55, 0x42,
       0x4c);
    of(t.rows, t.used, hex("scsi.spc.select_report", "Select report", at(2), 8), 0xa0);
    of(t.rows, t.used, decimal("scsi.cdb.alloclen32", "Allocation length", at(6), 32).in("bytes"), 0xa0, 0xa3, 0xa2);
    of(t.rows, t.used, hex("scsi_sbc.sa", "Service action", at(1, 3), 5).named(kServiceActionsIn), 0x9e);
    constexpr std::uint64_t kGetLbaStatus = 0x9e12;
    t.rows[t.used++] =
        decimal("scsi_sbc.lba64_add", "Logical block address", at(2), 64).part().only_if(at(0), 16, kGetLbaStatus);
    of(t.rows, t.used, decimal("scsi_sbc.alloclen32", "Allocation length", at(10), 32).in("bytes"), 0x9e);
    of(t.rows, t.used, hex("scsi.mpi.service_action", "Service action", at(1, 3), 5).named(kMaintenanceIn), 0xa3);
    of(t.rows, t.used, hex("rdma.scsi.cdb.service_action", "Service action", at(1, 3), 5).named(kMaintenanceOut), 0xa4);
    of(t.rows, t.used, hex("rdma.scsi.cdb.service_action", "Service action", at(1, 3), 5), 0x9f, 0x94, 0x95, 0x83, 0x84,
       0x48);
    of(t.rows, t.used, hex("rdma.scsi.cdb.service_action", "Service action", at(8), 16), 0x7f);
    of(t.rows, t.used, decimal("rdma.scsi.cdb.additional_length", "Additional CDB length", at(7), 8).in("bytes"), 0x7f);
    of(t.rows, t.used, hex("rdma.scsi.cdb.power_condition", "Power condition", at(4), 4), 0x1b);
    of(t.rows, t.used, flag("rdma.scsi.cdb.start", "Start", at(4, 7)), 0x1b);
    of(t.rows, t.used, hex("rdma.scsi.cdb.buffer_mode", "Mode", at(1, 3), 5), 0x3b, 0x3c);
    of(t.rows, t.used, decimal("rdma.scsi.cdb.buffer_offset", "Buffer offset", at(3), 24).in("bytes"), 0x3b, 0x3c);
    of(t.rows, t.used, decimal("scsi.cdb.paramlen24", "Length", at(6), 24).in("bytes"), 0x3b, 0x3c);
    of(t.rows, t.used, hex("scsi.persresvin.svcaction", "Service action", at(1, 3), 5).named(kReserveIn), 0x5e);
    of(t.rows, t.used, hex("scsi.persresvout.svcaction", "Service action", at(1, 3), 5).named(kReserveOut), 0x5f);
    of(t.rows, t.used, hex("scsi.persresv.scope", "Reservation scope", at(2), 4), 0x5f);
    of(t.rows, t.used, hex("scsi.persresv.type", "Reservation type", at(2, 4), 4).named(kReservationTypes), 0x5f);
    of(t.rows, t.used, decimal("rdma.scsi.cdb.parameter_length", "Parameter list length", at(5), 32).in("bytes"), 0x5f);
    // REPORT SUPPORTED OPERATION CODES.
    constexpr std::uint64_t kReportOpcodes = 0xa30c;
    const auto report = [&](const Field& field) { t.rows[t.used++] = field.part().only_if(at(0), 16, kReportOpcodes); };
    report(flag("scsi.report_opcodes.rctd", "Return command timeouts", at(2)));
    report(decimal("scsi.report_opcodes.options", "Reporting options", at(2, 5), 3));
    report(hex("scsi.report_opcodes.requested_operation_code", "Requested operation code", at(3), 8).named(kOpcodes));
    report(hex("scsi.report_opcodes.requested_service_action", "Requested service action", at(4), 16));
}

// The last byte of every CDB, whose length the group in the opcode's first bits tells (SAM, SPC).
consteval void add_control(CdbTable& t) {
    struct Group {
        std::uint8_t group;
        std::uint8_t last;
    };
    for (const Group each : {Group{0, 5}, Group{1, 9}, Group{2, 9}, Group{4, 15}, Group{5, 11}}) {
        const auto add = [&](const Field& field) { t.rows[t.used++] = field.part().only_if(at(0), 3, each.group); };
        add(row::hex("scsi.cdb.control", "Control", at(each.last), 8));
        add(row::hex("scsi.cdb.control.vendorspecific", "Vendor specific", at(each.last), 2));
        add(row::hex("scsi.cdb.control.reserved", "Reserved", at(each.last, 2), 3));
        add(row::flag("scsi.cdb.control.naca", "Normal ACA", at(each.last, 5)));
        add(row::decimal("scsi.cdb.control.obs1", "Obsolete", at(each.last, 6), 1));
        add(row::decimal("scsi.cdb.control.obs2", "Obsolete", at(each.last, 7), 1));
    }
}

consteval CdbTable cdb_table() {
    CdbTable t;
    t.rows[t.used++] = row::hex("scsi_sbc.opcode", "Operation code", at(0), 8).named(kOpcodes);
    t.rows[t.used++] =
        row::bytes("rdma.scsi.cdb.parameters", "Parameters: the bytes behind the operation code", at(1), 120);
    add_block_commands(t);
    add_device_commands(t);
    add_control(t);
    return t;
}

inline constexpr CdbTable kCdbTable = cdb_table();
inline constexpr auto kCdbFields = [] {
    std::array<Field, kCdbTable.used> fields{};
    std::ranges::copy_n(kCdbTable.rows.begin(), kCdbTable.used, fields.begin());
    return fields;
}();
static_assert(tiles(kCdbFields, kCdbArea));

inline constexpr std::array kSenseFormats{
    ValueName{0x70, "current error"},
    ValueName{0x71, "deferred error"},
    ValueName{0x72, "current error, descriptors"},
    ValueName{0x73, "deferred error, descriptors"},
};

inline constexpr std::array kSenseFields{
    row::flag("rdma.scsi.sense.valid", "Information is valid", at(0)),
    row::hex("scsi.sns.errtype", "Format", at(0, 1), 7).named(kSenseFormats),
    row::reserved(at(1), 8),
    row::flag("scsi.sns.filemark", "Filemark", at(2)),
    row::flag("scsi.sns.eom", "End of medium", at(2, 1)),
    row::flag("scsi.sns.ili", "Incorrect length indicator", at(2, 2)),
    row::reserved(at(2, 3), 1),
    row::hex("scsi.sns.key", "Sense key", at(2, 4), 4).named(kSenseKeys),
    row::hex("scsi.sns.info", "Information", at(3), 32),
    row::decimal("scsi.sns.addlen", "Additional sense length", at(7), 8).in("bytes"),
    row::bytes("scsi.sns.command_specific_information", "Command specific information", at(8), 32),
    row::hex("scsi.sns.ascascq", "Additional sense code and qualifier", at(12), 16).named(kSenseCodes),
    row::hex("scsi.sns.asc", "Additional sense code", at(12), 8).part(),
    row::hex("scsi.sns.ascq", "Additional sense code qualifier", at(13), 8).part(),
    row::hex("scsi.sns.fru", "Field replaceable unit", at(14), 8),
    row::flag("scsi.sns.sksv", "Sense key specific is valid", at(15)),
    row::hex("scsi.sns.sks_info", "Sense key specific", at(15, 1), 23),
    row::bytes("rdma.scsi.sense.more", "Bytes behind it", at(18), kToEnd),
};
static_assert(tiles(kSenseFields, kFixedSense));

inline constexpr std::array kSenseDescriptorFields{
    row::reserved(at(0), 1),
    row::hex("scsi.sns.errtype", "Format", at(0, 1), 7).named(kSenseFormats),
    row::reserved(at(1), 4),
    row::hex("scsi.sns.key", "Sense key", at(1, 4), 4).named(kSenseKeys),
    row::hex("scsi.sns.ascascq", "Additional sense code and qualifier", at(2), 16).named(kSenseCodes),
    row::hex("scsi.sns.asc", "Additional sense code", at(2), 8).part(),
    row::hex("scsi.sns.ascq", "Additional sense code qualifier", at(3), 8).part(),
    row::flag("rdma.scsi.sense.overflow", "Sense data overflow", at(4)),
    row::reserved(at(4, 1), 23),
    row::decimal("scsi.sns.addlen", "Additional sense length", at(7), 8).in("bytes"),
    row::bytes("rdma.scsi.sense.descriptors", "Descriptors", at(8), kToEnd),
};
static_assert(tiles(kSenseDescriptorFields, kSenseHead));

inline constexpr std::array kScsiHeaders{
    Header{kind::scsi_cdb, "scsi.cdb", "SCSI Command Descriptor Block", kCdbArea, kCdbFields},
    Header{kind::scsi_sense, "scsi.sns", "SCSI Sense Data", kFixedSense, kSenseFields},
    Header{kind::scsi_sense_descriptors, "rdma.scsi.sense", "SCSI Sense Data with Descriptors", kSenseHead,
           kSenseDescriptorFields},
};

// What a CDB is about, whatever its length.
struct Extent {
    std::uint64_t lba = 0;
    std::uint64_t blocks = 0;
    bool has_blocks = false;
};
[[nodiscard]] Extent extent_of(Bytes cdb);
// The service action where the opcode is shared by several commands, else 0.
[[nodiscard]] std::uint8_t service_action_of(Bytes cdb);

// Key, code and qualifier of sense data of either format; zeros where there is none.
struct Sense {
    std::uint8_t key = 0;
    std::uint16_t code = 0;  // ASC, ASCQ
};
[[nodiscard]] Sense sense_of(Bytes sense);

// The logical unit of a LUN field of 8 bytes, of the usual single level (SAM: peripheral, flat, logical unit
// addressing).
[[nodiscard]] constexpr std::uint16_t lun_of(std::uint64_t field) {
    return static_cast<std::uint16_t>(field >> 48 & 0x3fffU);
}

}  // namespace scsi

namespace ulp {
// Sense data of `length` bytes at the walk, as far as the packet holds it.
void walk_sense(Walk& walk, std::size_t length);
}  // namespace ulp

}  // namespace qps::dissect
