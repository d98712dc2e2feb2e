// Facts as people read them: by their unit, in the style that a template of a sentence asks for (findings/sentence.hpp
// has the styles).
#pragma once

#include <transport-replay/model/fact.hpp>

#include <string>
#include <string_view>

namespace qps::transport {

// "longest stall": its name in words.
[[nodiscard]] std::string fact_label(const FactRow& row);
[[nodiscard]] std::string fact_text(const Fact& fact, std::string_view style = {});

}  // namespace qps::transport
