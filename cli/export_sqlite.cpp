// Tables of `export` as a database of SQLite: written beside its name, in one transaction, with indices at the end.
#include <cli/export_sinks.hpp>
#include <dissect/capture/pending_file.hpp>

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

namespace qps::cli {

using namespace transport;

namespace {

struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

constexpr int kSchemaVersion = 2;

class SqliteSink final : public TableSink {
public:
    SqliteSink(std::string path, dissect::PendingFile file, Database database)
        : path_(std::move(path)), file_(std::move(file)), database_(std::move(database)) {
        begin();
    }
    ~SqliteSink() override {
        inserts_.clear();
        database_.reset();
    }

    void add(const SchemaTable& table, std::span<const Cell> cells) override {
        if (problem_) return;
        sqlite3_stmt* insert = insert_into(table, cells.size());
        if (insert == nullptr) return;
        for (std::size_t i = 0; i < cells.size(); ++i) bind(insert, static_cast<int>(i) + 1, cells[i]);
        check(sqlite3_step(insert) == SQLITE_DONE);
        sqlite3_reset(insert);
    }
    void again() override {
        for (const SchemaTable& table : schema()) run(fmt::format("DELETE FROM {};", table.name));
    }
    void commit() override {
        for (const SchemaTable& table : schema()) run(create_indices(table));
        run("COMMIT;");
        inserts_.clear();
        if (problem_) return;
        database_.reset();
        if (const std::error_code failed = file_.commit())
            problem_ = fmt::format("cannot write {}: {}", path_, failed.message());
    }
    [[nodiscard]] std::optional<std::string> problem() const override { return problem_; }

private:
    void begin() {
        // Nobody else sees it before it is whole, and what is not whole is thrown away: no journal, no waiting for the
        // disk. Nothing is opened later, for then nothing may be (sandbox/).
        run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;");
        run(fmt::format("PRAGMA user_version = {}; BEGIN;", kSchemaVersion));
        for (const SchemaTable& table : schema()) run(create_table(table));
    }
    void check(bool worked) {
        if (!worked && !problem_) problem_ = fmt::format("cannot write {}: {}", path_, sqlite3_errmsg(database_.get()));
    }
    void run(const std::string& statements) {
        if (!problem_) check(sqlite3_exec(database_.get(), statements.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    }
    sqlite3_stmt* insert_into(const SchemaTable& table, std::size_t columns) {
        Statement& insert = inserts_[table.name];
        if (insert) return insert.get();
        std::string text = fmt::format("INSERT INTO {} VALUES (?", table.name);
        for (std::size_t i = 1; i < columns; ++i) text += ", ?";
        text += ");";
        sqlite3_stmt* made = nullptr;
        check(sqlite3_prepare_v2(database_.get(), text.c_str(), -1, &made, nullptr) == SQLITE_OK);
        insert.reset(made);
        return made;
    }
    void bind(sqlite3_stmt* insert, int place, const Cell& cell) {
        int code = SQLITE_OK;
        if (std::holds_alternative<std::monostate>(cell)) code = sqlite3_bind_null(insert, place);
        else if (const bool* flag = std::get_if<bool>(&cell)) code = sqlite3_bind_int64(insert, place, *flag ? 1 : 0);
        else if (const auto* number = std::get_if<std::int64_t>(&cell))
            code = sqlite3_bind_int64(insert, place, *number);
        else if (const auto* count = std::get_if<std::uint64_t>(&cell))
            code = sqlite3_bind_int64(insert, place, static_cast<std::int64_t>(*count));
        else if (const auto* text = std::get_if<std::string>(&cell))
            code = sqlite3_bind_text(insert, place, text->data(), static_cast<int>(text->size()),
                                     SQLITE_STATIC);  // until the step
        check(code == SQLITE_OK);
    }

    std::string path_;
    dissect::PendingFile file_;
    Database database_;
    std::map<std::string_view, Statement> inserts_;
    std::optional<std::string> problem_;
};

}  // namespace

std::unique_ptr<TableSink> sqlite_sink(const std::string& path, std::string& problem) {
    auto file = dissect::PendingFile::open(path);
    if (!file) {
        problem = fmt::format("cannot write {}: {}", path, file.error().message());
        return nullptr;
    }
    if (file->part().empty()) {
        problem = fmt::format("cannot write {}: a database needs a regular file", path);
        return nullptr;
    }
    static_cast<void>(file->take_descriptor());  // SQLite opens it by its name
    sqlite3* opened = nullptr;
    const int code =
        sqlite3_open_v2(file->part().c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix-none");
    Database database(opened);
    if (code != SQLITE_OK) {
        problem =
            fmt::format("cannot write {}: {}", path, opened == nullptr ? "out of memory" : sqlite3_errmsg(opened));
        return nullptr;
    }
    auto sink = std::make_unique<SqliteSink>(path, std::move(*file), std::move(database));
    if (sink->problem()) {
        problem = *sink->problem();
        return nullptr;
    }
    return sink;
}

}  // namespace qps::cli
