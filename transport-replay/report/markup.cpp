#include <transport-replay/report/markup.hpp>

namespace qps::transport {

std::string markup_text(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        switch (letter) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            case '\n':
            case '\t': out += letter; break;
            default: out += letter >= ' ' && letter <= '~' ? letter : '?';
        }
    }
    return out;
}

}  // namespace qps::transport
