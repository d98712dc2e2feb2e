// The variables of a run: numbers, and bytes where a value is longer (GIDs).
//
// Names come from the script alone, which sets no more than script::kMaxNames; an agent's answer adds what its line holds.
#pragma once

#include <dissect/bytes.hpp>
#include <transport-replay/conformance/script/expression.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport::conformance::stage {

class Variables {
public:
    void set(const std::string& name, std::uint64_t value) { numbers_[name] = value; }
    void set_bytes(const std::string& name, dissect::Bytes bytes) { bytes_[name] = {bytes.begin(), bytes.end()}; }
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name) const {
        const auto found = numbers_.find(std::string(name));
        return found == numbers_.end() ? std::nullopt : std::optional(found->second);
    }
    [[nodiscard]] std::optional<dissect::Bytes> bytes(std::string_view name) const {
        const auto found = bytes_.find(std::string(name));
        return found == bytes_.end() ? std::nullopt : std::optional<dissect::Bytes>(found->second);
    }
    [[nodiscard]] std::expected<std::uint64_t, std::string> value_of(const script::Expression& expression) const {
        return script::evaluate(expression, [this](std::string_view name) { return number(name); });
    }

private:
    boost::unordered_flat_map<std::string, std::uint64_t> numbers_;
    boost::unordered_flat_map<std::string, std::vector<std::byte>> bytes_;
};

}  // namespace qps::transport::conformance::stage
