// Packets for tests: built, copied into a heap block of exactly their size (so that a sanitizer sees one byte too far),
// and decoded.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/packet/build.hpp>
#include <dissect/packet/notation.hpp>

#include <memory>
#include <optional>
#include <string>

namespace qps::tests {

// Whether its value is bytes rather than a number.
[[nodiscard]] inline bool is_bytes(const dissect::Field& field) {
    using dissect::Format;
    return field.format == Format::bytes || field.format == Format::text || field.format == Format::ipv6;
}

class Decoded {
public:
    // The whole packet, or only its first `captured` bytes.
    explicit Decoded(const dissect::PacketSpec& spec, std::size_t captured = std::dynamic_extent)
        : Decoded(dissect::build(spec), spec.link, captured) {}
    Decoded(const std::vector<std::byte>& bytes, dissect::LinkType link, std::size_t captured = std::dynamic_extent)
        : size_(std::min(captured, bytes.size())), block_(std::make_unique<std::byte[]>(size_)) {
        std::copy_n(bytes.begin(), size_, block_.get());
        dissect::Frame frame;
        frame.bytes = {block_.get(), size_};
        frame.wire_length = static_cast<std::uint32_t>(bytes.size());
        frame.link = link;
        dissect::decode(frame, packet);
    }

    // The value of the first field of that name; nothing where the packet has none.
    [[nodiscard]] std::optional<dissect::Value> value(std::string_view name) const;
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name) const;
    // As machines see it: "10.0.0.1", "17"; empty where the packet has none.
    [[nodiscard]] std::string plain(std::string_view name) const;
    [[nodiscard]] std::string line() const;
    // Kinds of the layers by their filter names, "eth ip udp rdma infiniband.bth ...".
    [[nodiscard]] std::string layers() const;

    dissect::Packet packet;

private:
    std::size_t size_;
    std::unique_ptr<std::byte[]> block_;
};

// "01ab ff" -> bytes; anything but hex digits is skipped.
[[nodiscard]] std::vector<std::byte> hex(std::string_view digits);

}  // namespace qps::tests
