// Messages of SMB Direct with SMB2 in them, as MS-SMBD and MS-SMB2 draw them.
#pragma once

#include <tests/support/message_writer.hpp>

namespace qps::tests::smb_messages {

inline std::vector<std::byte> negotiate_request(std::uint16_t credits = 255) {
    MessageWriter m;
    m.little(0x100, 2).little(0x100, 2).zeros(2).little(credits, 2).little(1364, 4).little(8192, 4).little(1048576, 4);
    return m.bytes();
}
inline std::vector<std::byte> negotiate_response(std::uint16_t granted = 255, std::uint32_t status = 0) {
    MessageWriter m;
    m.little(0x100, 2).little(0x100, 2).little(0x100, 2).zeros(2).little(255, 2).little(granted, 2).little(status, 4);
    m.little(8388608, 4).little(1364, 4).little(8192, 4).little(1048576, 4);
    return m.bytes();
}

struct Fragment {
    std::uint32_t remaining = 0;
    std::uint16_t granted = 0;
};
inline std::vector<std::byte> data(const std::vector<std::byte>& payload, Fragment fragment = {}) {
    MessageWriter m;
    m.little(255, 2).little(fragment.granted, 2).little(0, 2).zeros(2).little(fragment.remaining, 4);
    m.little(payload.empty() ? 0 : 24, 4).little(payload.size(), 4);
    if (!payload.empty()) m.zeros(4).add(payload);
    return m.bytes();
}

struct Head {
    std::uint16_t command = 0;
    bool response = false;
    std::uint32_t status = 0;
    std::uint64_t id = 1;
    std::uint32_t next = 0;
};
inline MessageWriter header(const Head& head) {
    MessageWriter m;
    m.little(0x424d53fe, 4).little(64, 2).little(1, 2).little(head.status, 4).little(head.command, 2).little(33, 2);
    m.little(head.response ? 1 : 0, 4)
        .little(head.next, 4)
        .little(head.id, 8)
        .little(0xfeff, 4)
        .little(5, 4)
        .little(0x1122334455, 8);
    return m.zeros(16);
}
inline std::vector<std::byte> create_request(std::uint64_t id, std::string_view name) {
    MessageWriter m = header({.command = 5, .id = id});
    m.little(57, 2).zeros(42).little(120, 2).little(2 * name.size(), 2).zeros(8);
    for (const char c : name) m.little(static_cast<std::uint8_t>(c), 2);
    return m.bytes();
}
// Of the open file `file`.
inline std::vector<std::byte> create_response(std::uint64_t id, std::uint64_t file) {
    return header({.command = 5, .response = true, .id = id})
        .little(89, 2)
        .zeros(62)
        .little(file, 8)
        .little(file + 1, 8)
        .zeros(8)
        .bytes();
}
inline std::vector<std::byte> close_request(std::uint64_t id, std::uint64_t file) {
    return header({.command = 6, .id = id}).little(24, 2).zeros(6).little(file, 8).little(file + 1, 8).bytes();
}
inline std::vector<std::byte> query_directory(std::uint64_t id, std::uint64_t file, std::uint32_t next = 0) {
    MessageWriter m = header({.command = 14, .id = id, .next = next});
    return m.little(33, 2)
        .zeros(6)
        .little(file, 8)
        .little(file == ~std::uint64_t{0} ? file : file + 1, 8)
        .zeros(8)
        .bytes();
}
struct Memory {
    std::uint64_t offset = 0;
    std::uint32_t token = 0;
    std::uint32_t length = 0;
};
inline std::vector<std::byte> read_request(std::uint64_t id, std::uint32_t length, std::vector<Memory> memory) {
    MessageWriter m = header({.command = 8, .id = id});
    m.little(49, 2)
        .little(0x50, 1)
        .little(0, 1)
        .little(length, 4)
        .little(65536, 8)
        .zeros(16)
        .little(1, 4)
        .little(1, 4)
        .little(0, 4);
    m.little(112, 2).little(16 * memory.size(), 2);
    for (const Memory& each : memory) m.little(each.offset, 8).little(each.token, 4).little(each.length, 4);
    return m.bytes();
}
inline std::vector<std::byte> write_request(std::uint64_t id, std::uint32_t length, Memory memory) {
    MessageWriter m = header({.command = 9, .id = id});
    m.little(49, 2)
        .little(0, 2)
        .little(0, 4)
        .little(4096, 8)
        .zeros(16)
        .little(1, 4)
        .little(length, 4)
        .little(112, 2)
        .little(16, 2)
        .little(0, 4);
    m.little(memory.offset, 8).little(memory.token, 4).little(memory.length, 4);
    return m.bytes();
}
// With `body` behind its structure size.
inline std::vector<std::byte> response(const Head& head, std::uint16_t structure, std::size_t body) {
    Head answer = head;
    answer.response = true;
    return header(answer).little(structure, 2).zeros(body).bytes();
}
inline std::vector<std::byte> negotiate_dialect(std::uint64_t id, std::uint16_t dialect) {
    return header({.command = 0, .response = true, .id = id})
        .little(65, 2)
        .little(1, 2)
        .little(dialect, 2)
        .zeros(58)
        .bytes();
}
inline std::vector<std::byte> tree_connect(std::uint64_t id) {
    MessageWriter m = header({.command = 3, .id = id});
    m.little(9, 2).little(0, 2).little(72, 2).little(18, 2);
    for (const char c : std::string_view("\\\\s\\share")) m.little(static_cast<std::uint8_t>(c), 2);
    return m.bytes();
}

}  // namespace qps::tests::smb_messages
