// A report of a capture as one HTML file that stands alone: nothing is fetched, and nothing has to run to read it. For those who must be
// convinced: the headline, what the capture can tell, findings with advice and the packets that prove them, throughput, latency and
// PSNs over time, connections, operations of upper protocols.
//
// What an attacker could feed: any text of a capture; all of it is escaped. Every list has a bound and says what is past it, so that a
// page stays below 2 MB.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::page {

class Collector;

struct Origin {
    std::vector<std::string> files;  // their names, as the reader shall see them
    std::string_view version;        // of the program
};

// `write` gets the page in pieces.
void write_page(const Collector& collected, const Origin& origin, const std::function<void(std::string_view)>& write);

}  // namespace qps::transport::page
