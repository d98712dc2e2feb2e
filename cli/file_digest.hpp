// The SHA-256 of a file as it is stored: what a ticket names a capture by.
#pragma once

#include <cli/options.hpp>

#include <future>
#include <string>

namespace qps::cli {

// Of the input file of that name, computed beside whatever reads it. Empty in the end: it is no regular file, it cannot be read to its end,
// or the user interrupts.
[[nodiscard]] std::future<std::string> sha256_of(const Options& options, const std::string& name);

}  // namespace qps::cli
