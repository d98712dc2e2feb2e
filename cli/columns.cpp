#include <cli/columns.hpp>
#include <cli/message.hpp>
#include <dissect/packet/json_writer.hpp>
#include <dissect/packet/notation.hpp>
#include <dissect/packet/render_value.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;

namespace {

struct TextColumnRow {
    TextColumn column;
    std::string_view name;
};
constexpr std::array kTextColumns{
    TextColumnRow{TextColumn::source, "source"},
    TextColumnRow{TextColumn::destination, "destination"},
    TextColumnRow{TextColumn::protocol, "protocol"},
    TextColumnRow{TextColumn::line, "line"},
};

const std::vector<std::string> kDefaultColumns{"frame.number", "frame.time_relative", "source", "destination",
                                               "protocol",     "frame.len",           "line"};

// Headings of the default table, where a field's name would be longer than its values.
struct ShortHeading {
    std::string_view name;
    std::string_view heading;
};
constexpr std::array kShortHeadings{
    ShortHeading{"frame.number", "frame"},
    ShortHeading{"frame.time_relative", "time"},
    ShortHeading{"frame.len", "bytes"},
    ShortHeading{"line", "packet"},
};

std::string_view heading(const OutputColumn& column) {
    const auto row = std::ranges::find(kShortHeadings, column.name, &ShortHeading::name);
    return row == kShortHeadings.end() ? std::string_view(column.name) : row->heading;
}

std::size_t least_width(std::string_view name) {
    constexpr std::size_t kNumber = 8;
    constexpr std::size_t kTime = 14;
    constexpr std::size_t kProtocol = 7;
    if (name == "frame.number") return kNumber;
    if (name == "frame.time_relative") return kTime;
    return name == "protocol" ? kProtocol : 0;
}

// Numbers stand at the right.
bool is_number(const OutputColumn& column) {
    const auto* fields = std::get_if<Column>(&column.what);
    if (fields == nullptr) return false;
    const Field& field = *fields->places.front().field;
    const ValueType type = value_type(field.format);
    return field.names.empty() && (type == ValueType::unsigned_integer || type == ValueType::fixed_point);
}

void append_text_column(std::string& out, TextColumn column, const Packet& packet) {
    switch (column) {
        case TextColumn::source: append_source(out, packet); break;
        case TextColumn::destination: append_destination(out, packet); break;
        case TextColumn::protocol: out += protocol(packet); break;
        case TextColumn::line: append_line(out, packet); break;
    }
}

// A column has one unit, which goes without saying in every row.
Field without_unit(Field field) {
    field.unit = {};
    return field;
}

void append_values(std::string& out, const Column& column, const Packet& packet, bool words) {
    bool first = true;
    for_each_value(packet, column, [&](const Layer&, const Field& field, const Value& value) {
        if (!first) out += ',';
        first = false;
        if (words) append_words(out, without_unit(field), value);
        else append_plain(out, field, value);
    });
}

void append_cell_text(std::string& out, const OutputColumn& column, const Packet& packet, bool words) {
    if (const auto* text = std::get_if<TextColumn>(&column.what)) append_text_column(out, *text, packet);
    else append_values(out, std::get<Column>(column.what), packet, words);
}

void add_cell(JsonWriter& json, const OutputColumn& column, const Packet& packet) {
    if (const auto* text = std::get_if<TextColumn>(&column.what)) {
        std::string value;
        append_text_column(value, *text, packet);
        return json.add(column.name, value);
    }
    std::string values;
    std::size_t count = 0;
    for_each_value(packet, std::get<Column>(column.what), [&](const Layer&, const Field& field, const Value& value) {
        if (count++ > 0) values += ',';
        append_json(values, field, value);
    });
    if (count > 1) values = "[" + values + "]";
    json.add_json(column.name, count == 0 ? "null" : values);
}

void append_padded(std::string& out, const OutputColumn& column, std::string_view text, bool last) {
    if (last) out += text;
    else if (is_number(column)) fmt::format_to(std::back_inserter(out), "{:>{}}  ", text, column.width);
    else fmt::format_to(std::back_inserter(out), "{:<{}}  ", text, column.width);
}

}  // namespace

std::optional<std::vector<OutputColumn>> columns_of(const std::vector<std::string>& names) {
    std::vector<OutputColumn> columns;
    for (const std::string& name : names.empty() ? kDefaultColumns : names) {
        OutputColumn output{name, TextColumn::line, 0};
        if (const auto text = std::ranges::find(kTextColumns, name, &TextColumnRow::name); text != kTextColumns.end()) {
            output.what = text->column;
        } else if (auto found = column(name); found) {
            output.what = std::move(*found);
        } else {
            say("qpscope: no such column:\n{}\n", explain(name, found.error()));
            return std::nullopt;
        }
        output.width = std::max(heading(output).size(), least_width(name));
        columns.push_back(std::move(output));
    }
    return columns;
}

bool needs_annotation(const std::vector<OutputColumn>& columns) {
    return std::ranges::any_of(columns, [](const OutputColumn& column) {
        const auto* fields = std::get_if<Column>(&column.what);
        return fields != nullptr && fields->needs_annotation();
    });
}

bool needs_whole_capture(const std::vector<OutputColumn>& columns) {
    return std::ranges::any_of(columns, [](const OutputColumn& column) {
        const auto* fields = std::get_if<Column>(&column.what);
        return fields != nullptr && fields->needs_whole_capture();
    });
}

bool needs_look_ahead(const std::vector<OutputColumn>& columns) {
    return std::ranges::any_of(columns, [](const OutputColumn& column) {
        const auto* fields = std::get_if<Column>(&column.what);
        return fields != nullptr && fields->needs_look_ahead();
    });
}

void fit(std::vector<OutputColumn>& columns, const Packet& packet) {
    for (OutputColumn& column : columns) {
        std::string text;
        append_cell_text(text, column, packet, true);
        constexpr std::size_t kWidest = 40;
        column.width = std::max(column.width, std::min(kWidest, text.size()));
    }
}

void append_heading(std::string& out, OutputFormat format, const std::vector<OutputColumn>& columns) {
    if (format == OutputFormat::json || format == OutputFormat::ndjson) return;
    for (const OutputColumn& column : columns) {
        const bool last = &column == &columns.back();
        if (format == OutputFormat::table) {
            append_padded(out, column, heading(column), last);
        } else {
            append_cell(out, format, column.name);
            if (!last) out += separator(format);
        }
    }
    out += '\n';
}

void append_row(std::string& out, OutputFormat format, const std::vector<OutputColumn>& columns, const Packet& packet) {
    if (format == OutputFormat::json || format == OutputFormat::ndjson) {
        JsonWriter json(out);
        json.open();
        for (const OutputColumn& column : columns) add_cell(json, column, packet);
        json.close();
        out += '\n';
        return;
    }
    std::string text;
    for (const OutputColumn& column : columns) {
        const bool last = &column == &columns.back();
        text.clear();
        append_cell_text(text, column, packet, format == OutputFormat::table);
        if (format == OutputFormat::table) {
            append_padded(out, column, text, last);
        } else {
            append_cell(out, format, text);
            if (!last) out += separator(format);
        }
    }
    out += '\n';
}

}  // namespace qps::cli
