// The options of `anonymize`.
#pragma once

#include <transport-replay/evidence/anonymizer.hpp>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace qps::cli {

struct AnonymizeOptions {
    std::optional<transport::Pseudonyms::Key> key;  // nothing: drawn
    bool keep_vendor = false;                       // of MAC addresses
    transport::PayloadMode payload = transport::PayloadMode::zero;
    std::string map;              // file: who is who; empty: none
    dissect::Duration shift{};  // added to every time
};

void add_anonymize_options(CLI::App& app, AnonymizeOptions& options);

}  // namespace qps::cli
