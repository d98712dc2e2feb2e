// Messages of iSER and SRP, made to order.
#pragma once

#include <tests/support/delivered.hpp>

#include <string_view>

namespace qps::tests {

[[nodiscard]] inline Octets characters(std::string_view text) {
    Octets bytes;
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
    return bytes;
}

// CDBs in their area of 16 bytes.
[[nodiscard]] inline Octets cdb_area(WireBytes wire) { return wire.zeros(16 - wire.bytes.size()).bytes; }
[[nodiscard]] inline Octets read_write_10(std::uint8_t opcode, std::uint32_t lba, std::uint16_t blocks) {
    WireBytes wire;
    wire.put(opcode).put(std::uint8_t{0}).put(lba).put(std::uint8_t{0}).put(blocks).put(std::uint8_t{0});
    return cdb_area(wire);
}
[[nodiscard]] inline Octets read_10(std::uint32_t lba, std::uint16_t blocks) {
    return read_write_10(0x28, lba, blocks);
}
[[nodiscard]] inline Octets write_10(std::uint32_t lba, std::uint16_t blocks) {
    return read_write_10(0x2a, lba, blocks);
}

// Fixed format: illegal request, invalid command operation code.
[[nodiscard]] inline Octets sense_fixed(std::uint8_t key = 5, std::uint16_t code = 0x2000) {
    WireBytes wire;
    wire.put(std::uint8_t{0x70})
        .put(std::uint8_t{0})
        .put(key)
        .zeros(4)
        .put(std::uint8_t{10})
        .zeros(4)
        .put(code)
        .zeros(4);
    return wire.bytes;
}

// The iSER header, of memory where the length of it is not 0.
struct IserSpec {
    std::uint32_t write_stag = 0, read_stag = 0;
    std::uint64_t write_base = 0, read_base = 0;
};
struct IscsiSpec {
    std::uint8_t opcode = 0;
    std::uint8_t flags = 0x80;
    std::uint8_t third = 0, fourth = 0;  // response and status, where there are such
    std::uint64_t lun = 0;
    std::uint32_t tag = 1;
    Octets rest{};  // from byte 20 on, zeros behind it
    Octets data{};
    Octets additional{};
};
[[nodiscard]] inline Octets iser_message(const IscsiSpec& spec, const IserSpec& memory = {}) {
    WireBytes wire;
    const auto valid = static_cast<std::uint8_t>((memory.write_stag != 0 ? 8 : 0) | (memory.read_stag != 0 ? 4 : 0));
    wire.put(static_cast<std::uint8_t>(0x10 | valid)).zeros(3);
    wire.put(memory.write_stag).put(memory.write_base).put(memory.read_stag).put(memory.read_base);
    wire.put(spec.opcode).put(spec.flags).put(spec.third).put(spec.fourth);
    wire.put(static_cast<std::uint32_t>(spec.additional.size() / 4 << 24 | spec.data.size()));
    wire.put(spec.lun).put(spec.tag).add(spec.rest).zeros(28 - spec.rest.size());
    wire.add(spec.additional).add(spec.data).zeros((4 - spec.data.size() % 4) % 4);
    return wire.bytes;
}
[[nodiscard]] inline Octets iscsi_command(std::uint32_t tag, std::uint32_t length, const Octets& cdb,
                                          const IserSpec& memory, const Octets& immediate = {}) {
    WireBytes rest;
    rest.put(length).put(std::uint32_t{7}).put(std::uint32_t{8}).add(cdb);
    const auto flags =
        static_cast<std::uint8_t>(0x81 | (memory.read_stag != 0 ? 0x40 : 0) | (memory.write_stag != 0 ? 0x20 : 0));
    return iser_message({.opcode = 0x01, .flags = flags, .tag = tag, .rest = rest.bytes, .data = immediate}, memory);
}
[[nodiscard]] inline Octets iscsi_response(std::uint32_t tag, std::uint8_t status, const Octets& sense = {},
                                           std::uint8_t response = 0) {
    WireBytes data;
    if (!sense.empty()) data.put(static_cast<std::uint16_t>(sense.size())).add(sense);
    return iser_message({.opcode = 0x21, .third = response, .fourth = status, .tag = tag, .data = data.bytes});
}
[[nodiscard]] inline Octets iscsi_login_request(std::string_view keys, std::uint32_t tag = 0) {
    return iser_message({.opcode = 0x43, .flags = 0x87, .tag = tag, .data = characters(keys)});
}
[[nodiscard]] inline Octets iscsi_login_response(std::uint16_t status, std::string_view keys = {},
                                                 std::uint32_t tag = 0) {
    WireBytes rest;
    rest.zeros(16).put(status);
    return iser_message({.opcode = 0x23, .flags = 0x87, .tag = tag, .rest = rest.bytes, .data = characters(keys)});
}

// SRP.
struct SrpMemory {
    std::uint64_t address = 0;
    std::uint32_t key = 0;
    std::uint32_t length = 0;
};
inline WireBytes& put(WireBytes& wire, const SrpMemory& memory) {
    return wire.put(memory.address).put(memory.key).put(memory.length);
}

// `out` and `in`: none, one (direct) or more (indirect) pieces of memory.
[[nodiscard]] inline Octets srp_command(std::uint64_t tag, const Octets& cdb, const std::vector<SrpMemory>& out,
                                        const std::vector<SrpMemory>& in) {
    const auto format = [](const auto& list) {
        return static_cast<unsigned>(list.empty() ? 0 : list.size() == 1 ? 1 : 2);
    };
    const auto count = [](const auto& list) { return static_cast<std::uint8_t>(list.size() > 1 ? list.size() : 0); };
    WireBytes wire;
    wire.put(std::uint8_t{2})
        .zeros(4)
        .put(static_cast<std::uint8_t>(format(out) << 4 | format(in)))
        .put(count(out))
        .put(count(in));
    wire.put(tag).zeros(4).zeros(8).zeros(4).add(cdb);
    for (const auto* list : {&out, &in}) {
        std::uint32_t total = 0;
        for (const SrpMemory& memory : *list) total += memory.length;
        if (list->size() > 1) put(wire, {0x1000, 0x77, static_cast<std::uint32_t>(list->size() * 16)}).put(total);
        for (const SrpMemory& memory : *list) put(wire, memory);
    }
    return wire.bytes;
}
[[nodiscard]] inline Octets srp_response(std::uint64_t tag, std::uint8_t status, const Octets& sense = {},
                                         std::uint32_t delta = 1, const Octets& response = {}) {
    const auto flags = static_cast<std::uint8_t>((sense.empty() ? 0 : 2) | (response.empty() ? 0 : 1));
    WireBytes wire;
    wire.put(std::uint8_t{0xc1}).zeros(3).put(delta).put(tag).zeros(2).put(flags).put(status).zeros(8);
    wire.put(static_cast<std::uint32_t>(sense.size()))
        .put(static_cast<std::uint32_t>(response.size()))
        .add(response)
        .add(sense);
    return wire.bytes;
}
[[nodiscard]] inline Octets srp_short(std::uint8_t opcode, std::uint32_t number, std::uint64_t tag) {
    return WireBytes{}.put(opcode).zeros(3).put(number).put(tag).bytes;
}
[[nodiscard]] inline Octets srp_port(std::uint64_t first, std::uint64_t second) {
    return WireBytes{}.put(first).put(second).bytes;
}
// As private data behind the header of the RDMA IP CM service, and without it.
[[nodiscard]] inline Octets srp_login_request(bool rdma) {
    WireBytes wire;
    if (rdma) {
        wire.put(std::uint64_t{5})
            .put(std::uint16_t{6})
            .put(std::uint8_t{0x80})
            .put(std::uint8_t{0})
            .put(std::uint32_t{8260});
        wire.add(srp_port(1, 2)).add(srp_port(3, 4)).put(std::uint16_t{68});
        return wire.zeros(6).bytes;
    }
    wire.zeros(8)
        .put(std::uint64_t{5})
        .put(std::uint32_t{8260})
        .zeros(4)
        .put(std::uint16_t{6})
        .put(std::uint8_t{1})
        .zeros(1);
    return wire.put(std::uint16_t{68}).zeros(2).add(srp_port(1, 2)).add(srp_port(3, 4)).bytes;
}
[[nodiscard]] inline Octets srp_login_response(std::uint32_t limit) {
    WireBytes wire;
    wire.put(std::uint8_t{0xc0})
        .zeros(3)
        .put(limit)
        .put(std::uint64_t{5})
        .put(std::uint32_t{8276})
        .put(std::uint32_t{8260});
    return wire.put(std::uint16_t{6}).zeros(26).bytes;
}
[[nodiscard]] inline Octets srp_login_reject(std::uint32_t reason) {
    return WireBytes{}
        .put(std::uint8_t{0xc2})
        .zeros(3)
        .put(reason)
        .put(std::uint64_t{5})
        .zeros(8)
        .put(std::uint16_t{6})
        .zeros(6)
        .bytes;
}

}  // namespace qps::tests
