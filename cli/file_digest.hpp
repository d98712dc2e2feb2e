// The SHA-256 of a file as it is stored: what a ticket names a capture by.
#pragma once

#include <cli/options/input_options.hpp>

#include <future>
#include <string>

namespace qps::cli {

// The SHA-256 of the input file `name`, computed by a thread beside whatever reads it. It is empty in the end where
// that is no regular file, cannot be read to its end, or the user interrupts.
[[nodiscard]] std::future<std::string> sha256_of(const InputOptions& options, const std::string& name);

}  // namespace qps::cli
