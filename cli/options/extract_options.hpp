// The options of `extract`: which packets a slice has.
#pragma once

#include <dissect/base/types.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace qps::cli {

struct ExtractOptions {
    std::vector<std::string> findings;        // ids, or places in the list of findings
    std::optional<dissect::Duration> around;  // of what proves them
    bool everything = false;                  // also packets of other connections, as close as that
};

void add_extract_options(CLI::App& app, ExtractOptions& options);

}  // namespace qps::cli
