// Sheet: rows of one kind in any format, from one table of columns.
#include <cli/json_rows.hpp>
#include <cli/sheet.hpp>
#include <cli/wrapped.hpp>
#include <dissect/packet/json_writer.hpp>

#include <algorithm>

namespace qps::cli {

using namespace transport;

namespace {

constexpr std::size_t kHeld = 200;  // rows that decide the widths

void add_cell(dissect::JsonWriter& json, std::string_view name, const Cell& cell) {
    if (std::holds_alternative<std::monostate>(cell)) json.add_json(name, "null");
    else if (const bool* flag = std::get_if<bool>(&cell)) json.add_json(name, *flag ? "true" : "false");
    else if (const auto* text = std::get_if<std::string>(&cell)) json.add(name, *text);
    else json.add_json(name, plain_text(cell));
}

}  // namespace

void Sheet::begin() {
    if (format_ == OutputFormat::json) {
        output_.write(json_rows_begin(plural_));
    } else if (has_rows(format_)) {
        std::string heading;
        for (const SheetHead& head : heads_) {
            if (!wanted(head)) continue;
            if (!heading.empty()) heading += separator(format_);
            append_cell(heading, format_, head.name);
        }
        output_.write(heading + "\n");
    }
}

void Sheet::take(const std::vector<Cell>& cells, Tone tone) {
    switch (format_) {
        case OutputFormat::json:
        case OutputFormat::ndjson: write_json(cells); break;
        case OutputFormat::csv:
        case OutputFormat::tsv: write_separated(cells); break;
        case OutputFormat::table: {
            Line line;
            for (std::size_t i = 0; i < cells.size(); ++i)
                if (wanted(heads_[i])) line.cells.push_back(plain_text(cells[i]));
            line.tone = tone;
            take_line(std::move(line));
        }
    }
    ++rows_;
}

void Sheet::write_json(const std::vector<Cell>& cells) {
    std::string out(format_ == OutputFormat::json && rows_ > 0 ? kJsonRowsBetween : "");
    dissect::JsonWriter json(out);
    json.open();
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (wanted(heads_[i])) add_cell(json, heads_[i].name, cells[i]);
    json.close();
    output_.write(out + "\n");
}

void Sheet::write_separated(const std::vector<Cell>& cells) {
    std::string out;
    bool first = true;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!wanted(heads_[i])) continue;
        if (!first) out += separator(format_);
        first = false;
        append_cell(out, format_, plain_text(cells[i]));
    }
    output_.write(out + "\n");
}

void Sheet::remark(std::string line) {
    if (format_ == OutputFormat::table) take_line({{}, std::move(line), {}});
}

void Sheet::take_line(Line line) {
    if (headed_) return write_line(line);
    held_.push_back(std::move(line));
    if (held_.size() == kHeld) show_now();
}

void Sheet::show_now() {
    if (!headed_ && !held_.empty()) write_heading();
    output_.flush();
}

void Sheet::write_heading() {
    headed_ = true;
    Line heading;
    for (const SheetHead& head : heads_)
        if (wanted(head)) heading.cells.emplace_back(head.heading);
    widths_.assign(heading.cells.size(), 0);
    const auto widen = [&](const Line& line) {
        for (std::size_t i = 0; i < line.cells.size(); ++i) widths_[i] = std::max(widths_[i], line.cells[i].size());
    };
    widen(heading);
    for (const Line& line : held_) widen(line);
    write_line(heading);
    for (const Line& line : held_) write_line(line);
    held_.clear();
}

void Sheet::write_line(const Line& line) {
    constexpr std::size_t kFoldIndent = 3;
    std::string out = line.text;
    std::size_t i = 0;
    std::size_t column = 0;  // by the widths, so that all rows break at the same columns
    const auto trim = [&] {
        while (!out.empty() && out.back() == ' ') out.pop_back();
    };
    for (const SheetHead& head : heads_) {
        if (line.cells.empty() || !wanted(head)) continue;
        if (i > 0 && column + 2 + widths_[i] > table_width()) {
            trim();
            out += '\n' + std::string(kFoldIndent, ' ');
            column = kFoldIndent;
        } else if (i > 0) {
            out += "  ";
            column += 2;
        }
        column += widths_[i];
        const std::string& cell = line.cells[i];
        const std::size_t fill = cell.size() < widths_[i] ? widths_[i] - cell.size() : 0;
        if (head.side == transport::Side::right) out.append(fill, ' ');
        out += cell;
        if (head.side == transport::Side::left) out.append(fill, ' ');
        ++i;
    }
    trim();
    std::string toned;
    append_toned(toned, color_ ? line.tone : Tone::plain, out);
    output_.write(toned + "\n");
}

void Sheet::begin_list(std::string_view plural, std::vector<SheetHead> heads) {
    if (format_ == OutputFormat::json) output_.write(std::string(kJsonListNext) + std::string(plural) + "\":[\n");
    heads_ = std::move(heads);
    rows_ = 0;
}

void Sheet::end() {
    if (format_ == OutputFormat::table) show_now();
    if (format_ == OutputFormat::json) output_.write(kJsonRowsEnd);
}

}  // namespace qps::cli
