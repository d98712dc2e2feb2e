// A report of a capture as one HTML file that stands alone: nothing is fetched, and nothing has to run to read it. For
// those who must be convinced: the headline, throughput and latency over time, findings with advice and the packets
// that prove them (one panel for all that has one cause), what the capture can tell and where the report is from,
// connections, operations of upper protocols.
//
// What an attacker could feed: any text of a capture; all of it is escaped. Every list has a bound and says what is
// past it, so that a page stays below 2 MB.
#pragma once

#include <dissect/base/types.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::page {

class Collector;

inline constexpr std::size_t kMostFiles = 100;  // that a page names

struct InputFile {
    std::string name;                    // as the reader shall see it
    std::optional<std::uint64_t> bytes;  // nothing where it was no file
    std::string sha256;                  // of the file as it is stored, in hexadecimal; empty where it is unknown
};

struct Origin {
    std::vector<InputFile> files;
    std::string_view version;  // of the program
    std::string command;       // that made it; empty where there was none
    std::optional<dissect::Instant> made;
};

// `write` gets the page in pieces.
void write_page(const Collector& collected, const Origin& origin, const std::function<void(std::string_view)>& write);

}  // namespace qps::transport::page
