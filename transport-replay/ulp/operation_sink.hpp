// Who is handed each operation of an upper protocol when it ended.
#pragma once

#include <transport-replay/model/ulp_operation.hpp>

#include <functional>

namespace qps::transport {

using OperationSink = std::function<void(const UlpOperation&)>;

}  // namespace qps::transport
