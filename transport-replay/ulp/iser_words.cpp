// The words of iSCSI operations.
#include <dissect/ulp/iscsi.hpp>
#include <transport-replay/ulp/iser_protocol.hpp>
#include <transport-replay/ulp/scsi_operation.hpp>

#include <fmt/format.h>

namespace qps::transport::iser_protocol {

using namespace dissect::iscsi;

std::string_view operation_name(OperationCode code) {
    if (scsi::family_of(code) == scsi::Family::command) return scsi::name(code);
    const std::uint8_t opcode = scsi::opcode_of(code);
    if (opcode == kTaskRequest) {
        const std::string_view function = dissect::scsi::name_of(kTaskFunctions, scsi::detail_of(code));
        return function.empty() ? "Task Management" : function;
    }
    const std::string_view name = dissect::scsi::name_of(dissect::iscsi::kOpcodes, opcode);
    constexpr std::string_view kRequest = " Request";
    if (name.ends_with(kRequest)) return name.substr(0, name.size() - kRequest.size());
    return name.empty() ? "iSCSI request" : name;
}

std::string describe(const UlpOperation& operation) {
    if (scsi::family_of(operation.code) == scsi::Family::command) return scsi::describe(operation);
    switch (scsi::opcode_of(operation.code)) {
        case kTaskRequest: return fmt::format("LUN {}, task 0x{:08x}", operation.subject[0], operation.subject[1]);
        case kLogoutRequest: return scsi::word(kLogoutReasons, operation.subject[0]);
        default: return {};
    }
}

std::string status(const UlpOperation& operation) {
    const std::uint32_t status = operation.status;
    if (scsi::voice_of(status) == scsi::Voice::reject)
        return "rejected: " + scsi::word(kRejectReasons, scsi::number_of(status));
    if (scsi::family_of(operation.code) == scsi::Family::command)
        return scsi::voice_of(status) == scsi::Voice::device ? scsi::status(status)
                                                             : scsi::word(kResponses, scsi::number_of(status));
    switch (scsi::opcode_of(operation.code)) {
        case kLoginRequest: return scsi::word(kLoginStatus, status);
        case kTaskRequest: return scsi::word(kTaskResponses, status);
        case kLogoutRequest: return scsi::word(kLogoutResponses, status);
        default: return fmt::format("status {}", status);
    }
}

}  // namespace qps::transport::iser_protocol
