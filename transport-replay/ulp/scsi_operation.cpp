#include <transport-replay/ulp/scsi_operation.hpp>

#include <fmt/format.h>

namespace qps::transport::scsi {

using namespace dissect;

namespace {

constexpr unsigned kBlocksShift = 32;  // subject[0]: LUN below, number of blocks above
constexpr std::uint64_t kHasBlocks = std::uint64_t{1} << 31;

}  // namespace

void fill(UlpOperation& operation, std::uint64_t lun_field, Bytes cdb) {
    const dissect::scsi::Extent extent = dissect::scsi::extent_of(cdb);
    operation.code = code_of(Family::command, read_be<std::uint8_t>(cdb, 0), dissect::scsi::service_action_of(cdb));
    operation.subject[0] =
        dissect::scsi::lun_of(lun_field) | extent.blocks << kBlocksShift | (extent.has_blocks ? kHasBlocks : 0);
    operation.subject[1] = extent.lba;
}

std::string_view name(OperationCode code) { return dissect::scsi::command_name(opcode_of(code), detail_of(code)); }

std::string describe(const UlpOperation& operation) {
    const std::uint64_t lun = operation.subject[0] & 0xffffU;
    if ((operation.subject[0] & kHasBlocks) == 0) return fmt::format("LUN {}", lun);
    const std::uint64_t blocks = operation.subject[0] >> kBlocksShift;
    return fmt::format("LUN {}, LBA {}, {} block{}", lun, operation.subject[1], blocks, blocks == 1 ? "" : "s");
}

std::string status(std::uint32_t status) {
    std::string said = word(dissect::scsi::kStatus, number_of(status));
    const std::uint64_t key = status >> 8 & 0xfU;
    const std::uint64_t code = status >> 16;
    if (key == 0 && code == 0) return said;
    return fmt::format("{}: {}, {}", said, word(dissect::scsi::kSenseKeys, key),
                       dissect::scsi::name_of(dissect::scsi::kSenseCodes, code).empty()
                           ? fmt::format("ASC 0x{:02x} ASCQ 0x{:02x}", code >> 8, code & 0xffU)
                           : word(dissect::scsi::kSenseCodes, code));
}

}  // namespace qps::transport::scsi
