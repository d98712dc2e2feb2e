// Reading and writing fields through their rows.
#include <dissect/base/packet.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

bool is_bytes(Format format) {
    const ValueType type = value_type(format);
    return type == ValueType::bytes || type == ValueType::text || type == ValueType::ipv6;
}

}  // namespace

std::optional<Value> value_of(const Packet& packet, const Layer& layer, const Field& field) {
    if (field.computed()) return field.compute(packet, layer);
    const Bytes bytes = packet.bytes_of(layer);
    const std::size_t available = bytes.size() * 8;
    if (field.when.width != 0) {
        if (std::size_t{field.when.bit} + field.when.width > available) return std::nullopt;
        const auto bits = field.little ? read_bits_le : read_bits;
        if (bits(bytes, field.when.bit, field.when.width) != field.when.value) return std::nullopt;
    }
    if (field.width == kToEnd) {
        const Bytes rest = slice(bytes, field.bit / 8);
        if (rest.empty()) return std::nullopt;
        return Value{0, rest};
    }
    if (std::size_t{field.bit} + field.width > available) return std::nullopt;
    if (is_bytes(field.format)) return Value{0, slice(bytes, field.bit / 8, field.width / 8)};
    return Value{read(bytes, field), {}};
}

bool set_value(MutableBytes header, const Field& field, const Value& value) {
    if (field.computed()) return false;
    if (is_bytes(field.format)) {
        const std::size_t start = field.bit / 8;
        if (start > header.size()) return false;
        const std::size_t room = field.width == kToEnd ? header.size() - start : field.width / 8;
        if (start + room > header.size() || value.bytes.size() > room) return false;
        std::ranges::copy(value.bytes, header.begin() + static_cast<std::ptrdiff_t>(start));
        return true;
    }
    const std::uint64_t raw = value.number / field.factor;
    if (field.width < 64 && raw >> field.width != 0) return false;
    if ((std::size_t{field.bit} + field.width + 7) / 8 > header.size()) return false;
    (field.little ? write_bits_le : write_bits)(header, field.bit, field.width, raw);
    return true;
}

}  // namespace qps::dissect
