// The interfaces that libpcap knows, as NDJSON. The first line tells of the right to capture, every other one of an
// interface:
//
//   {"type":"rights","may_capture":false,"remedy":"sudo setcap ..."}
//   {"type":"interface","name":"eth0","description":"","up":true,"loopback":false,"addresses":["10.0.0.1"],"link":1}
//
// link is the LINKTYPE number of its packets; it is absent where only opening the interface would tell.
#pragma once

#include <expected>
#include <string>

namespace qps::recorder {

// `may_capture` is what the program might before it gave up its privileges. The error is a sentence.
[[nodiscard]] std::expected<std::string, std::string> interface_list(bool may_capture);

}  // namespace qps::recorder
