// Document: a report as nested names and values, in JSON or in rows.
#include <dissect/render_value.hpp>
#include <transport-replay/report/document.hpp>

namespace qps::transport {

// Of the outermost object each member has a line of its own, of the lists in it each element.
void Document::begin_element(std::string_view name) {
    if (levels_.empty()) return;
    Level& level = levels_.back();
    const bool own_line = format_ == OutputFormat::json && (levels_.size() == 1 || (levels_.size() == 2 && level.list));
    if (level.count++ > 0) out_ += own_line ? "," : ", ";
    if (own_line) {
        out_ += '\n';
        out_.append(2 * levels_.size(), ' ');
    }
    if (level.list) return;
    dissect::append_json_string(out_, name);
    out_ += ": ";
}

void Document::begin(std::string_view name, bool list) {
    const std::size_t outside = path_.size();
    if (rows()) {
        if (!levels_.empty()) {
            if (!path_.empty()) path_ += '.';
            path_ += levels_.back().list ? std::to_string(levels_.back().count++) : std::string(name);
        }
    } else {
        begin_element(name);
        out_ += list ? '[' : '{';
    }
    levels_.push_back({list, 0, outside});
}

void Document::end() {
    const Level level = levels_.back();
    levels_.pop_back();
    path_.resize(level.path_length);
    if (rows()) return;
    if (format_ == OutputFormat::json && level.count > 0 && (levels_.empty() || (levels_.size() == 1 && level.list))) {
        out_ += '\n';
        out_.append(2 * levels_.size(), ' ');
    }
    out_ += level.list ? ']' : '}';
}

void Document::open(std::string_view name) { begin(name, false); }
void Document::close() { end(); }
void Document::open_list(std::string_view name) { begin(name, true); }
void Document::close_list() { end(); }

void Document::add_row(std::string_view name, std::string_view value) {
    append_cell(out_, format_, path_.empty() ? std::string(name) : path_ + "." + std::string(name));
    out_ += separator(format_);
    append_cell(out_, format_, value);
    out_ += '\n';
}

void Document::add_bare(std::string_view name, std::string_view value) {
    if (rows()) return add_row(name, value);
    begin_element(name);
    out_ += value;
}

void Document::add_text(std::string_view name, std::string_view value) {
    if (rows()) return add_row(name, value);
    begin_element(name);
    dissect::append_json_string(out_, value);
}

void Document::add_nothing(std::string_view name) {
    if (!rows()) add_bare(name, "null");
}

void Document::add_texts(std::string_view name, std::span<const std::string> texts) {
    if (rows()) {
        for (std::size_t i = 0; i < texts.size(); ++i) add_row(std::string(name) + "." + std::to_string(i), texts[i]);
        return;
    }
    std::string list;
    for (const std::string& text : texts) {
        if (!list.empty()) list += ", ";
        dissect::append_json_string(list, text);
    }
    add_list_text(name, list);
}

void Document::add_list_text(std::string_view name, std::string_view list) {
    if (rows()) return add_row(name, list);
    begin_element(name);
    out_ += '[';
    out_ += list;
    out_ += ']';
}

}  // namespace qps::transport
