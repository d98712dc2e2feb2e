// Document: a report as nested names and values, written as they come: JSON, or a row "name<separator>value" for each
// value with the names joined by dots. Nothing is kept, so a report may be as long as it likes.
#pragma once

#include <dissect/base/types.hpp>
#include <dissect/packet/json_writer.hpp>
#include <transport-replay/report/format.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace qps::transport {

class Document {
public:
    // json: an element a line; ndjson: all in one line, which the caller ends; csv, tsv: rows.
    Document(OutputFormat format, std::string& out)
        : Document(format, out,
                   format == OutputFormat::json ? dissect::JsonLayout::lines : dissect::JsonLayout::spaced) {}
    // The layout is of json and ndjson.
    Document(OutputFormat format, std::string& out, dissect::JsonLayout layout)
        : format_(format), out_(out), json_(out, layout) {}

    // An object: with a name in an object, without one in a list or as the whole document.
    void open(std::string_view name = {}) { begin(name, false); }
    void close() { end(false); }
    void open_list(std::string_view name) { begin(name, true); }
    void close_list() { end(true); }

    template <class T> void add(std::string_view name, const T& value) {
        if constexpr (std::is_same_v<T, bool>) add_bare(name, value ? "true" : "false");
        else if constexpr (std::is_same_v<T, dissect::Psn>) add_bare(name, std::to_string(value.value()));
        else if constexpr (std::is_enum_v<T>) add_bare(name, std::to_string(std::to_underlying(value)));
        else if constexpr (std::integral<T>) add_bare(name, std::to_string(value));
        else add_text(name, value);
    }
    // null where there is nothing; in rows none.
    template <class T> void add(std::string_view name, const std::optional<T>& value) {
        if (value) add(name, *value);
        else add_nothing(name);
    }
    // Writes what is JSON already; in rows nothing, for it has names of its own.
    void add_json(std::string_view name, std::string_view json) {
        if (!rows()) json_.add_json(name, json);
    }
    void add_texts(std::string_view name, std::span<const std::string> texts);
    // A list of numbers in one line, or in one cell.
    template <class Range> void add_numbers(std::string_view name, const Range& numbers) {
        std::string list;
        for (const auto& number : numbers) {
            if (!list.empty()) list += ',';
            list += std::to_string(std::to_underlying(number));
        }
        add_list_text(name, list);
    }

private:
    // A level of nesting, whose names are joined in rows.
    struct Level {
        bool list = false;
        std::size_t count = 0;
        std::size_t path_length = 0;  // of path_ outside of it
    };
    [[nodiscard]] bool rows() const { return has_rows(format_); }
    void begin(std::string_view name, bool list);
    void end(bool list);
    void add_bare(std::string_view name, std::string_view value);
    void add_text(std::string_view name, std::string_view value);
    void add_nothing(std::string_view name);
    void add_list_text(std::string_view name, std::string_view list);
    void add_row(std::string_view name, std::string_view value);

    OutputFormat format_;
    std::string& out_;
    dissect::JsonWriter json_;
    std::vector<Level> levels_;
    std::string path_;
};

}  // namespace qps::transport
