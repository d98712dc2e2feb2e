// What a user may ask of `operations`.
#pragma once

#include <transport-replay/model/ulp_operation.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace qps::cli {

struct OperationOptions {
    bool list = false;                              // a row each instead of sums
    std::vector<transport::UlpProtocol> protocols;  // only these; none: all
    std::vector<std::string> names;                 // only operations called so, whatever the case; none: all
    bool only_bad = false;                          // failed, or never answered
    std::optional<dissect::Duration> slower_than;

    [[nodiscard]] bool wants(const transport::UlpOperation& operation) const;
};

void add_operation_options(CLI::App& app, OperationOptions& options);

}  // namespace qps::cli
