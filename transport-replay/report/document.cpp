// Document: a report as nested names and values, in JSON or in rows.
#include <dissect/packet/render_value.hpp>
#include <transport-replay/report/document.hpp>

namespace qps::transport {

void Document::begin(std::string_view name, bool list) {
    if (!rows()) return list ? json_.open_list(name) : json_.open(name);
    const std::size_t outside = path_.size();
    if (!levels_.empty()) {
        if (!path_.empty()) path_ += '.';
        path_ += levels_.back().list ? std::to_string(levels_.back().count++) : std::string(name);
    }
    levels_.push_back({list, 0, outside});
}

void Document::end(bool list) {
    if (!rows()) return list ? json_.close_list() : json_.close();
    path_.resize(levels_.back().path_length);
    levels_.pop_back();
}

void Document::add_row(std::string_view name, std::string_view value) {
    append_cell(out_, format_, path_.empty() ? std::string(name) : path_ + "." + std::string(name));
    out_ += separator(format_);
    append_cell(out_, format_, value);
    out_ += '\n';
}

void Document::add_bare(std::string_view name, std::string_view value) {
    rows() ? add_row(name, value) : json_.add_json(name, value);
}
void Document::add_text(std::string_view name, std::string_view value) {
    rows() ? add_row(name, value) : json_.add(name, value);
}
void Document::add_nothing(std::string_view name) {
    if (!rows()) json_.add_json(name, "null");
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
    if (rows()) add_row(name, list);
    else json_.add_json(name, "[" + std::string(list) + "]");
}

}  // namespace qps::transport
