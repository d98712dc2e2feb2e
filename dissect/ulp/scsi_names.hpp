// What SCSI numbers mean: commands, service actions, status, sense keys and additional sense codes (T10: SPC, SBC,
// SAM). Shared by every protocol that carries SCSI. Names only: any number may come, and one that is not here has no
// name.
#pragma once

#include <dissect/base/field.hpp>

#include <array>

namespace qps::dissect::scsi {

inline constexpr std::array kOpcodes{
    ValueName{0x00, "TEST UNIT READY"},
    ValueName{0x01, "REZERO UNIT"},
    ValueName{0x03, "REQUEST SENSE"},
    ValueName{0x04, "FORMAT UNIT"},
    ValueName{0x07, "REASSIGN BLOCKS"},
    ValueName{0x08, "READ(6)"},
    ValueName{0x0a, "WRITE(6)"},
    ValueName{0x0b, "SEEK(6)"},
    ValueName{0x12, "INQUIRY"},
    ValueName{0x15, "MODE SELECT(6)"},
    ValueName{0x16, "RESERVE(6)"},
    ValueName{0x17, "RELEASE(6)"},
    ValueName{0x1a, "MODE SENSE(6)"},
    ValueName{0x1b, "START STOP UNIT"},
    ValueName{0x1c, "RECEIVE DIAGNOSTIC RESULTS"},
    ValueName{0x1d, "SEND DIAGNOSTIC"},
    ValueName{0x1e, "PREVENT ALLOW MEDIUM REMOVAL"},
    ValueName{0x23, "READ FORMAT CAPACITIES"},
    ValueName{0x25, "READ CAPACITY(10)"},
    ValueName{0x28, "READ(10)"},
    ValueName{0x2a, "WRITE(10)"},
    ValueName{0x2b, "SEEK(10)"},
    ValueName{0x2e, "WRITE AND VERIFY(10)"},
    ValueName{0x2f, "VERIFY(10)"},
    ValueName{0x34, "PRE-FETCH(10)"},
    ValueName{0x35, "SYNCHRONIZE CACHE(10)"},
    ValueName{0x37, "READ DEFECT DATA(10)"},
    ValueName{0x3b, "WRITE BUFFER"},
    ValueName{0x3c, "READ BUFFER"},
    ValueName{0x3e, "READ LONG(10)"},
    ValueName{0x3f, "WRITE LONG(10)"},
    ValueName{0x41, "WRITE SAME(10)"},
    ValueName{0x42, "UNMAP"},
    ValueName{0x43, "READ TOC/PMA/ATIP"},
    ValueName{0x46, "GET CONFIGURATION"},
    ValueName{0x48, "SANITIZE"},
    ValueName{0x4a, "GET EVENT STATUS NOTIFICATION"},
    ValueName{0x4c, "LOG SELECT"},
    ValueName{0x4d, "LOG SENSE"},
    ValueName{0x53, "XDWRITEREAD(10)"},
    ValueName{0x55, "MODE SELECT(10)"},
    ValueName{0x56, "RESERVE(10)"},
    ValueName{0x57, "RELEASE(10)"},
    ValueName{0x5a, "MODE SENSE(10)"},
    ValueName{0x5e, "PERSISTENT RESERVE IN"},
    ValueName{0x5f, "PERSISTENT RESERVE OUT"},
    ValueName{0x7f, "variable length CDB"},
    ValueName{0x83, "EXTENDED COPY"},
    ValueName{0x84, "RECEIVE COPY RESULTS"},
    ValueName{0x85, "ATA PASS-THROUGH(16)"},
    ValueName{0x88, "READ(16)"},
    ValueName{0x89, "COMPARE AND WRITE"},
    ValueName{0x8a, "WRITE(16)"},
    ValueName{0x8c, "READ ATTRIBUTE"},
    ValueName{0x8e, "WRITE AND VERIFY(16)"},
    ValueName{0x8f, "VERIFY(16)"},
    ValueName{0x90, "PRE-FETCH(16)"},
    ValueName{0x91, "SYNCHRONIZE CACHE(16)"},
    ValueName{0x93, "WRITE SAME(16)"},
    ValueName{0x94, "ZONING OUT"},
    ValueName{0x95, "ZONING IN"},
    ValueName{0x9c, "WRITE ATOMIC(16)"},
    ValueName{0x9e, "SERVICE ACTION IN(16)"},
    ValueName{0x9f, "SERVICE ACTION OUT(16)"},
    ValueName{0xa0, "REPORT LUNS"},
    ValueName{0xa1, "ATA PASS-THROUGH(12)"},
    ValueName{0xa2, "SECURITY PROTOCOL IN"},
    ValueName{0xa3, "MAINTENANCE IN"},
    ValueName{0xa4, "MAINTENANCE OUT"},
    ValueName{0xa8, "READ(12)"},
    ValueName{0xaa, "WRITE(12)"},
    ValueName{0xae, "WRITE AND VERIFY(12)"},
    ValueName{0xaf, "VERIFY(12)"},
    ValueName{0xb5, "SECURITY PROTOCOL OUT"},
    ValueName{0xb7, "READ DEFECT DATA(12)"},
};

inline constexpr std::array kServiceActionsIn{
    ValueName{0x10, "READ CAPACITY(16)"},
    ValueName{0x11, "READ LONG(16)"},
    ValueName{0x12, "GET LBA STATUS"},
    ValueName{0x13, "REPORT REFERRALS"},
};
inline constexpr std::array kMaintenanceIn{
    ValueName{0x05, "REPORT IDENTIFYING INFORMATION"},
    ValueName{0x0a, "REPORT TARGET PORT GROUPS"},
    ValueName{0x0b, "REPORT ALIASES"},
    ValueName{0x0c, "REPORT SUPPORTED OPERATION CODES"},
    ValueName{0x0d, "REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS"},
    ValueName{0x0e, "REPORT PRIORITY"},
    ValueName{0x0f, "REPORT TIMESTAMP"},
};
inline constexpr std::array kMaintenanceOut{
    ValueName{0x06, "SET IDENTIFYING INFORMATION"},
    ValueName{0x0a, "SET TARGET PORT GROUPS"},
    ValueName{0x0e, "SET PRIORITY"},
    ValueName{0x0f, "SET TIMESTAMP"},
};
inline constexpr std::array kReserveIn{
    ValueName{0, "READ KEYS"},
    ValueName{1, "READ RESERVATION"},
    ValueName{2, "REPORT CAPABILITIES"},
    ValueName{3, "READ FULL STATUS"},
};
inline constexpr std::array kReserveOut{
    ValueName{0, "REGISTER"},
    ValueName{1, "RESERVE"},
    ValueName{2, "RELEASE"},
    ValueName{3, "CLEAR"},
    ValueName{4, "PREEMPT"},
    ValueName{5, "PREEMPT AND ABORT"},
    ValueName{6, "REGISTER AND IGNORE EXISTING KEY"},
    ValueName{7, "REGISTER AND MOVE"},
};
inline constexpr std::array kReservationTypes{
    ValueName{1, "write exclusive"},
    ValueName{3, "exclusive access"},
    ValueName{5, "write exclusive, registrants only"},
    ValueName{6, "exclusive access, registrants only"},
    ValueName{7, "write exclusive, all registrants"},
    ValueName{8, "exclusive access, all registrants"},
};

inline constexpr std::array kStatus{
    ValueName{0x00, "GOOD"},
    ValueName{0x02, "CHECK CONDITION"},
    ValueName{0x04, "CONDITION MET"},
    ValueName{0x08, "BUSY"},
    ValueName{0x10, "INTERMEDIATE"},
    ValueName{0x14, "INTERMEDIATE, CONDITION MET"},
    ValueName{0x18, "RESERVATION CONFLICT"},
    ValueName{0x22, "COMMAND TERMINATED"},
    ValueName{0x28, "TASK SET FULL"},
    ValueName{0x30, "ACA ACTIVE"},
    ValueName{0x40, "TASK ABORTED"},
};

inline constexpr std::array kSenseKeys{
    ValueName{0x0, "no sense"},        ValueName{0x1, "recovered error"}, ValueName{0x2, "not ready"},
    ValueName{0x3, "medium error"},    ValueName{0x4, "hardware error"},  ValueName{0x5, "illegal request"},
    ValueName{0x6, "unit attention"},  ValueName{0x7, "data protect"},    ValueName{0x8, "blank check"},
    ValueName{0x9, "vendor specific"}, ValueName{0xa, "copy aborted"},    ValueName{0xb, "aborted command"},
    ValueName{0xd, "volume overflow"}, ValueName{0xe, "miscompare"},      ValueName{0xf, "completed"},
};

// Additional sense code and its qualifier as one number.
inline constexpr std::array kSenseCodes{
    ValueName{0x0000, "no additional sense information"},
    ValueName{0x0006, "I/O process terminated"},
    ValueName{0x0200, "no seek complete"},
    ValueName{0x0300, "peripheral device write fault"},
    ValueName{0x0400, "logical unit not ready, cause not reportable"},
    ValueName{0x0401, "logical unit is in process of becoming ready"},
    ValueName{0x0402, "logical unit not ready, initializing command required"},
    ValueName{0x0403, "logical unit not ready, manual intervention required"},
    ValueName{0x0404, "logical unit not ready, format in progress"},
    ValueName{0x040a, "logical unit not accessible, asymmetric access state transition"},
    ValueName{0x040b, "logical unit not accessible, target port in standby state"},
    ValueName{0x040c, "logical unit not accessible, target port in unavailable state"},
    ValueName{0x0500, "logical unit does not respond to selection"},
    ValueName{0x0800, "logical unit communication failure"},
    ValueName{0x0801, "logical unit communication time-out"},
    ValueName{0x0b00, "warning"},
    ValueName{0x0c00, "write error"},
    ValueName{0x0c02, "write error, auto reallocation failed"},
    ValueName{0x0d05, "data-in path communication lost with third party device"},
    ValueName{0x1001, "logical block guard check failed"},
    ValueName{0x1002, "logical block application tag check failed"},
    ValueName{0x1003, "logical block reference tag check failed"},
    ValueName{0x1100, "unrecovered read error"},
    ValueName{0x1104, "unrecovered read error, auto reallocate failed"},
    ValueName{0x1a00, "parameter list length error"},
    ValueName{0x1d00, "miscompare during verify operation"},
    ValueName{0x2000, "invalid command operation code"},
    ValueName{0x2002, "access denied, no access rights"},
    ValueName{0x2100, "logical block address out of range"},
    ValueName{0x2400, "invalid field in CDB"},
    ValueName{0x2500, "logical unit not supported"},
    ValueName{0x2600, "invalid field in parameter list"},
    ValueName{0x2601, "parameter not supported"},
    ValueName{0x2602, "parameter value invalid"},
    ValueName{0x2604, "invalid release of persistent reservation"},
    ValueName{0x2606, "too many target descriptors"},
    ValueName{0x2608, "too many segment descriptors"},
    ValueName{0x2700, "write protected"},
    ValueName{0x2707, "space allocation failed, write protect"},
    ValueName{0x2800, "not ready to ready change, medium may have changed"},
    ValueName{0x2900, "power on, reset, or bus device reset occurred"},
    ValueName{0x2901, "power on occurred"},
    ValueName{0x2902, "SCSI bus reset occurred"},
    ValueName{0x2903, "bus device reset function occurred"},
    ValueName{0x2907, "I_T nexus loss occurred"},
    ValueName{0x2a01, "mode parameters changed"},
    ValueName{0x2a03, "reservations preempted"},
    ValueName{0x2a04, "reservations released"},
    ValueName{0x2a05, "registrations preempted"},
    ValueName{0x2a06, "asymmetric access state changed"},
    ValueName{0x2a09, "capacity data has changed"},
    ValueName{0x2c00, "command sequence error"},
    ValueName{0x2f00, "commands cleared by another initiator"},
    ValueName{0x3100, "medium format corrupted"},
    ValueName{0x3200, "no defect spare location available"},
    ValueName{0x3a00, "medium not present"},
    ValueName{0x3e00, "logical unit has not self-configured yet"},
    ValueName{0x3f01, "microcode has been changed"},
    ValueName{0x3f03, "inquiry data has changed"},
    ValueName{0x3f0e, "reported LUNs data has changed"},
    ValueName{0x4400, "internal target failure"},
    ValueName{0x4500, "select or reselect failure"},
    ValueName{0x4700, "SCSI parity error"},
    ValueName{0x4705, "protocol service CRC error"},
    ValueName{0x4800, "initiator detected error message received"},
    ValueName{0x4900, "invalid message error"},
    ValueName{0x4b00, "data phase error"},
    ValueName{0x4e00, "overlapped commands attempted"},
    ValueName{0x5302, "medium removal prevented"},
    ValueName{0x5503, "insufficient resources"},
    ValueName{0x5506, "auxiliary memory out of space"},
    ValueName{0x5d00, "failure prediction threshold exceeded"},
    ValueName{0x6500, "voltage fault"},
};

// The name of a number; empty where the table has none.
template <std::size_t N>
[[nodiscard]] constexpr std::string_view name_of(const std::array<ValueName, N>& table, std::uint64_t value) {
    for (const ValueName& row : table)
        if (row.value == value) return row.name;
    return {};
}

// What a CDB asks for, "READ CAPACITY(16)": the service action's own name where the opcode is shared. Never empty.
[[nodiscard]] constexpr std::string_view command_name(std::uint8_t opcode, std::uint8_t service_action) {
    std::string_view name;
    if (opcode == 0x9e) name = name_of(kServiceActionsIn, service_action);
    if (opcode == 0xa3) name = name_of(kMaintenanceIn, service_action);
    if (opcode == 0xa4) name = name_of(kMaintenanceOut, service_action);
    if (name.empty()) name = name_of(kOpcodes, opcode);
    return name.empty() ? "SCSI command" : name;
}

}  // namespace qps::dissect::scsi
