// Sheet: rows of one kind in any format, from one table of columns. Widths of a table come from its first rows; a row
// that needs more is wider, and nothing is cut. On a terminal that is narrower than the table a row takes several
// lines, which break between columns.
#pragma once

#include <cli/options/output_options.hpp>
#include <cli/output.hpp>
#include <cli/tone.hpp>
#include <transport-replay/report/table.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qps::cli {

struct SheetHead {
    std::string_view name;
    std::string_view heading;
    transport::Side side = transport::Side::left;
};

class Sheet {
public:
    // `plural` names the list in JSON. `more`: columns behind these, of cells that add() is given.
    template <class Row>
    Sheet(const OutputOptions& options, Output& output, std::string_view plural,
          std::span<const transport::TableColumn<Row>> columns, std::span<const SheetHead> more = {})
        : format_(options.format),
          color_(options.format == OutputFormat::table && wants_color(options.color, output)),
          output_(output),
          plural_(plural) {
        for (const auto& column : columns) heads_.push_back({column.name, column.heading, column.side});
        heads_.insert(heads_.end(), more.begin(), more.end());
        begin();
    }

    // For who has cells and names alone; the format is not a table for people.
    Sheet(const OutputOptions& options, Output& output, std::string_view plural, std::vector<SheetHead> heads)
        : format_(options.format), color_(false), output_(output), plural_(plural), heads_(std::move(heads)) {
        begin();
    }
    void add(std::span<const transport::Cell> cells) {
        take(std::vector<transport::Cell>(cells.begin(), cells.end()), transport::Tone::plain);
    }

    template <class Row>
    void add(std::span<const transport::TableColumn<Row>> columns, const Row& row,
             transport::Tone tone = transport::Tone::plain, std::span<const transport::Cell> more = {}) {
        std::vector<transport::Cell> cells(columns.size());
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (!wanted(heads_[i])) continue;
            if (format_ == OutputFormat::table) cells[i] = shown_text(columns[i], row);
            else cells[i] = columns[i].value(row);
        }
        cells.insert(cells.end(), more.begin(), more.end());
        take(cells, tone);
    }
    // A line between the rows of a table; nothing in other formats.
    void remark(std::string line);
    // Shows what waits for widths, and writes it out.
    void show_now();
    // In JSON: ends the list, and begins another one in the same document. The rows behind it have other heads.
    void begin_list(std::string_view plural, std::vector<SheetHead> heads);
    void end();
    [[nodiscard]] std::uint64_t rows() const { return rows_; }

private:
    struct Line {
        std::vector<std::string> cells;
        std::string text;  // a remark, where there are no cells
        transport::Tone tone{};
    };
    [[nodiscard]] bool wanted(const SheetHead& head) const {
        return format_ == OutputFormat::table ? !head.heading.empty() : !head.name.empty();
    }
    void begin();
    void take(const std::vector<transport::Cell>& cells, transport::Tone tone);
    void take_line(Line line);
    void write_heading();
    void write_line(const Line& line);
    void write_json(const std::vector<transport::Cell>& cells);
    void write_separated(const std::vector<transport::Cell>& cells);

    OutputFormat format_;
    bool color_;
    Output& output_;
    std::string plural_;
    std::vector<SheetHead> heads_;
    std::vector<std::size_t> widths_;
    std::vector<Line> held_;  // until the widths are known
    bool headed_ = false;
    std::uint64_t rows_ = 0;
};

}  // namespace qps::cli
