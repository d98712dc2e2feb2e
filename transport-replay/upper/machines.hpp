// The machine of any upper protocol, as one value.
#pragma once

#include <transport-replay/upper/talk.hpp>

#include <variant>

namespace qps::transport {

using UpperMachine = std::variant<std::monostate>;

}  // namespace qps::transport
