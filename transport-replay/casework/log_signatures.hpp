// The table of lines that producers of logs write when something happens: which kind of event, which words find the
// line, which pattern reads it. Named groups of a pattern fill the event:
//   host, dev, port, q (QPN), qx (the same in hexadecimal), rq and rqx (the peer's), peer, st (status), vd and vx
//   (vendor syndrome, decimal and hexadecimal), op, text, n (a number of the kind), proc
#pragma once

#include <transport-replay/casework/evidence.hpp>

#include <span>
#include <string_view>

namespace qps::casework {

struct Signature {
    EventKind kind;
    std::string_view producer;  // of the log: "NCCL log"; empty: the one of the line's prefix
    std::string_view words;     // lines without them are not looked at
    std::string_view pattern;   // RE2, searched in the line
    std::uint32_t status = 0;   // where the words say it
    std::string_view text = {};
    std::uint8_t notice = 0;  // row of notices(), from 1; 0: none
};

// Those of events, then those of notices.
[[nodiscard]] std::span<const Signature> signatures();

}  // namespace qps::casework
