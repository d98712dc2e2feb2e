#include "message.hpp"

#include <dissect/render_value.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

namespace qps::cli {

void say_text(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        dissect::append_printable(shown, text.substr(0, end));
        if (end == text.size()) break;
        shown += '\n';
        text.remove_prefix(end + 1);
    }
    std::fwrite(shown.data(), 1, shown.size(), stderr);
}

}  // namespace qps::cli
