#include <dissect/packet/render_value.hpp>
#include <tests/support/packets.hpp>

namespace qps::tests {

using namespace dissect;

namespace {

struct Found {
    const Field* field;
    Value value;
};

std::optional<Found> find_value(const Packet& packet, std::string_view name) {
    for (const Layer& layer : packet.layers())
        for (const Field& field : header(layer.kind).fields)
            if (field.name == name)
                if (const auto value = value_of(packet, layer, field)) return Found{&field, *value};
    return std::nullopt;
}

int digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

}  // namespace

std::optional<Value> Decoded::value(std::string_view name) const {
    const auto found = find_value(packet, name);
    return found ? std::optional(found->value) : std::nullopt;
}

std::optional<std::uint64_t> Decoded::number(std::string_view name) const {
    const auto found = find_value(packet, name);
    return found ? std::optional(found->value.number) : std::nullopt;
}

std::string Decoded::plain(std::string_view name) const {
    std::string text;
    if (const auto found = find_value(packet, name)) append_plain(text, *found->field, found->value);
    return text;
}

std::string Decoded::line() const {
    std::string text;
    append_line(text, packet);
    return text;
}

std::string Decoded::layers() const {
    std::string text;
    for (const Layer& layer : packet.layers()) {
        if (layer.kind == LayerKind::frame) continue;
        if (!text.empty()) text += ' ';
        text += header(layer.kind).name;
    }
    return text;
}

std::vector<std::byte> hex(std::string_view digits) {
    std::vector<std::byte> bytes;
    int high = -1;
    for (const char c : digits) {
        const int value = digit(c);
        if (value < 0) continue;
        if (high < 0) {
            high = value;
        } else {
            bytes.push_back(static_cast<std::byte>(high * 16 + value));
            high = -1;
        }
    }
    return bytes;
}

}  // namespace qps::tests
