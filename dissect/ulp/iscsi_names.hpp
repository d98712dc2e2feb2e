// What iSCSI numbers mean (RFC 7143, chapter 11).
#pragma once

#include <dissect/base/field.hpp>

#include <array>

namespace qps::dissect::iscsi {

inline constexpr std::array kOpcodes{
    ValueName{0x00, "NOP-Out"},
    ValueName{0x01, "SCSI Command"},
    ValueName{0x02, "Task Management Function Request"},
    ValueName{0x03, "Login Request"},
    ValueName{0x04, "Text Request"},
    ValueName{0x05, "SCSI Data-Out"},
    ValueName{0x06, "Logout Request"},
    ValueName{0x10, "SNACK Request"},
    ValueName{0x20, "NOP-In"},
    ValueName{0x21, "SCSI Response"},
    ValueName{0x22, "Task Management Function Response"},
    ValueName{0x23, "Login Response"},
    ValueName{0x24, "Text Response"},
    ValueName{0x25, "SCSI Data-In"},
    ValueName{0x26, "Logout Response"},
    ValueName{0x31, "Ready To Transfer (R2T)"},
    ValueName{0x32, "Asynchronous Message"},
    ValueName{0x3f, "Reject"},
};

inline constexpr std::array kTaskAttributes{
    ValueName{0, "untagged"},      ValueName{1, "simple"}, ValueName{2, "ordered"},
    ValueName{3, "head of queue"}, ValueName{4, "ACA"},
};
inline constexpr std::array kResponses{
    ValueName{0x00, "command completed at target"},
    ValueName{0x01, "target failure"},
};
inline constexpr std::array kStages{
    ValueName{0, "security negotiation"},
    ValueName{1, "operational negotiation"},
    ValueName{3, "full feature phase"},
};
// Class and detail as one number.
inline constexpr std::array kLoginStatus{
    ValueName{0x0000, "success"},
    ValueName{0x0101, "target moved temporarily"},
    ValueName{0x0102, "target moved permanently"},
    ValueName{0x0200, "initiator error"},
    ValueName{0x0201, "authentication failure"},
    ValueName{0x0202, "authorization failure"},
    ValueName{0x0203, "target not found"},
    ValueName{0x0204, "target removed"},
    ValueName{0x0205, "unsupported version"},
    ValueName{0x0206, "too many connections"},
    ValueName{0x0207, "missing parameter"},
    ValueName{0x0208, "cannot be included in session"},
    ValueName{0x0209, "session type not supported"},
    ValueName{0x020a, "session does not exist"},
    ValueName{0x020b, "invalid request during login"},
    ValueName{0x0300, "target error"},
    ValueName{0x0301, "service unavailable"},
    ValueName{0x0302, "out of resources"},
};
inline constexpr std::array kTaskFunctions{
    ValueName{1, "ABORT TASK"},        ValueName{2, "ABORT TASK SET"},     ValueName{3, "CLEAR ACA"},
    ValueName{4, "CLEAR TASK SET"},    ValueName{5, "LOGICAL UNIT RESET"}, ValueName{6, "TARGET WARM RESET"},
    ValueName{7, "TARGET COLD RESET"}, ValueName{8, "TASK REASSIGN"},
};
inline constexpr std::array kTaskResponses{
    ValueName{0, "function complete"},
    ValueName{1, "task does not exist"},
    ValueName{2, "LUN does not exist"},
    ValueName{3, "task still allegiant"},
    ValueName{4, "task allegiance reassignment not supported"},
    ValueName{5, "task management function not supported"},
    ValueName{6, "function authorization failed"},
    ValueName{255, "function rejected"},
};
inline constexpr std::array kLogoutReasons{
    ValueName{0, "close the session"},
    ValueName{1, "close the connection"},
    ValueName{2, "remove the connection for recovery"},
};
inline constexpr std::array kLogoutResponses{
    ValueName{0, "closed"},
    ValueName{1, "connection ID not found"},
    ValueName{2, "connection recovery not supported"},
    ValueName{3, "cleanup failed"},
};
inline constexpr std::array kRejectReasons{
    ValueName{0x02, "data digest error"},
    ValueName{0x03, "SNACK rejected"},
    ValueName{0x04, "protocol error"},
    ValueName{0x05, "command not supported"},
    ValueName{0x06, "immediate command rejected, too many immediate commands"},
    ValueName{0x07, "task in progress"},
    ValueName{0x08, "invalid data acknowledgment"},
    ValueName{0x09, "invalid PDU field"},
    ValueName{0x0a, "long operation rejected, out of resources"},
    ValueName{0x0c, "waiting for logout"},
};
inline constexpr std::array kAsyncEvents{
    ValueName{0, "SCSI asynchronous event"},
    ValueName{1, "target requests logout"},
    ValueName{2, "target will drop the connection"},
    ValueName{3, "target will drop all connections of the session"},
    ValueName{4, "target requests parameter negotiation"},
    ValueName{5, "all active tasks of the logical unit are being terminated"},
    ValueName{255, "vendor specific"},
};
inline constexpr std::array kSnackTypes{
    ValueName{0, "Data/R2T SNACK"},
    ValueName{1, "Status SNACK"},
    ValueName{2, "DataACK"},
    ValueName{3, "R-Data SNACK"},
};
inline constexpr std::array kAhsTypes{
    ValueName{1, "extended CDB"},
    ValueName{2, "bidirectional read expected data transfer length"},
};
inline constexpr std::array kIsidTypes{
    ValueName{0, "OUI"},
    ValueName{1, "enterprise number"},
    ValueName{2, "random"},
    ValueName{3, "reserved"},
};

}  // namespace qps::dissect::iscsi
