// SCSI out of its bytes: what a CDB is about, what sense data says.
#include <dissect/ulp/scsi.hpp>

namespace qps::dissect {

namespace scsi {

namespace {

// Where a command says LBA and number of blocks; widths in bits.
struct ExtentPlace {
    std::uint8_t opcode;
    Field lba;
    Field blocks;
};
constexpr Field place(unsigned byte, unsigned bit, std::uint16_t width) {
    return row::decimal({}, "place", at(byte, bit), width);
}

constexpr std::array kPlaces{
    ExtentPlace{0x08, place(1, 3, 21), place(4, 0, 8)},  // READ(6), WRITE(6)
    ExtentPlace{0x0a, place(1, 3, 21), place(4, 0, 8)},
    ExtentPlace{0x28, place(2, 0, 32), place(7, 0, 16)},  // the 10
    ExtentPlace{0x2a, place(2, 0, 32), place(7, 0, 16)},
    ExtentPlace{0x2e, place(2, 0, 32), place(7, 0, 16)},
    ExtentPlace{0x2f, place(2, 0, 32), place(7, 0, 16)},
    ExtentPlace{0x34, place(2, 0, 32), place(7, 0, 16)},
    ExtentPlace{0x35, place(2, 0, 32), place(7, 0, 16)},
    ExtentPlace{0x41, place(2, 0, 32), place(7, 0, 16)},
    ExtentPlace{0xa8, place(2, 0, 32), place(6, 0, 32)},  // the 12
    ExtentPlace{0xaa, place(2, 0, 32), place(6, 0, 32)},
    ExtentPlace{0xae, place(2, 0, 32), place(6, 0, 32)},
    ExtentPlace{0xaf, place(2, 0, 32), place(6, 0, 32)},
    ExtentPlace{0x88, place(2, 0, 64), place(10, 0, 32)},  // the 16
    ExtentPlace{0x8a, place(2, 0, 64), place(10, 0, 32)},
    ExtentPlace{0x8e, place(2, 0, 64), place(10, 0, 32)},
    ExtentPlace{0x8f, place(2, 0, 64), place(10, 0, 32)},
    ExtentPlace{0x90, place(2, 0, 64), place(10, 0, 32)},
    ExtentPlace{0x91, place(2, 0, 64), place(10, 0, 32)},
    ExtentPlace{0x93, place(2, 0, 64), place(10, 0, 32)},
    ExtentPlace{0x89, place(2, 0, 64), place(13, 0, 8)},
    ExtentPlace{0x9c, place(2, 0, 64), place(12, 0, 16)},
};

constexpr std::array<std::uint8_t, 9> kSharedOpcodes{0x9e, 0x9f, 0xa3, 0xa4, 0x83, 0x84, 0x48, 0x94, 0x95};
constexpr std::uint64_t kBlocksOfZero6 = 256;  // a transfer length of 0 in READ(6) and WRITE(6), SBC

}  // namespace

Extent extent_of(Bytes cdb) {
    const auto opcode = read_be<std::uint8_t>(cdb, 0);
    const auto found = std::ranges::find(kPlaces, opcode, &ExtentPlace::opcode);
    if (found == kPlaces.end()) return {};
    Extent extent{read(cdb, found->lba), read(cdb, found->blocks), true};
    if ((opcode == 0x08 || opcode == 0x0a) && extent.blocks == 0) extent.blocks = kBlocksOfZero6;
    return extent;
}

std::uint8_t service_action_of(Bytes cdb) {
    const auto opcode = read_be<std::uint8_t>(cdb, 0);
    if (std::ranges::find(kSharedOpcodes, opcode) == kSharedOpcodes.end()) return 0;
    return static_cast<std::uint8_t>(read_bits(cdb, at(1, 3), 5));
}

Sense sense_of(Bytes sense) {
    const std::uint64_t format = read(sense, named(kSenseFields, "scsi.sns.errtype"));
    Sense said;
    if (format == 0x70 || format == 0x71) {
        said.key = static_cast<std::uint8_t>(read(sense, named(kSenseFields, "scsi.sns.key")));
        said.code = static_cast<std::uint16_t>(read(sense, named(kSenseFields, "scsi.sns.ascascq")));
    } else if (format == 0x72 || format == 0x73) {
        said.key = static_cast<std::uint8_t>(read(sense, named(kSenseDescriptorFields, "scsi.sns.key")));
        said.code = static_cast<std::uint16_t>(read(sense, named(kSenseDescriptorFields, "scsi.sns.ascascq")));
    }
    return said;
}

}  // namespace scsi

namespace ulp {

void walk_sense(Walk& walk, std::size_t length) {
    length = std::min(length, walk.left());
    if (length == 0) return;
    const std::uint64_t format = read_bits(walk.header(), at(0, 1), 7);
    const bool fixed = format == 0x70 || format == 0x71;
    const bool descriptors = format == 0x72 || format == 0x73;
    const LayerKind kind = fixed ? kind::scsi_sense : descriptors ? kind::scsi_sense_descriptors : LayerKind::data;
    if (!add_layer(walk.packet, kind, walk.offset, length, walk.end)) return;
    if (kind != LayerKind::data && length < scsi::kSenseHead) mark(walk.packet, Fault::too_short);
    walk.offset += length;
}

}  // namespace ulp

}  // namespace qps::dissect
