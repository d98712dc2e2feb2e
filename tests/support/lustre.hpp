// Messages of Lustre's ptlrpc, and LNet messages that carry them, made to order.
#pragma once

#include <tests/support/small_ulp.hpp>

#include <vector>

namespace qps::tests {

struct LustreMessage {
    std::uint32_t type = 4711;  // request
    std::uint32_t opcode = 400;
    std::uint32_t status = 0;
    std::uint32_t flags = 1;        // adaptive timeouts
    std::size_t body = 184;         // bytes of ptlrpc_body: 88, 152, 184
    std::vector<Octets> buffers{};  // behind it
};

[[nodiscard]] inline Octets lustre_message(const LustreMessage& said) {
    WireBytes wire{.bytes = {}, .little = true};
    wire.put(static_cast<std::uint32_t>(1 + said.buffers.size())).put(std::uint32_t{0}).put(std::uint32_t{0x0bd00bd3});
    wire.put(std::uint32_t{320}).put(std::uint32_t{0x1234}).put(said.flags).put(std::uint32_t{0}).put(std::uint32_t{0});
    wire.put(static_cast<std::uint32_t>(said.body));
    for (const Octets& buffer : said.buffers) wire.put(static_cast<std::uint32_t>(buffer.size()));
    const auto align = [&] { wire.bytes.resize((wire.bytes.size() + 7) / 8 * 8); };
    align();
    const std::size_t begins = wire.bytes.size();
    wire.put(std::uint64_t{0x1122334455667788})
        .put(said.type)
        .put(std::uint32_t{0x00030003})
        .put(said.opcode)
        .put(said.status);
    wire.put(std::uint64_t{1700})
        .put(std::uint64_t{2})
        .put(std::uint64_t{40})
        .put(std::uint64_t{41})
        .put(std::uint32_t{2});
    wire.put(std::uint32_t{0}).put(std::uint32_t{3}).put(std::uint32_t{32}).put(std::uint32_t{1}).put(std::uint32_t{0});
    wire.put(std::uint64_t{0x77})
        .put(std::uint64_t{5})
        .put(std::uint64_t{6})
        .put(std::uint64_t{7})
        .put(std::uint64_t{8});
    wire.put(std::uint64_t{0xb17}).zeros(24);
    for (const char c : {'c', 'p', '.', '1', '0', '0', '0'}) wire.put(static_cast<std::uint8_t>(c));
    wire.bytes.resize(begins + said.body);
    for (const Octets& buffer : said.buffers) {
        align();
        wire.add(buffer);
    }
    align();
    return wire.bytes;
}

// The four buffers of OST_READ and OST_WRITE but the first: attributes, an object, its extents of 4096 bytes each.
[[nodiscard]] inline std::vector<Octets> lustre_extents(std::uint64_t object, std::uint64_t offset,
                                                        std::uint32_t extents) {
    WireBytes what{.bytes = {}, .little = true};
    what.put(object).put(std::uint64_t{0}).put(std::uint32_t{0x00010000}).put(extents);
    WireBytes where{.bytes = {}, .little = true};
    for (std::uint32_t i = 0; i < extents; ++i)
        where.put(offset + std::uint64_t{i} * 8192).put(std::uint32_t{4096}).put(std::uint32_t{0x20});
    return {Octets(208), what.bytes, where.bytes};
}

// As a PUT in one message; replies come behind the room for early ones, at `offset`.
[[nodiscard]] inline Octets lustre_put(const Octets& message, std::uint64_t xid, std::uint32_t portal,
                                       std::uint32_t offset = 0) {
    WireBytes rest{.bytes = {}, .little = true};
    rest.put(xid).put(std::uint64_t{0}).put(portal).put(offset);
    return lnet_message(
        0xd1,
        joined({lnet_header(1, static_cast<std::uint32_t>(message.size()), ~std::uint64_t{0}, rest.bytes), message}));
}

}  // namespace qps::tests
