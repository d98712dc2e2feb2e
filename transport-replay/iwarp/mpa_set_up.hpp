// The frames that set MPA up (RFC 5044 7.1; RFC 6581): the first bytes of each way of a TCP connection.
#pragma once

#include <dissect/base/bytes.hpp>
#include <transport-replay/model/iwarp_report.hpp>

#include <optional>

namespace qps::transport {

struct SetUpFrame {
    bool reply = false;
    MpaSetUp said{};                // without its frame and time
    std::size_t length = 0;         // on the wire, private data included
    dissect::Bytes private_data{};  // of the consumer, as far as captured
};

// Whether a segment begins with such a frame, as far as its first eight bytes tell: cheap, for every TCP segment.
[[nodiscard]] inline bool may_be_set_up(dissect::Bytes segment) {
    constexpr std::uint64_t kKey = 0x4d50412049442052;  // "MPA ID R"
    return dissect::read_be<std::uint64_t>(segment, 0) == kKey;
}
[[nodiscard]] std::optional<SetUpFrame> set_up_frame(dissect::Bytes segment);

}  // namespace qps::transport
