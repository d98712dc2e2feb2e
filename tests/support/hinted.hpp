// A message of an upper protocol decoded with the hint that it is its: layers and values. The message is in a block of
// exactly its size, so that reading beyond it is found.
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/base/packet.hpp>
#include <dissect/ulp/ulp.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/wire_bytes.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace qps::tests {

class Hinted {
public:
    Hinted(const Octets& bytes, dissect::UlpProtocol protocol)
        : Hinted(bytes, dissect::UlpHint{protocol, true, 0, {}}) {}
    Hinted(const Octets& bytes, const dissect::UlpHint& hint) : block_(std::make_unique<std::byte[]>(bytes.size())) {
        std::ranges::copy(bytes, block_.get());
        decode_message({block_.get(), bytes.size()}, hint, packet);
    }
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name, std::size_t which = 0) const {
        for (const dissect::Layer& layer : packet.layers())
            for (const dissect::Field& field : header(layer.kind).fields) {
                if (field.name != name) continue;
                const auto value = value_of(packet, layer, field);
                if (value && which-- == 0) return value->number;
            }
        return std::nullopt;
    }
    [[nodiscard]] std::string layers() const {
        std::string names;
        for (const dissect::Layer& layer : packet.layers())
            names += (names.empty() ? "" : " ") + std::string(header(layer.kind).name);
        return names;
    }
    dissect::Packet packet;

private:
    std::unique_ptr<std::byte[]> block_;
};

[[nodiscard]] inline Octets cut(const Octets& bytes, std::size_t length) {
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)};
}

// Whatever is missing at the end: no layer leaves the message, and nothing is read that is not there.
inline void cut_everywhere(const Octets& message, dissect::UlpProtocol protocol) {
    for (std::size_t length = 0; length < message.size(); ++length) {
        const Hinted hinted(cut(message, length), protocol);
        for (const dissect::Layer& layer : hinted.packet.layers()) {
            INFO(length << " of " << message.size() << ": " << hinted.layers());
            CHECK(std::size_t{layer.offset} + layer.length <= length);
            for (const dissect::Field& field : header(layer.kind).fields)
                static_cast<void>(value_of(hinted.packet, layer, field));
        }
    }
}

}  // namespace qps::tests
