// SCSI commands as operations, whatever protocol carries them: how their code, subject and status are packed into an
// UlpOperation, and their words. Values only; any number may come off the wire, and each has words.
#pragma once

#include <dissect/ulp/scsi.hpp>
#include <transport-replay/model/ulp_operation.hpp>

#include <string>

namespace qps::transport::scsi {

// An OperationCode: the family in its first 3 bits, then 5 bits of detail (service action, task management function),
// then the opcode of the family.
enum class Family : std::uint8_t { command, iscsi, srp };
[[nodiscard]] constexpr OperationCode code_of(Family family, std::uint8_t opcode, std::uint8_t detail = 0) {
    return OperationCode{static_cast<std::uint16_t>(std::to_underlying(family) << 13 | (detail & 0x1f) << 8 | opcode)};
}
[[nodiscard]] constexpr Family family_of(OperationCode code) {
    return static_cast<Family>(std::to_underlying(code) >> 13 & 0x3);
}
[[nodiscard]] constexpr std::uint8_t opcode_of(OperationCode code) {
    return static_cast<std::uint8_t>(std::to_underlying(code));
}
[[nodiscard]] constexpr std::uint8_t detail_of(OperationCode code) {
    return static_cast<std::uint8_t>(std::to_underlying(code) >> 8 & 0x1f);
}

// Who says that a command failed, in the status of an operation; the number is theirs.
enum class Voice : std::uint8_t {
    device,    // a SCSI status, with sense data where there was some
    response,  // the protocol's response code: the command did not come to an end at the target
    reject,    // the protocol refused the request
};
[[nodiscard]] constexpr std::uint32_t status_of(Voice voice, std::uint8_t number, dissect::scsi::Sense sense = {}) {
    return std::uint32_t{sense.code} << 16 | static_cast<std::uint32_t>(std::to_underlying(voice)) << 12 |
           static_cast<std::uint32_t>(sense.key & 0xfU) << 8 | number;
}
[[nodiscard]] constexpr Voice voice_of(std::uint32_t status) { return static_cast<Voice>(status >> 12 & 0x3); }
[[nodiscard]] constexpr std::uint8_t number_of(std::uint32_t status) { return static_cast<std::uint8_t>(status); }

// Status bytes with which a command has done what was asked: GOOD and CONDITION MET.
[[nodiscard]] constexpr bool succeeded(std::uint8_t status) { return status == 0x00 || status == 0x04; }

// Code and subject of a command: its LUN and number of blocks, and its LBA.
void fill(UlpOperation& operation, std::uint64_t lun_field, dissect::Bytes cdb);
[[nodiscard]] std::string_view name(OperationCode code);            // of Family::command: "READ(10)"
[[nodiscard]] std::string describe(const UlpOperation& operation);  // "LUN 0, LBA 64, 8 blocks"
[[nodiscard]] std::string status(std::uint32_t status);  // of Voice::device: "CHECK CONDITION: illegal request, ..."

// "unknown (7)" where the table has no name.
template <std::size_t N>
[[nodiscard]] std::string word(const std::array<dissect::ValueName, N>& table, std::uint64_t value) {
    const std::string_view found = dissect::scsi::name_of(table, value);
    return found.empty() ? "unknown (" + std::to_string(value) + ")" : std::string(found);
}

}  // namespace qps::transport::scsi
