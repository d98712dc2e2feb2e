// The columns that the core has for people, as the headings and cells of a table of the window.
#pragma once

#include <gui/base/text.hpp>
#include <gui/tables/table_model.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace qps::gui {

// What a heading means, where it is short for something.
struct Meaning {
    std::string_view heading;
    std::string_view meaning;
};

template <class Row> class CoreColumns {
public:
    // Those that have a heading, but for those that have one of `without`.
    CoreColumns(std::span<const transport::TableColumn<Row>> columns, std::span<const std::string_view> without = {}) {
        for (const auto& column : columns)
            if (!column.heading.empty() && std::ranges::find(without, column.heading) == without.end())
                m_columns.push_back(&column);
    }

    [[nodiscard]] std::vector<Heading> headings(std::span<const Meaning> meanings) const {
        std::vector<Heading> all;
        for (const auto* column : m_columns) {
            const auto known = std::ranges::find(meanings, column->heading, &Meaning::heading);
            all.push_back({shown(column->heading), known == meanings.end() ? QString() : shown(known->meaning),
                           column->side == transport::Side::right});
        }
        return all;
    }
    [[nodiscard]] QString text(const Row& row, int column) const { return shown(shown_text(at(column), row)); }
    [[nodiscard]] transport::Cell value(const Row& row, int column) const { return at(column).value(row); }
    [[nodiscard]] const transport::TableColumn<Row>& at(int column) const {
        return *m_columns[static_cast<std::size_t>(column)];
    }

private:
    std::vector<const transport::TableColumn<Row>*> m_columns;
};

}  // namespace qps::gui
