// Words of findings about upper protocols: who the two sides are, and what the protocol itself said, made fit for a sentence.
#pragma once

#include <transport-replay/timeline.hpp>

#include <string>
#include <string_view>

namespace qps::transport {

// The side that asked for the connection, and the side that answers; their addresses.
struct Sides {
    std::string active;
    std::string passive;
};
[[nodiscard]] Sides sides_of(const Timeline& timeline, const UpperConversation& conversation);
[[nodiscard]] Sides sides_of(const Timeline& timeline, const UpperEvent& event);

// "NVMe over RDMA"
[[nodiscard]] std::string_view protocol_name(UpperProtocol protocol);

// Words of a protocol inside a sentence: printable, one space between them, no full stop that would end it.
[[nodiscard]] std::string clean(std::string_view words);

}  // namespace qps::transport
