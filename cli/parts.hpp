// Parts of an analysis as files: what `analyze --part` writes.
#pragma once

#include <cli/exit_code.hpp>
#include <cli/options/reading_options.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace qps::cli {

struct PartOptions {
    struct OneOf {
        std::uint32_t number = 1;  // from 1 on
        std::uint32_t parts = 1;
    };
    std::optional<OneOf> one;  // only this part
    std::string host;          // a part of this host's captures; empty: of no host in particular
    bool checks = false;       // with what merge --as check needs

    void add(OptionTable& table);
    [[nodiscard]] bool any() const { return one || !host.empty(); }
};

[[nodiscard]] ExitCode write_part_of(const ListingOptions& options, const PartOptions& asked);

}  // namespace qps::cli
