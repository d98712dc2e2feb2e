#include <cli/options/option_table.hpp>
#include <dissect/capture/saved_capture.hpp>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace qps::cli {

namespace {

// Devices and pipes have nothing to lose.
bool may_be_lost(const std::string& path) {
    std::error_code error;
    return path != "-" && (!std::filesystem::exists(path, error) || std::filesystem::is_regular_file(path, error));
}

bool is_read(PathUse use, bool captures) {
    return use == PathUse::read || use == PathUse::held || (captures && use == PathUse::capture);
}

}  // namespace

std::string OptionRow::typed_name() const {
    const std::string_view first = std::string_view(names).substr(0, names.find(','));
    return std::string(first.starts_with("--") || !first.starts_with('-') ? "--" : "-") +
           std::string(first.substr(std::min(first.find_first_not_of("-!"), first.size())));
}

std::string_view OptionRow::long_name() const {
    const std::string_view last = std::string_view(names).substr(names.rfind(',') + 1);
    return last.substr(std::min(last.find_first_not_of("-!"), last.size()));
}

OptionRow& OptionTable::put(std::string names, std::string type, OptionTarget target, std::string meaning) {
    OptionRow& row = rows_.emplace_back();
    row.names = std::move(names);
    row.type = std::move(type);
    row.target = std::move(target);
    row.meaning = std::move(meaning);
    row.heading = heading_;
    return row;
}

std::string lost_file(const OptionTable& table, bool on_a_wire) {
    std::vector<std::string> read;
    std::vector<std::pair<std::string, std::string>> written;  // path, option
    for (const OptionRow& row : table.rows()) {
        if (is_read(row.path, on_a_wire)) read.insert(read.end(), row.typed.begin(), row.typed.end());
        if (row.path == PathUse::written)
            for (const std::string& path : row.typed) written.emplace_back(path, row.typed_name());
    }
    std::ranges::sort(written, std::greater(),
                      [](const auto& each) { return std::string_view(each.second); });  // -o before --map
    for (const auto& [path, name] : written) {
        if (dissect::is_one_of(path, read))
            return fmt::format("{} is also an input and would be overwritten: name another file with {}", path, name);
        for (const auto& [other_path, other_name] : written) {
            if (&other_name == &name) break;
            if (may_be_lost(path) && dissect::same_output(other_path, path))
                return fmt::format("{} and {} both name {}: name another file with one of them", other_name, name,
                                   path);
        }
    }
    return {};
}

}  // namespace qps::cli
