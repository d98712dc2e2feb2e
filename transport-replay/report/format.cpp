#include <transport-replay/report/format.hpp>

#include <fmt/format.h>

namespace qps::transport {

void append_cell(std::string& out, OutputFormat format, std::string_view text) {
    if (format == OutputFormat::csv) {
        if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
            out += text;
            return;
        }
        out += '"';
        for (const char c : text) {
            if (c == '"') out += '"';
            out += c;
        }
        out += '"';
        return;
    }
    for (const char c : text) {
        switch (c) {
            case '\t': out += "\\t"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\\': out += "\\\\"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
                else out += c;
        }
    }
}

}  // namespace qps::transport
