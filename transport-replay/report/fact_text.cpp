#include <dissect/packet/render_value.hpp>
#include <transport-replay/report/fact_text.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

namespace {

std::string joined(const std::vector<std::string>& texts, std::string_view between, std::string_view last) {
    std::string out;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i > 0) out += i + 1 == texts.size() ? last : between;
        out += texts[i];
    }
    return out;
}

}  // namespace

std::string fact_label(const FactRow& row) {
    std::string label(row.name);
    std::ranges::replace(label, '_', ' ');
    return label;
}

std::string fact_text(const Fact& fact, std::string_view style) {
    struct Writer {
        const FactRow& row;
        std::string_view style;
        std::string operator()(std::monostate) const { return {}; }
        std::string operator()(bool value) const { return value ? "yes" : "no"; }
        std::string operator()(std::uint64_t value) const {
            if (style == "times") return words::times(value);
            if (style == "length") return words::length(value);
            if (style == "hex") return fmt::format("0x{:x}", value);
            if (style == "key") return fmt::format("0x{:08x}", value);
            if (style == "hex4") return fmt::format("0x{:04x}", value);
            if (style == "plain" || row.unit == Unit::number || row.unit == Unit::psn) return std::to_string(value);
            if (row.unit == Unit::bytes && style.empty()) return bytes_text(value);
            return style.empty() ? grouped(value) : counted(value, style);
        }
        std::string operator()(double value) const {
            constexpr double kPercent = 100, kGiga = 1e9;
            if (style == "Gbit/s") return fmt::format("{:.3g} {}", value / kGiga, style);
            if (row.unit == Unit::number) return fmt::format("{:.1f}", value);
            return row.unit == Unit::bits_per_second ? rate_text(value) : fmt::format("{:.3g} %", kPercent * value);
        }
        std::string operator()(dissect::Duration value) const { return duration_text(value); }
        std::string operator()(const Endpoint& value) const {
            return style == "host" ? words::host(value) : words::who(value);
        }
        std::string operator()(const Address& value) const { return text(value); }
        std::string operator()(const std::string& value) const {
            return row.unit == Unit::text ? dissect::printable(value) : value;
        }
        std::string operator()(const std::vector<std::string>& value) const {
            if (style == "clauses") return joined(value, "; ", "; ");
            if (style.empty() || style == "each") return joined(value, ", ", style.empty() ? " and " : ", ");
            if (value.empty()) return fmt::format("no {}", style);
            return fmt::format("{} {}", value.size() == 1 ? std::string(style) : plural(style),
                               joined(value, ", ", " and "));
        }
    };
    return std::visit(Writer{*fact.row, style}, fact.value);
}

}  // namespace qps::transport
