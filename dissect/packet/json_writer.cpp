#include <dissect/packet/json_writer.hpp>
#include <dissect/packet/render_value.hpp>

namespace qps::dissect {

void JsonWriter::new_line() {
    out_ += '\n';
    out_.append(2 * depth_, ' ');
}

void JsonWriter::begin_element(std::string_view name) {
    if (depth_ == 0) return;
    const bool close_by = layout_ == JsonLayout::compact || own_lines();
    if (has_elements()) out_ += close_by ? "," : ", ";
    begun_ |= 1U;
    if (own_lines()) new_line();
    if (in_list()) return;
    append_json_string(out_, name);
    out_ += layout_ == JsonLayout::compact ? ":" : ": ";
}

void JsonWriter::begin(std::string_view name, bool list) {
    begin_element(name);
    out_ += list ? '[' : '{';
    lists_ = lists_ << 1U | (list ? 1U : 0U);
    begun_ <<= 1U;
    ++depth_;
}

void JsonWriter::end(char bracket) {
    const bool own_line = has_elements() && own_lines();
    lists_ >>= 1U;
    begun_ >>= 1U;
    --depth_;
    if (own_line) new_line();
    out_ += bracket;
}

void JsonWriter::add(std::string_view name, std::string_view text) {
    begin_element(name);
    append_json_string(out_, text);
}

void JsonWriter::add_json(std::string_view name, std::string_view json) {
    begin_element(name);
    out_ += json;
}

}  // namespace qps::dissect
