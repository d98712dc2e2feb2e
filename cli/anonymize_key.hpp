// Finds the key by which pseudonyms are chosen: it is on the command line, in a file or in the environment, or is
// drawn.
#pragma once

#include <transport-replay/evidence/pseudonyms.hpp>

#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace qps::cli {

// Of 64 hexadecimal digits; nothing where the text is none.
[[nodiscard]] std::optional<transport::Pseudonyms::Key> read_anonymize_key(std::string_view text);
// The one given, that of the file, or of QPSCOPE_ANONYMIZE_KEY, in this order; nothing: it is to be drawn. A sentence
// where it is no key.
[[nodiscard]] std::expected<std::optional<transport::Pseudonyms::Key>, std::string> chosen_key(
    const std::optional<transport::Pseudonyms::Key>& given, const std::string& file);
[[nodiscard]] transport::Pseudonyms::Key drawn_key();

}  // namespace qps::cli
