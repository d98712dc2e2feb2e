// `fields`: every field with its type and meaning, for -e and -Y.
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/json_rows.hpp>
#include <cli/message.hpp>
#include <cli/options/output_options.hpp>
#include <dissect/base/field.hpp>
#include <dissect/filter/field_index.hpp>
#include <dissect/packet/json_writer.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;

namespace {

struct FieldRow {
    std::string name;
    std::string type;
    std::string layer;
    std::string meaning;
    std::string values;  // names that a filter may use instead of numbers
};

std::string_view type_name(Format format) {
    switch (value_type(format)) {
        case ValueType::unsigned_integer: return "integer";
        case ValueType::boolean: return "boolean";
        case ValueType::mac: return "mac";
        case ValueType::ipv4: return "ipv4";
        case ValueType::ipv6: return "ipv6";
        case ValueType::guid: return "guid";
        case ValueType::bytes: return "bytes";
        case ValueType::text: return "text";
        case ValueType::fixed_point: return "decimal";
    }
    return "";
}

FieldRow row_of(const NameEntry& entry) {
    if (entry.fields.empty()) {
        const std::string meaning = entry.group ? fmt::format("Any header whose name starts with {}", entry.name)
                                                : fmt::format("{} is present", header(entry.layers.front()).title);
        return {std::string(entry.name), "presence", std::string(entry.group ? "" : entry.name), meaning, {}};
    }
    const Field& field = *entry.fields.front().field;
    std::string meaning(field.meaning);
    if (entry.alias) {
        std::vector<std::string_view> names;
        for (const FieldPlace& place : entry.fields)
            if (std::ranges::find(names, place.field->name) == names.end()) names.push_back(place.field->name);
        meaning = fmt::format("{} {}", names.size() == 1 ? "The same as" : "Any of", fmt::join(names, ", "));
    } else if (!field.unit.empty()) {
        meaning += fmt::format(", in {}", field.unit);
    }
    if (field.annotated)
        meaning += field.of_whole ? "; known when all packets were read" : "; known from earlier packets";
    std::vector<std::string_view> layers;
    for (const FieldPlace& place : entry.fields)
        if (const auto name = header(place.kind).name; std::ranges::find(layers, name) == layers.end())
            layers.push_back(name);
    std::vector<std::string> values;
    for (const ValueName& value : field.names) values.push_back(fmt::format("{}={}", value.name, value.value));
    return {std::string(entry.name), std::string(type_name(field.format)), fmt::format("{}", fmt::join(layers, " ")),
            meaning, fmt::format("{}", fmt::join(values, " "))};
}

// A word that people use for a thing, beside a part of the names of its fields.
struct Synonym {
    std::string_view said;
    std::string_view field;
};
constexpr std::array kSynonyms{
    Synonym{"rkey", "r_key"},
    Synonym{"rkey", "remote key"},
    Synonym{"rkey", "rma.key"},
    Synonym{"lkey", "l_key"},
    Synonym{"qkey", "q_key"},
    Synonym{"pkey", "p_key"},
    Synonym{"qpn", "qp"},
    Synonym{"qp", "queue pair"},
    Synonym{"qpn", "queue pair"},
    Synonym{"dqpn", "destqp"},
    Synonym{"sqpn", "srcqp"},
    Synonym{"roce", "rdma.encapsulation"},
    Synonym{"roce", "infiniband.bth"},
    Synonym{"rocev2", "rdma.encapsulation"},
    Synonym{"nak", "syndrome"},
    Synonym{"rnr", "syndrome"},
    Synonym{"credits", "credit_count"},
    Synonym{"pfc", "cbfc"},
    Synonym{"ecn", "dsfield.ecn"},
    Synonym{"dscp", "dsfield.dscp"},
    Synonym{"retransmit", "retransmission"},
    Synonym{"resent", "retransmission"},
    Synonym{"time", "frame.time"},
    Synonym{"imm", "immediate"},
    Synonym{"length", "len"},
    Synonym{"checksum", "crc"},
};

// Where a part of a name or of a sentence begins or ends: "psn" is in "bth.psn" and "startingpsn", "roce" not in
// "procedure".
bool has_part(std::string_view text, std::string_view part) {
    if (part.empty()) return true;
    const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
    const auto within = [&](std::size_t at) {
        return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    };
    for (std::size_t from = 0; from < text.size();) {
        const auto found = std::ranges::search(text.substr(from), part, same);
        if (found.empty()) return false;
        const std::size_t at = static_cast<std::size_t>(found.begin() - text.begin());
        if (at == 0 || !within(at - 1) || !within(at + part.size())) return true;
        from = at + 1;
    }
    return false;
}

bool matches(const FieldRow& row, std::string_view pattern) {
    const auto has = [&](std::string_view part) { return has_part(row.name, part) || has_part(row.meaning, part); };
    if (has(pattern)) return true;
    const auto said = [&](const Synonym& each) {
        return each.said.size() == pattern.size() && has_part(each.said, pattern);
    };
    return std::ranges::any_of(kSynonyms, [&](const Synonym& each) { return said(each) && has(each.field); });
}

void append_field(std::string& out, const FieldRow& row) {
    JsonWriter json(out);
    json.open();
    json.add("name", row.name);
    json.add("type", row.type);
    json.add("layer", row.layer);
    json.add("meaning", row.meaning);
    json.add("values", row.values);
    json.close();
}

void append(std::string& out, OutputFormat format, const FieldRow& row, std::size_t width, bool first) {
    switch (format) {
        case OutputFormat::table:
            fmt::format_to(std::back_inserter(out), "{:<{}}  {:<8}  {}\n", row.name, width, row.type, row.meaning);
            break;
        case OutputFormat::csv:
        case OutputFormat::tsv:
            for (const std::string* cell : {&row.name, &row.type, &row.layer, &row.meaning, &row.values}) {
                append_cell(out, format, *cell);
                out += cell == &row.values ? '\n' : separator(format);
            }
            break;
        case OutputFormat::json:
        case OutputFormat::ndjson:
            if (format == OutputFormat::json && !first) out += kJsonRowsBetween;
            append_field(out, row);
            out += '\n';
    }
}

struct FieldsOptions {
    std::string pattern;
    OutputOptions output;

    void add(OptionTable& table) {
        table.add("pattern", "TEXT", pattern, "Match name or meaning against this text");
        output.add_format(table);
        output.add_path(table);
    }
};

ExitCode run_fields(const FieldsOptions& options) {
    const OutputFormat format = options.output.format;
    std::vector<FieldRow> rows;
    for (const NameEntry& entry : all_names())
        if (FieldRow row = row_of(entry); matches(row, options.pattern)) rows.push_back(std::move(row));
    Output output(options.output.path);
    if (!output.ok()) return finish(output);
    std::size_t width = 0;
    for (const FieldRow& row : rows) width = std::max(width, row.name.size());
    std::string out;
    if (format == OutputFormat::json) out += json_rows_begin("fields");
    if (has_rows(format)) {
        const char s = separator(format);
        out += fmt::format("name{0}type{0}layer{0}meaning{0}values\n", s);
    }
    for (const FieldRow& row : rows) append(out, format, row, width, &row == &rows.front());
    if (format == OutputFormat::json) out += kJsonRowsEnd;
    output.write(out);
    if (rows.empty()) {
        const std::string near = nearest_name(options.pattern);
        remark("qpscope: no field matches '{}'{}\n", options.pattern,
               near.empty() ? "" : fmt::format("; did you mean {}?", near));
    }
    return finish(output);
}

}  // namespace

const Command kFieldsCommand{"fields", kLookAt, "List the fields for filters and columns, with type and meaning",
                             "  qpscope fields\n  qpscope fields aeth\n  qpscope fields -f tsv psn",
                             prepared<FieldsOptions, run_fields>};

}  // namespace qps::cli
