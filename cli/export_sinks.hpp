// Where the tables of `export` go: a database of SQLite, or a folder with a file for each table.
#pragma once

#include <cli/exit_code.hpp>
#include <cli/export_schema.hpp>
#include <cli/options/output_options.hpp>
#include <transport-replay/report/table.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace qps::cli {

class TableSink {
public:
    TableSink() = default;
    TableSink(const TableSink&) = delete;
    TableSink& operator=(const TableSink&) = delete;
    virtual ~TableSink() = default;

    // A row of a table, its cells in the order of its columns.
    virtual void add(const SchemaTable& table, std::span<const transport::Cell> cells) = 0;
    // Everything that was added is forgotten: the capture is read again.
    virtual void again() = 0;
    // The end: the result takes its name.
    virtual void commit() = 0;
    // One sentence about what failed; nothing while nothing did.
    [[nodiscard]] virtual std::optional<std::string> problem() const = 0;
};

// Nothing, and a sentence, where it cannot be opened. An existing database is replaced once the new one is whole.
[[nodiscard]] std::unique_ptr<TableSink> sqlite_sink(const std::string& path, std::string& problem);
// A file NAME.csv or NAME.ndjson for each table, in the folder, which is made where there is none.
[[nodiscard]] std::unique_ptr<TableSink> folder_sink(const OutputOptions& options, std::string& problem);

}  // namespace qps::cli
