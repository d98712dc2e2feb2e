// Sheet: rows of one kind in any format, from one table of columns. For people a column has a heading, for programs a
// name; most have both. Widths of a table come from its first rows; a row that needs more is wider, and nothing is cut.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "options.hpp"
#include "output.hpp"

namespace qps::cli {

using Cell = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, std::string>;

// What types of numbers there are, as a cell.
template <class T>
[[nodiscard]] Cell number(T value) {
    if constexpr (std::is_enum_v<T>) return number(std::to_underlying(value));
    else if constexpr (std::is_signed_v<T>) return static_cast<std::int64_t>(value);
    else return static_cast<std::uint64_t>(value);
}

enum class Side : std::uint8_t { left, right };

template <class Row>
struct SheetColumn {
    std::string_view name;     // empty: for people only
    std::string_view heading;  // empty: for programs only
    Side side = Side::left;
    Cell (*cell)(const Row& row) = nullptr;
};

struct SheetHead {
    std::string_view name;
    std::string_view heading;
    Side side = Side::left;
};

class Sheet {
public:
    // `plural` names the list in JSON. `at_once`: rows are shown as they come, and no width waits for later ones.
    template <class Row, std::size_t N>
    Sheet(const Options& options, Output& output, std::string_view plural, const std::array<SheetColumn<Row>, N>& columns)
        : format_(options.format), output_(output), plural_(plural) {
        for (const auto& column : columns) heads_.push_back({column.name, column.heading, column.side});
        begin();
    }

    template <class Row, std::size_t N>
    void add(const std::array<SheetColumn<Row>, N>& columns, const Row& row, std::string_view tone = {}) {
        std::vector<Cell> cells(N);
        for (std::size_t i = 0; i < N; ++i)
            if (wanted(heads_[i])) cells[i] = columns[i].cell(row);
        take(cells, tone);
    }
    // A line between the rows of a table; nothing in other formats.
    void remark(std::string line);
    // Shows what waits for widths, and writes it out.
    void show_now();
    void end();
    [[nodiscard]] std::uint64_t rows() const { return rows_; }

private:
    struct Line {
        std::vector<std::string> cells;
        std::string text;  // a remark, where there are no cells
        std::string tone;
    };
    [[nodiscard]] bool wanted(const SheetHead& head) const {
        return format_ == OutputFormat::table ? !head.heading.empty() : !head.name.empty();
    }
    void begin();
    void take(const std::vector<Cell>& cells, std::string_view tone);
    void take_line(Line line);
    void write_heading();
    void write_line(const Line& line);
    void write_json(const std::vector<Cell>& cells);
    void write_separated(const std::vector<Cell>& cells);

    OutputFormat format_;
    Output& output_;
    std::string plural_;
    std::vector<SheetHead> heads_;
    std::vector<std::size_t> widths_;
    std::vector<Line> held_;  // until the widths are known
    bool headed_ = false;
    std::uint64_t rows_ = 0;
};

}  // namespace qps::cli
