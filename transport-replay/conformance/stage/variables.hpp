// The variables of a run: numbers, and bytes where a value is longer (GIDs).
//
// Names come from the script alone, which sets no more than script::kMaxNames; an agent's answer adds what its line
// holds.
#pragma once

#include <dissect/base/bytes.hpp>
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
    // The same for a field of so many bytes: a number is as good where it has room, in the order of the wire.
    [[nodiscard]] std::optional<std::vector<std::byte>> bytes(std::string_view name, std::size_t width) const {
        if (const auto known = bytes(name)) return std::vector<std::byte>(known->begin(), known->end());
        const auto value = number(name);
        if (!value || width == 0 || width > sizeof *value || (width < sizeof *value && *value >> (8 * width) != 0))
            return std::nullopt;
        std::vector<std::byte> made(width);
        dissect::write_bits(made, 0, 8 * width, *value);
        return made;
    }
    [[nodiscard]] std::expected<std::uint64_t, std::string> value_of(const script::Expression& expression) const {
        return script::evaluate(expression, [this](std::string_view name) { return number(name); });
    }

private:
    boost::unordered_flat_map<std::string, std::uint64_t> numbers_;
    boost::unordered_flat_map<std::string, std::vector<std::byte>> bytes_;
};

}  // namespace qps::transport::conformance::stage
