#include <transport-replay/model/fact.hpp>

#include <algorithm>

namespace qps::transport {

const Fact* find_fact(const Facts& facts, std::string_view name) {
    const auto found = std::ranges::find_if(facts, [&](const Fact& fact) { return fact.row->name == name; });
    return found == facts.end() ? nullptr : &*found;
}

std::optional<double> number_of(const Facts& facts, std::string_view name) {
    const Fact* const fact = find_fact(facts, name);
    if (fact == nullptr) return {};
    if (const bool* flag = std::get_if<bool>(&fact->value)) return *flag ? 1 : 0;
    if (const std::uint64_t* count = std::get_if<std::uint64_t>(&fact->value)) return static_cast<double>(*count);
    if (const double* real = std::get_if<double>(&fact->value)) return *real;
    if (const auto* duration = std::get_if<dissect::Duration>(&fact->value))
        return static_cast<double>(std::to_underlying(*duration));
    return {};
}

}  // namespace qps::transport
