// The options of `anonymize`.
#pragma once

#include <transport-replay/evidence/anonymizer.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace qps::cli {

struct AnonymizeOptions {
    std::optional<transport::Pseudonyms::Key> key;  // on the command line; without any, one is drawn
    std::string key_file;
    bool keep_vendor = false;  // of MAC addresses
    transport::PayloadMode payload = transport::PayloadMode::zero;
    std::string map;            // file: who is who; empty: none
    dissect::Duration shift{};  // added to every time
};

inline constexpr const char* kKeyVariable = "QPSCOPE_ANONYMIZE_KEY";

// "64 hexadecimal digits"; nothing where it is none.
[[nodiscard]] std::optional<transport::Pseudonyms::Key> read_anonymize_key(std::string_view text);

void add_anonymize_options(CLI::App& app, AnonymizeOptions& options);

}  // namespace qps::cli
