#include <dissect/packet/json_writer.hpp>
#include <dissect/packet/notation.hpp>
#include <dissect/packet/render.hpp>
#include <dissect/packet/render_value.hpp>
#include <dissect/packet/tree.hpp>

#include <iterator>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

auto into(std::string& out) { return std::back_inserter(out); }

void add_fields(JsonWriter& json, const Packet& packet, const Layer& layer) {
    const auto fields = header(layer.kind).fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const Field& field = fields[i];
        if (field.name.empty()) continue;
        bool seen = false;  // tables of a repeated field (keys of a block): all under the first one's name
        for (std::size_t j = 0; j < i && !seen; ++j) seen = fields[j].name == field.name;
        if (seen) continue;
        std::string values;
        std::size_t count = 0;
        for (std::size_t j = i; j < fields.size(); ++j) {
            if (fields[j].name != field.name) continue;
            const auto value = value_of(packet, layer, fields[j]);
            if (!value) continue;
            if (count++ > 0) values += ',';
            append_json(values, fields[j], *value);
        }
        if (count > 1) values = "[" + values + "]";
        if (count > 0) json.add_json(field.name, values);
    }
}

}  // namespace

void append_tree(std::string& out, const Packet& packet) {
    for (const TreeLine& line : tree(packet)) {
        append_text(out, line);
        out += '\n';
    }
}

void append_json(std::string& out, const Packet& packet) {
    std::string line;
    append_line(line, packet);
    JsonWriter json(out);
    json.open();
    json.add("frame", std::to_underlying(packet.frame.index));
    json.add("line", line);
    json.open_list("layers");
    for (const Layer& layer : packet.layers()) {
        json.open();
        json.add("layer", header(layer.kind).name);
        json.add("offset", std::uint64_t{layer.offset});
        json.add("length", std::uint64_t{layer.length});
        if (layer.fault != Fault::none) json.add("fault", info(layer.fault).name);
        json.open("fields");
        add_fields(json, packet, layer);
        json.close();
        json.close();
    }
    json.close_list();
    json.close();
}

void append_hex_dump(std::string& out, Bytes bytes) {
    constexpr std::size_t kPerLine = 16;
    for (std::size_t start = 0; start < bytes.size(); start += kPerLine) {
        const Bytes row = slice(bytes, start, kPerLine);
        fmt::format_to(into(out), "{:04x} ", start);
        for (std::size_t i = 0; i < kPerLine; ++i) {
            if (i == kPerLine / 2) out += ' ';
            if (i < row.size()) fmt::format_to(into(out), " {:02x}", std::to_integer<unsigned>(row[i]));
            else out += "   ";
        }
        out += "  ";
        for (const std::byte byte : row) {
            const auto c = std::to_integer<unsigned char>(byte);
            out += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '.';
        }
        out += '\n';
    }
}

}  // namespace qps::dissect
