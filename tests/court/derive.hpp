// Derived captures: what another engineer could have recorded of the same traffic. Each is worse than the whole, or at
// best as good.
#pragma once

#include <tests/court/recording.hpp>

#include <functional>
#include <string>

namespace qps::court {

struct Derivation {
    std::string name;
    std::function<Recording(const Recording&)> derive;
    // Findings above a note that such a capture may have although the whole has not, because they are true of it.
    std::vector<std::string> true_of_it{};
};

// Those of every run of the tests; `all`: every snap length, every start, every offset.
[[nodiscard]] std::vector<Derivation> derivations(bool all);

}  // namespace qps::court
