// The options of `analyze --part` and of `merge`: the parts of an analysis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace qps::cli {

struct Options;

// What is made of parts that were joined: what the command of that name prints of a capture, or a part again.
enum class MergedAs { analyze, findings, cm, fabric, check, part };

struct PartOptions {
    struct OneOf {
        std::uint32_t number = 1;  // from 1 on
        std::uint32_t parts = 1;
    };
    std::optional<OneOf> one;  // analyze: only this part
    std::string host;          // analyze: a part of this host's captures; empty: of no host in particular
    bool checks = false;       // analyze: with what merge --as check needs
    [[nodiscard]] bool any() const { return one || !host.empty(); }
    MergedAs as = MergedAs::analyze;
};

void add_part_option(CLI::App& app, PartOptions& options);
void add_merge_options(CLI::App& app, Options& options);

}  // namespace qps::cli
