// Capsules of NVMe over RDMA to order, through the field tables of the decoder, and what the decoder reads of a
// message.
#pragma once

#include <dissect/ulp/nvme.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qps::tests {

using Capsule = std::vector<std::byte>;

// Sets the field of that name of the header that begins at `offset`.
inline void put(Capsule& message, std::size_t offset, dissect::LayerKind kind, std::string_view field,
                std::uint64_t value) {
    const auto fields = dissect::header(kind).fields;
    const auto row = std::ranges::find(fields, field, &dissect::Field::name);
    REQUIRE(row != fields.end());
    REQUIRE(dissect::set_value(dissect::MutableBytes(message).subspan(offset), *row, {value, {}}));
}

inline void put_text(Capsule& message, std::size_t offset, std::string_view text) {
    REQUIRE(offset + text.size() <= message.size());
    std::ranges::transform(text, message.begin() + static_cast<std::ptrdiff_t>(offset),
                           [](char c) { return static_cast<std::byte>(c); });
}

struct NvmeKey {
    std::uint64_t address = 0x7f0000001000;
    std::uint32_t key = 0x1234;
};

// A submission queue entry as Linux' host fills it: SGL, keyed descriptor, which of length 0 names nothing.
[[nodiscard]] inline Capsule nvme_entry(std::uint8_t opcode, std::uint16_t cid, std::uint32_t length,
                                        NvmeKey key = {}) {
    constexpr std::size_t kDescriptor = 24;
    Capsule entry(dissect::kNvmeCommand);
    entry[0] = std::byte{opcode};
    entry[1] = std::byte{0x40};
    put(entry, 0, dissect::kind::nvme_command, "nvme.cmd.cid", cid);
    entry[kDescriptor + 15] = std::byte{0x40};
    put(entry, kDescriptor, dissect::kind::nvme_sgl, "nvme.cmd.sgl1.len", length);
    if (length == 0) return entry;
    put(entry, kDescriptor, dissect::kind::nvme_sgl, "nvme.cmd.sgl1.addr", key.address);
    put(entry, kDescriptor, dissect::kind::nvme_sgl, "nvme.cmd.sgl1.key", key.key);
    return entry;
}

inline constexpr std::size_t kArgumentsAt = 40;

// Read (2), Write (1) and their like.
[[nodiscard]] inline Capsule nvme_blocks_entry(std::uint8_t opcode, std::uint16_t cid, std::uint64_t lba,
                                               std::uint16_t blocks, NvmeKey key = {}) {
    Capsule entry = nvme_entry(opcode, cid, blocks * 512U, key);
    put(entry, 0, dissect::kind::nvme_command, "nvme.cmd.nsid", 1);
    put(entry, kArgumentsAt, dissect::kind::nvme_blocks, "nvme.cmd.slba", lba);
    put(entry, kArgumentsAt, dissect::kind::nvme_blocks, "rdma.nvme.nlb", blocks - 1U);
    return entry;
}

// The same with the data behind it, which the descriptor names by its offset.
[[nodiscard]] inline Capsule in_capsule(Capsule entry, std::size_t data) {
    constexpr std::size_t kDescriptor = 24;
    std::ranges::fill(std::span(entry).subspan(kDescriptor, 16), std::byte{});
    entry[kDescriptor + 15] = std::byte{0x01};
    put(entry, kDescriptor, dissect::kind::nvme_sgl, "nvme.cmd.sgl1.addr", 0);
    for (std::size_t i = 0; i < 4; ++i) entry[kDescriptor + 8 + i] = static_cast<std::byte>(data >> (8 * i) & 0xff);
    entry.resize(entry.size() + data);
    return entry;
}

[[nodiscard]] inline Capsule nvme_connect_data(std::string_view host, std::string_view subsystem) {
    Capsule data(dissect::kNvmeConnectData);
    data[16] = data[17] = std::byte{0xff};
    put_text(data, 256, subsystem);
    put_text(data, 512, host);
    return data;
}

[[nodiscard]] inline Capsule nvme_connect(std::uint16_t cid, std::uint16_t queue, std::uint32_t keep_alive_ms = 0) {
    Capsule entry = nvme_entry(dissect::kNvmeFabrics, cid, dissect::kNvmeConnectData);
    entry[4] = std::byte{1};
    put(entry, kArgumentsAt, dissect::kind::nvme_connect, "nvme.fabrics.cmd.connect.qid", queue);
    put(entry, kArgumentsAt, dissect::kind::nvme_connect, "nvme.fabrics.cmd.connect.sqsize", 31);
    put(entry, kArgumentsAt, dissect::kind::nvme_connect, "nvme.fabrics.cmd.connect.kato", keep_alive_ms);
    return entry;
}

// `status`: type << 8 | code, and above that the bits of a status field without phase.
[[nodiscard]] inline Capsule nvme_response(std::uint16_t cid, std::uint32_t status = 0, std::uint64_t result = 0) {
    Capsule response(dissect::kNvmeCompletion);
    for (std::size_t i = 0; i < 8; ++i) response[i] = static_cast<std::byte>(result >> (8 * i) & 0xff);
    put(response, 8, dissect::kind::nvme_completion, "nvme.cqe.cid", cid);
    put(response, 8, dissect::kind::nvme_completion, "nvme.cqe.status", status << 1U);
    return response;
}

// A message in a block of exactly its size, decoded as somebody who followed it would have it.
class DecodedCapsule {
public:
    DecodedCapsule(const Capsule& message, std::uint8_t detail, bool from_active = true,
                   std::size_t captured = std::dynamic_extent)
        : size_(std::min(captured, message.size())), block_(std::make_unique<std::byte[]>(size_)) {
        std::copy_n(message.begin(), size_, block_.get());
        hint_ = {dissect::UlpProtocol::nvme, from_active, detail};
        dissect::decode_message({block_.get(), size_}, hint_, packet);
        annotation_.ulp = hint_;
        packet.annotation = &annotation_;
    }
    [[nodiscard]] std::optional<dissect::Value> value(std::string_view name) const {
        for (const dissect::Layer& layer : packet.layers())
            for (const dissect::Field& field : dissect::header(layer.kind).fields)
                if (field.name == name)
                    if (const auto found = dissect::value_of(packet, layer, field)) return found;
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name) const {
        const auto found = value(name);
        return found ? std::optional(found->number) : std::nullopt;
    }
    [[nodiscard]] std::string text(std::string_view name) const {
        const auto found = value(name);
        if (!found) return {};
        const std::string all(reinterpret_cast<const char*>(found->bytes.data()), found->bytes.size());
        return all.substr(0, all.find('\0'));
    }
    [[nodiscard]] std::size_t count(dissect::LayerKind kind) const {
        return static_cast<std::size_t>(std::ranges::count(packet.layers(), kind, &dissect::Layer::kind));
    }

    dissect::Packet packet;

private:
    std::size_t size_;
    std::unique_ptr<std::byte[]> block_;
    dissect::UlpHint hint_;
    dissect::Annotation annotation_;
};

}  // namespace qps::tests
