// The words of SRP operations.
#include <dissect/ulp/srp.hpp>
#include <transport-replay/ulp/scsi_operation.hpp>
#include <transport-replay/ulp/srp_protocol.hpp>

#include <fmt/format.h>

namespace qps::transport::srp_protocol {

using namespace dissect::srp;

std::string_view operation_name(OperationCode code) {
    if (scsi::family_of(code) == scsi::Family::command) return scsi::name(code);
    switch (scsi::opcode_of(code)) {
        case kLoginRequest: return "Login";
        case kInitiatorLogout: return "Logout";
        default: break;
    }
    const unsigned bit = scsi::detail_of(code);  // of the function, counted from 1
    const std::string_view function =
        bit == 0 ? std::string_view{} : dissect::scsi::name_of(kTaskFunctions, std::uint64_t{1} << (bit - 1));
    return function.empty() ? "Task Management" : function;
}

std::string describe(const UlpOperation& operation) {
    if (scsi::family_of(operation.code) == scsi::Family::command) return scsi::describe(operation);
    if (scsi::opcode_of(operation.code) != kTaskManagement) return {};
    return fmt::format("LUN {}, task 0x{:x}", operation.subject[0], operation.subject[1]);
}

std::string status(const UlpOperation& operation) {
    if (scsi::voice_of(operation.status) == scsi::Voice::response)
        return scsi::word(kResponseCodes, scsi::number_of(operation.status));
    return scsi::status(operation.status);
}

}  // namespace qps::transport::srp_protocol
