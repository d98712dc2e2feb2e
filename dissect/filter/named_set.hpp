// NamedSet: packets that only who has read the whole capture can tell, by name in a filter: `rdma.message == 17`,
// `rdma.finding == go-back-n-loss`. They compile to a test on the numbers of their frames.
#pragma once

#include <dissect/base/types.hpp>

#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::dissect {

struct NamedSet {
    std::string name;
    std::optional<std::string> value{};  // what it is compared with
};

// Names that stand for sets, and the packets of each. A name that fields have too is a set where == or != follows it.
struct SetReader {
    std::span<const std::string_view> names{};
    // In any order. Errors: what is wrong with the set.
    std::function<std::expected<std::vector<FrameIndex>, std::string>(const NamedSet&)> frames{};
};

}  // namespace qps::dissect
