// The table of rules: each looks at a case for what it needs, and adds what follows to a verdict. The heaviest claim
// decides; judge() orders them, and says what stays open where none does.
#pragma once

#include <transport-replay/casework/counter_changes.hpp>
#include <transport-replay/casework/verdict.hpp>

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace qps::casework {

// What rules see: the case, and what was derived of it.
struct Facts {
    const Case& read;
    std::vector<CounterChange> changes;
    std::map<std::string, std::vector<const CounterChange*>> of_host;  // these, by their hosts
};

struct Rule {
    std::string_view id;
    std::string_view needs;
    std::string_view concludes;
    void (*apply)(const Facts& facts, Verdict& verdict);
};

[[nodiscard]] std::span<const Rule> rules();
[[nodiscard]] Verdict judge(const Case& read);

}  // namespace qps::casework
