// Numbers that outputs show, by the fact that they are of: what two show of one fact is to be one number.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace qps::tests {

class ShownNumbers {
public:
    void show(std::string_view output, const std::string& fact, std::int64_t number) {
        shown_[fact].emplace_back(output, number);
    }
    template <class Number> void show(std::string_view output, const std::string& fact, Number number) {
        show(output, fact, static_cast<std::int64_t>(number));
    }
    // Added up over several calls.
    template <class Number> void add(std::string_view output, const std::string& fact, Number number) {
        auto& all = shown_[fact];
        const auto found = std::ranges::find(all, output, &Shown::first);
        if (found == all.end()) all.emplace_back(output, static_cast<std::int64_t>(number));
        else found->second += static_cast<std::int64_t>(number);
    }
    [[nodiscard]] std::size_t facts() const { return shown_.size(); }
    // How many facts several outputs show; and those that they show differently.
    std::size_t compare(std::string& differences) const {
        std::size_t compared = 0;
        for (const auto& [fact, all] : shown_) {
            if (all.size() < 2) continue;
            ++compared;
            if (std::ranges::adjacent_find(all, std::not_equal_to{}, &Shown::second) == all.end()) continue;
            differences += fact + ":";
            for (const auto& [output, number] : all) differences += fmt::format(" {} {}", output, number);
            differences += ";\n";
        }
        return compared;
    }

private:
    using Shown = std::pair<std::string, std::int64_t>;
    std::map<std::string, std::vector<Shown>> shown_;
};

[[nodiscard]] inline std::string of_connection(transport::ConnectionId connection, std::string_view fact) {
    return fmt::format("connection {} {}", std::to_underlying(connection), fact);
}
[[nodiscard]] inline std::string of_way(transport::ConnectionId connection, transport::End end, std::string_view fact) {
    return fmt::format("connection {} {} {}", std::to_underlying(connection), end == transport::End::a ? "a" : "b",
                       fact);
}
[[nodiscard]] inline std::string of_totals(std::string_view fact) { return fmt::format("totals {}", fact); }

}  // namespace qps::tests
