// Values of fields spelled as filters.
//
// The values are a capture's: texts are escaped byte by byte, and what the language could not read back is not spelled
// out.
#include <dissect/filter/line_filter.hpp>
#include <dissect/filter/literal.hpp>
#include <dissect/packet/render_value.hpp>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

constexpr std::size_t kLongestBytes =
    32;  // spelled out, of bytes and of texts; a longer value is not what people look for

auto into(std::string& out) { return std::back_inserter(out); }

void append_bytes(std::string& out, Bytes bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        fmt::format_to(into(out), "{}{:02x}", i == 0 ? "" : ":", std::to_integer<unsigned>(bytes[i]));
}

// The name of a value where it is the name of no other: several values may share one (MANUFACTURER).
std::string_view own_name(const Field& field, std::uint64_t value) {
    const std::string_view name = name_of(field, value);
    const std::string folded = filter_language::folded_name(name);
    const auto alike = [&](const ValueName& row) { return filter_language::folded_name(row.name) == folded; };
    return !name.empty() && std::ranges::count_if(field.names, alike) == 1 ? name : std::string_view{};
}

bool append_number(std::string& out, const Field& field, std::uint64_t number) {
    if (const std::string_view name = own_name(field, number); !name.empty()) {
        out += filter_language::typed_name(name);
        return true;
    }
    switch (field.format) {
        case Format::flag: out += number != 0 ? "true" : "false"; return true;
        case Format::hexadecimal: fmt::format_to(into(out), "{:#x}", number); return true;
        case Format::fixed_point:
        case Format::instant:
            if (number == std::uint64_t{1} << 63)
                return false;  // read back as the opposite of a number that there is not
            break;
        default: break;
    }
    append_plain(out, field, {number, {}});
    return true;
}

bool append_literal(std::string& out, const Field& field, const Value& value) {
    switch (value_type(field.format)) {
        case ValueType::ipv6: append_plain(out, field, value); return value.bytes.size() == 16;
        case ValueType::bytes:
            if (value.bytes.empty() || value.bytes.size() > kLongestBytes) return false;
            append_bytes(out, value.bytes);
            return true;
        case ValueType::text: {
            std::string text;
            append_plain(text, field, value);
            if (text.size() > kLongestBytes) return false;
            out += filter_language::typed_text(text);
            return true;
        }
        default: return append_number(out, field, value.number);
    }
}

// The name of the header. Where it is the name of a field too (infiniband.immdt), it asks for that.
void append_presence(std::string& out, const Packet& packet, const Layer& layer) {
    const Header& row = header(layer.kind);
    const auto same = std::ranges::find(row.fields, row.name, &Field::name);
    if (same == row.fields.end() || value_of(packet, layer, *same)) out += row.name;
}

void append_fault(std::string& out, const Packet& packet, const TreeLine& line) {
    const auto first =
        std::ranges::find_if(packet.layers(), [](const Layer& layer) { return layer.fault != Fault::none; });
    if (first != packet.layers().end() && first->fault == line.fault)
        fmt::format_to(into(out), "rdma.frame.fault == {}", info(line.fault).name);
}

}  // namespace

void append_filter(std::string& out, const Packet& packet, const TreeLine& line) {
    if (line.fault != Fault::none) {
        append_fault(out, packet, line);
    } else if (line.field == nullptr) {
        append_presence(out, packet, packet.layer_storage[line.layer]);
    } else if (!line.field->name.empty()) {
        std::string literal;
        out += line.field->name;
        if (append_literal(literal, *line.field, line.value)) out.append(" == ").append(literal);
    }
}

}  // namespace qps::dissect
