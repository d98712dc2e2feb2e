#include <transport-replay/report/table.hpp>

namespace qps::transport {

std::string plain_text(const Cell& cell) {
    struct Text {
        std::string operator()(std::monostate) const { return {}; }
        std::string operator()(bool value) const { return value ? "1" : "0"; }
        std::string operator()(std::int64_t value) const { return std::to_string(value); }
        std::string operator()(std::uint64_t value) const { return std::to_string(value); }
        std::string operator()(const std::string& value) const { return value; }
    };
    return std::visit(Text{}, cell);
}

}  // namespace qps::transport
