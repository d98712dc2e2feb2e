// Tables of `export` as files of a folder, in the format asked for.
#include <cli/export_sinks.hpp>
#include <cli/options/output_options.hpp>
#include <cli/output.hpp>
#include <cli/sheet.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;

namespace {

std::string_view file_ending(OutputFormat format) {
    return format == OutputFormat::csv    ? "csv"
           : format == OutputFormat::tsv  ? "tsv"
           : format == OutputFormat::json ? "json"
                                          : "ndjson";
}

class FolderSink final : public TableSink {
public:
    explicit FolderSink(const OutputOptions& options) : options_(options) { begin(); }

    void add(const SchemaTable& table, std::span<const Cell> cells) override {
        if (const auto found = files_.find(table.name); found != files_.end()) found->second->sheet->add(cells);
    }
    void again() override {
        for (auto& [name, file] : files_) file->begin();
    }
    void commit() override {
        for (auto& [name, file] : files_) {
            file->sheet->end();
            file->output.flush();
        }
        if (problem()) return;  // all of them or none
        for (auto& [name, file] : files_) file->output.commit();
    }
    [[nodiscard]] std::optional<std::string> problem() const override {
        for (const auto& [name, file] : files_)
            if (!file->output.ok()) return file->output.problem();
        return std::nullopt;
    }

private:
    struct File {
        File(const OutputOptions& options, const SchemaTable& schema) : own(options), output(own.path), table(schema) {
            begin();
        }
        // From its first line on; the file stays open, for it could not be opened again (sandbox/).
        void begin() {
            output.restart();
            std::vector<SheetHead> heads;
            for (const SchemaColumn& column : table.columns) heads.push_back({column.name, {}, {}});
            sheet.emplace(own, output, table.name, std::move(heads));
        }
        OutputOptions own;
        Output output;
        const SchemaTable& table;
        std::optional<Sheet> sheet;
    };
    void begin() {
        for (const SchemaTable& table : schema()) {
            OutputOptions own = options_;
            own.path =
                (std::filesystem::path(options_.path) / fmt::format("{}.{}", table.name, file_ending(options_.format)))
                    .string();
            files_.emplace(table.name, std::make_unique<File>(own, table));
        }
    }

    const OutputOptions& options_;
    std::map<std::string_view, std::unique_ptr<File>> files_;
};

}  // namespace

std::unique_ptr<TableSink> folder_sink(const OutputOptions& options, std::string& problem) {
    std::error_code error;
    std::filesystem::create_directories(options.path, error);
    if (!std::filesystem::is_directory(options.path)) {
        problem = fmt::format("cannot write {}: {}", options.path, error ? error.message() : "it is no folder");
        return nullptr;
    }
    auto sink = std::make_unique<FolderSink>(options);
    if (auto failed = sink->problem()) {
        problem = *failed;
        return nullptr;
    }
    return sink;
}

}  // namespace qps::cli
