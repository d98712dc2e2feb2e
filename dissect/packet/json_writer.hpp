// JsonWriter: the one that writes JSON: names and values as they come, with the commas and line ends between them,
// appended to a text. Nothing is kept, so a document may be as long as it likes, and any text gives valid JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qps::dissect {

enum class JsonLayout : std::uint8_t {
    compact,   // {"a":1,"b":[2,3]}
    spaced,    // {"a": 1, "b": [2, 3]}
    lines,     // spaced, but members of the outermost object have a line each, and so have the elements of its lists
    indented,  // all have a line each
};

class JsonWriter {
public:
    explicit JsonWriter(std::string& out, JsonLayout layout = JsonLayout::compact) : out_(out), layout_(layout) {}

    // What is in an object has a name; what is in a list, or is the whole document, has none.
    void open(std::string_view name = {}) { begin(name, false); }
    void close() { end('}'); }
    void open_list(std::string_view name = {}) { begin(name, true); }
    void close_list() { end(']'); }
    void add(std::string_view name, std::string_view text);
    void add(std::string_view name, std::uint64_t number) { add_json(name, std::to_string(number)); }
    // What is JSON already.
    void add_json(std::string_view name, std::string_view json);

private:
    void begin(std::string_view name, bool list);
    void end(char bracket);
    void begin_element(std::string_view name);
    [[nodiscard]] bool in_list() const { return (lists_ & 1U) != 0; }
    [[nodiscard]] bool has_elements() const { return (begun_ & 1U) != 0; }
    [[nodiscard]] bool own_lines() const {
        return layout_ == JsonLayout::indented ||
               (layout_ == JsonLayout::lines && (depth_ == 1 || (depth_ == 2 && in_list())));
    }
    void new_line();

    std::string& out_;
    JsonLayout layout_;
    // Of what is open, the innermost at the lowest bit. How deep is decided by code, not by input: no document of ours
    // has ten levels.
    std::uint64_t lists_ = 0;
    std::uint64_t begun_ = 0;  // has elements
    std::size_t depth_ = 0;
};

}  // namespace qps::dissect
